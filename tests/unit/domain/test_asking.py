"""What people type to ask about a queue."""

from datetime import timedelta

import pytest

from bot.domain.commands import Command, parse_command
from bot.domain.commands.asking import (
    BranchesCommand,
    LogCommand,
    RulesCommand,
    StatsCommand,
    WhyCommand,
)
from bot.domain.errors import CommandSyntaxError, RepositoryNotAllowed
from bot.domain.event_log import LONGEST_LOOKBACK
from bot.domain.groups import Repositories
from tests.support.make import API, SITE

TWO = Repositories((SITE, API))
LEAVE = "action.queue.leave"
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.mark.parametrize(
    ("typed", "command"),
    [
        ("why 41", WhyCommand(None, 41)),
        ("why #41", WhyCommand(None, 41)),
        ("why 41 site", WhyCommand(SITE, 41)),
        ("why acme/api #41", WhyCommand(API, 41)),
        ("why https://code.example/acme/api/pull/41", WhyCommand(API, 41)),
        ("why https://code.example/acme/api/pull/41/files#diff-1", WhyCommand(API, 41)),
        ("why https://code.example/acme/site/-/merge_requests/41?tab=x", WhyCommand(SITE, 41)),
        ("log", LogCommand()),
        ("log site pr:#41", LogCommand(SITE, pull_request=41)),
        ("log PR:41 branch:release/1", LogCommand(None, 41, "release/1")),
        ("log type:leave", LogCommand(types=frozenset({LEAVE}))),
        ("log type:merged", LogCommand(types=frozenset({"action.queue.merged"}))),
        (
            "log type:queue.pause.create,leave type:command.queue",
            LogCommand(types=frozenset({"queue.pause.create", LEAVE, "command.queue"})),
        ),
        ("log since:2h until:1h limit:25", LogCommand(since=2 * HOUR, until=HOUR, limit=25)),
        ("log until:1d", LogCommand(until=DAY)),
        ("rules", RulesCommand()),
        ("rules api", RulesCommand(API)),
        ("branches", BranchesCommand(None, 7 * DAY)),
        ("branches api since:36h", BranchesCommand(API, 36 * HOUR)),
        ("stats", StatsCommand(None, 7 * DAY)),
        ("stats api branch:main since:6h", StatsCommand(API, 6 * HOUR, "main")),
    ],
)
def test_a_question_is_read_into_its_value(typed: str, command: Command) -> None:
    assert parse_command(typed, TWO) == command


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("why", "Which pull request?"),
        ("why acme/site", "Which pull request?"),
        ("why abc", "“abc” is no number"),
        ("why 99999999999999999999", "“99999999999999999999” is no number"),
        ("why 41 acme/site 42", "“42”"),
        ("why 41 acme/site acme/api", "“acme/api”"),
        ("log pr:", "needs a number"),
        ("log pr:0", "needs a number"),
        ("log pr:x", "needs a number"),
        ("log pr:2147483647", "needs a number"),
        ("log 41", "“41”"),
        ("log color:red", "“color:red”"),
        ("log branch:", "needs a branch name"),
        ("log branch:" + "x" * 256, "at most 255 characters"),
        ("log type:nonsense", "no event type “nonsense”."),
        ("log type:create", "Did you mean"),
        ("log since:yesterday", "since: a length of time is written"),
        ("log since:93d", "since: at most 92 days"),
        ("log since:1h until:2h", "until: has to be later"),
        ("log limit:26", "from 1 to 25"),
        ("log limit:0", "from 1 to 25"),
        ("log limit:²", "from 1 to 25"),
        ("log limit:+5", "from 1 to 25"),
        ("log limit:few", "from 1 to 25"),
        ("rules all of them", "“all”"),
        ("branches branch:main", "“branch:main”"),
    ],
)
def test_a_malformed_question_says_what_is_wrong(typed: str, said: str) -> None:
    with pytest.raises(CommandSyntaxError) as refused:
        parse_command(typed, TWO)

    assert said in refused.value.problem


@pytest.mark.parametrize(
    "typed", ["why https://code.example/acme/other/pull/41", "why 41 other", "rules acme/other"]
)
def test_a_pull_request_of_another_repository_is_refused(typed: str) -> None:
    with pytest.raises(RepositoryNotAllowed):
        parse_command(typed, TWO)


@pytest.mark.parametrize(
    ("typed", "event_type"),
    [("merge", "action.queue.merged"), ("action.merge", "action.merge")],
)
def test_merges_are_those_of_the_queue_unless_the_whole_type_is_typed(
    typed: str, event_type: str
) -> None:
    command = parse_command(f"log type:{typed}", TWO)

    assert isinstance(command, LogCommand)
    assert command.types == {event_type}


def test_the_log_reaches_back_as_far_as_the_service_allows() -> None:
    command = parse_command("log", TWO)

    assert isinstance(command, LogCommand)
    assert command.since == LONGEST_LOOKBACK
