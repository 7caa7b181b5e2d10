"""What people type, and what is made of it."""

from datetime import time, timedelta

import pytest

from bot.domain.commands import VERBS, Command, parse_command
from bot.domain.commands.asking import StatusCommand
from bot.domain.commands.pausing import PauseCommand, UnpauseCommand
from bot.domain.commands.people import MeCommand
from bot.domain.commands.subscribing import (
    BoardCommand,
    DefaultCommand,
    SampleCommand,
    SubscribeCommand,
    SubscriptionsCommand,
    UnsubscribeCommand,
)
from bot.domain.commands.verbs import HelpCommand
from bot.domain.durations import For, Until
from bot.domain.errors import CommandSyntaxError, RepositoryNotAllowed
from bot.domain.groups import Repositories
from bot.domain.notices import DIRECT, Notice
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import Topic
from bot.domain.wishes import Wish
from tests.support.make import API, SITE

ONE = Repositories((SITE,))
TWO = Repositories((SITE, API))
OF_AUTHORS = frozenset({Notice.FAILURE, Notice.MERGE})
OF_BOTH = frozenset({Notice.MENTION, Notice.REMINDER})
OTHER_OWNER = Repositories((SITE, RepositoryName("umbrella/site"), API))


@pytest.mark.parametrize(
    ("typed", "command"),
    [
        ("", StatusCommand()),
        ("   ", StatusCommand()),
        ("status", StatusCommand()),
        ("STATUS acme/site", StatusCommand(SITE)),
        ("status branch:main", StatusCommand(None, "main")),
        ("status site Branch:release/1.2", StatusCommand(SITE, "release/1.2")),
        ("status acme/site branch:a branch:b", StatusCommand(SITE, "b")),
        ("pause", PauseCommand()),
        ("pause acme/site", PauseCommand(SITE)),
        ("pause CI runners are down", PauseCommand(None, "CI runners are down")),
        ("pause acme/site database migration", PauseCommand(SITE, "database migration")),
        ("Pause API slow", PauseCommand(API, "slow")),
        ("unpause", UnpauseCommand()),
        ("resume acme/api", UnpauseCommand(API)),
        ("subscribe", SubscribeCommand()),
        ("subscribe merge, failure", SubscribeCommand(None, Wish(frozenset({"merge", "failure"})))),
        (
            "subscribe acme/site ALL",
            SubscribeCommand(SITE, Wish(frozenset(one.value for one in Topic))),
        ),
        (
            "subscribe site action.queue.change",
            SubscribeCommand(SITE, Wish(frozenset({"action.queue.change"}))),
        ),
        (
            "subscribe action.anyhost_actions",
            SubscribeCommand(None, Wish(frozenset({"action.anyhost_actions"}))),
        ),
        ("unsubscribe", UnsubscribeCommand()),
        ("unsubscribe acme/site enter", UnsubscribeCommand(SITE, Wish(frozenset({"enter"})))),
        ("subscriptions", SubscriptionsCommand()),
        ("subscriptions test", SampleCommand()),
        ("subscriptions test acme/site branch:main", SampleCommand(SITE, "main")),
        ("board", BoardCommand()),
        ("board acme/site", BoardCommand(SITE)),
        ("board OFF", BoardCommand(is_off=True)),
        ("board off acme/site", BoardCommand(SITE, is_off=True)),
        ("board acme/site off", BoardCommand(SITE, is_off=True)),
        ("default", DefaultCommand(None)),
        ("default acme/site", DefaultCommand(SITE)),
        ("default OFF", DefaultCommand(None, is_off=True)),
        ("help", HelpCommand()),
        ("help PAUSE", HelpCommand("pause")),
        ("help resume", HelpCommand("unpause")),
        ("me", MeCommand()),
        ("me mentions off", MeCommand(frozenset({Notice.MENTION}))),
        ("ME ON Mention reminder", MeCommand(OF_BOTH, is_on=True)),
        ("me dms off", MeCommand(DIRECT)),
        ("me failures merge on", MeCommand(OF_AUTHORS, is_on=True)),
        ("me all on", MeCommand(frozenset(Notice), is_on=True)),
    ],
)
def test_typed_text_becomes_a_command(typed: str, command: Command) -> None:
    assert parse_command(typed, TWO) == command


def test_a_reason_keeps_the_persons_own_spaces() -> None:
    command = parse_command("  pause   acme/site   CI   is  down \n tonight  ", TWO)

    assert command == PauseCommand(SITE, "CI   is  down \n tonight")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("stats branch:x acme/api", "stats acme/api branch:x"),
        ("stats branch:x since:2d api", "stats acme/api branch:x since:2d"),
        ("status branch:main acme/api", "status acme/api branch:main"),
        ("log since:2h acme/api pr:41", "log acme/api pr:41 since:2h"),
        ("branches since:2d acme/api", "branches acme/api since:2d"),
        ("audit since:2d acme/api", "audit acme/api since:2d"),
        ("why 41 acme/api", "why acme/api 41"),
        ("subscriptions acme/api test", "subscriptions test acme/api"),
        ("subscriptions branch:x test api", "subscriptions test acme/api branch:x"),
        ("subscribe merge acme/api branch:x", "subscribe acme/api merge branch:x"),
        (
            "subscribe digest:09:00 Europe/Paris acme/api",
            "subscribe acme/api digest:09:00 Europe/Paris",
        ),
        ("unsubscribe merge api", "unsubscribe acme/api merge"),
        ("subscribe failure @all", "subscribe @all failure"),
        ("board off acme/api", "board acme/api off"),
        ("pause 45m acme/api slow", "pause acme/api 45m slow"),
    ],
)
def test_options_and_names_come_in_any_order(one: str, other: str) -> None:
    assert parse_command(one, TWO) == parse_command(other, TWO)


@pytest.mark.parametrize("typed", ["stats branch:x acme/other", "subscriptions test a/b"])
def test_a_repository_that_is_not_configured_is_refused_wherever_it_stands(typed: str) -> None:
    with pytest.raises(RepositoryNotAllowed):
        parse_command(typed, TWO)


def test_a_topic_behind_the_repository_is_a_topic_though_a_repository_is_called_so() -> None:
    merge = RepositoryName("acme/merge")
    known = Repositories((SITE, merge))
    wish = Wish(frozenset({"merge"}))
    assert parse_command("subscribe failure merge acme/site", known) == SubscribeCommand(
        SITE, Wish(frozenset({"failure", "merge"}))
    )
    assert parse_command("subscribe acme/site merge", known) == SubscribeCommand(SITE, wish)
    assert parse_command("subscribe merge", known) == SubscribeCommand(merge)


@pytest.mark.parametrize(
    ("typed", "doubtful", "before"),
    [
        ("45", For(timedelta(minutes=45)), None),
        ("CI down 45m", For(timedelta(minutes=45)), "CI down"),
        ("CI down for 2 hours", For(timedelta(hours=2)), "CI down"),
        ("CI  down until 15:00", Until(time(15)), "CI down"),
        ("45 tests fail", None, None),
        ("release 45", None, None),
        ("0", None, None),
        ("99999999", None, None),
        ("down since 2 hours ago", None, None),
        ("step 5m of 10", None, None),
    ],
)
def test_a_reason_that_may_be_an_end_is_in_doubt(
    typed: str, doubtful: For | Until | None, before: str | None
) -> None:
    for name, repository in (("", None), ("acme/site ", SITE)):
        command = parse_command(f"pause {name}{typed}", TWO)
        assert command == PauseCommand(repository, typed, None, doubtful, before)


def test_a_duration_in_front_leaves_no_doubt() -> None:
    lasting = For(timedelta(minutes=45))
    assert parse_command("pause 45m takes 2h", TWO) == PauseCommand(None, "takes 2h", lasting)


@pytest.mark.parametrize("reason", ["the CI/CD runners are down", "(CI/CD) is down", "and/or/not"])
def test_a_slash_inside_a_reason_is_no_repository(reason: str) -> None:
    assert parse_command(f"pause {reason}", TWO) == PauseCommand(None, reason)
    assert parse_command(f"pause site {reason}", TWO) == PauseCommand(SITE, reason)


@pytest.mark.parametrize("typed", ["pause CI/CD is down", "unpause acme/other", "status a/b"])
def test_a_first_word_like_a_repository_is_refused_when_unknown(typed: str) -> None:
    """Taken for a reason it would pause the wrong queue."""
    with pytest.raises(RepositoryNotAllowed) as refused:
        parse_command(typed, TWO)

    assert refused.value.repository == typed.split()[1]
    assert refused.value.configured == (SITE, API)


def test_a_bare_name_is_a_repository_only_when_one_owner_is_configured() -> None:
    assert parse_command("pause site down", TWO) == PauseCommand(SITE, "down")
    assert parse_command("pause site down", OTHER_OWNER) == PauseCommand(None, "site down")
    assert parse_command("pause api down", OTHER_OWNER) == PauseCommand(None, "api down")


def test_repositories_are_found_whatever_their_case() -> None:
    assert parse_command("status ACME/Site", ONE) == StatusCommand(SITE)
    assert ONE.find("SITE") == SITE


@pytest.mark.parametrize(
    ("typed", "nearest"),
    [
        ("pasue", "pause"),
        ("unpuase", "unpause"),
        ("statu", "status"),
        ("statz", "stats"),
        ("SUBSCRIB acme/site", "subscribe"),
        ("resum", "resume"),
        ("./pause", "pause"),
        ("help unsubscribee", "unsubscribe"),
    ],
)
def test_a_near_miss_is_offered_the_nearest_verb(typed: str, nearest: str) -> None:
    with pytest.raises(CommandSyntaxError) as refused:
        parse_command(typed, TWO)

    assert refused.value.nearest == nearest
    assert nearest in refused.value.usage or nearest == "resume"


@pytest.mark.parametrize("typed", ["xyzzy", "acme/site", "<@U0ALICE>", "🚀🚀", "-h"])
def test_nonsense_is_shown_all_verbs(typed: str) -> None:
    with pytest.raises(CommandSyntaxError) as refused:
        parse_command(typed, TWO)

    assert typed in refused.value.problem
    assert refused.value.nearest is None
    for verb in VERBS:
        assert verb.name in refused.value.problem
    assert refused.value.usage == "help [verb]"


def test_the_commands_are_named_however_long_the_nonsense_is() -> None:
    with pytest.raises(CommandSyntaxError) as refused:
        parse_command("x" * 3000, TWO)

    assert len(refused.value.problem) < 300


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("status branch:", "needs a branch name"),
        ("status acme/site branch", "“branch”"),
        ("status branch:" + "b" * 256, "at most 255"),
        ("status acme/site acme/api", "“acme/api”"),
        ("status since:2h", "“since:2h”"),
        ("unpause please", "repository “please”"),
        ("unpause acme/site now", "takes no reason: leave “now” out"),
        ("subscribe acme/site merges", "no topic “merges”"),
        ("unsubscribe nothing", "no topic “nothing”"),
        ("subscribe action.of_tomorrow", "action.of_tomorrow"),
        ("subscriptions acme/site", "“acme/site”"),
        ("help us", "no command “us”"),
    ],
)
def test_a_malformed_command_says_what_is_wrong_and_how_it_is_written(
    typed: str, said: str
) -> None:
    with pytest.raises(CommandSyntaxError) as refused:
        parse_command(typed, TWO)

    assert said in refused.value.problem
    assert refused.value.usage


def test_every_verb_is_parsed_by_each_of_its_names() -> None:
    for verb in VERBS:
        for word in (verb.name, *verb.aliases):
            typed = verb.examples[0].removeprefix(verb.name)
            parsed = parse_command(word + typed, Repositories((SITE,)))
            assert parsed == parse_command(verb.name.upper() + typed, Repositories((SITE,)))


def test_every_example_of_the_help_is_a_command() -> None:
    known = Repositories((SITE,))
    for verb in VERBS:
        for example in verb.examples:
            assert example.split()[0] == verb.name
            parse_command(example, known)
