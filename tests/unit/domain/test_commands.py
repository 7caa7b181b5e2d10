"""Typed text and the requests it becomes."""

from dataclasses import replace
from datetime import time, timedelta
from typing import Any

import pytest

from bot.acts.asked import Asked
from bot.acts.errors import InvalidCondition
from bot.channels.subscription import SubscriptionOptions
from bot.desk.readers.typed_command import TypedCommand
from bot.desk.situation import Situation
from bot.desk.table import COMMANDS, parse_command, with_target
from bot.kernel.durations import For, Until
from bot.kernel.errors import (
    CommandSyntaxError,
    InvalidDuration,
    RepositoryNotAllowed,
    TargetNotClear,
    UnknownGroup,
)
from bot.kernel.groups import ALL, Group, Groups, Repositories, read_groups
from bot.kernel.repository import RepositoryName
from bot.merge_queue.window import LONGEST_LOOKBACK
from bot.people.notices import DIRECT_NOTICES, Notice
from tests.support.make import API, SITE

ALLOWED = {"pull_request": 41, "is_confirmed": False}
GREEN_AGAIN = {"reason": "CI's green, #41 did it!"}
ONE = Repositories((SITE,))
TWO = Repositories((SITE, API))
OTHER_OWNER = Repositories((SITE, RepositoryName("umbrella/site"), API))
GROUPS = Groups(read_groups("release=acme/site,acme/api;site=acme/api"), TWO)
RELEASE = Group("release", (SITE, API))
EVERYTHING = Group(ALL, (SITE, API))
OF_AUTHORS = frozenset({Notice.FAILURE, Notice.MERGE})
OF_BOTH = frozenset({Notice.MENTION, Notice.REMINDER})
LEAVE = "action.queue.leave"
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
WEEK = 7 * DAY


def read(typed: str, known: Repositories = TWO, groups: Groups | None = None) -> TypedCommand:
    _, request = parse_command(typed, Situation(groups or Groups((), known)))
    return request


def options(*topics: str) -> dict[str, SubscriptionOptions]:
    return {"options": SubscriptionOptions(frozenset(topics))}


def because(
    reason: str = "", lasting: For | None = None, *, is_confirmed: bool = False
) -> dict[str, Any]:
    return {"asked": Asked(reason, lasting), "is_confirmed": is_confirmed}


def longer(hours: float | None) -> dict[str, Any]:
    return {"lasting": For(hours * HOUR) if hours is not None else None, "is_endless": False}


NOW = because("CI is down", is_confirmed=True)


def logged(**asked: Any) -> dict[str, Any]:
    nothing: dict[str, Any] = {"pull_request": None, "branch": None, "types": frozenset()}
    return {**nothing, "since": LONGEST_LOOKBACK, "until": None, "per_page": 10, **asked}


@pytest.mark.parametrize(
    ("typed", "action", "where", "options"),
    [
        ("", "status", None, {"branch": None, "first": 0}),
        ("STATUS acme/site", "status", SITE, {"branch": None, "first": 0}),
        ("status branch:main", "status", None, {"branch": "main", "first": 0}),
        ("status site Branch:release/1.2", "status", SITE, {"branch": "release/1.2", "first": 0}),
        ("status @release", "status", RELEASE, {"first": 0}),
        ("why #41", "why", None, {"pull_request": 41}),
        ("remove 41 site", "remove", SITE, {"pull_request": 41}),
        ("why https://code.example/acme/api/pull/41/files#d-1", "why", API, {"pull_request": 41}),
        (
            "why https://code.example/acme/api/-/merge_requests/41?x",
            "why",
            API,
            {"pull_request": 41},
        ),
        ("take over acme/site", "takeover", SITE, {}),
        ("takeover @release", "takeover", RELEASE, {}),
        ("un pause", "resume", None, {}),
        ("notify me", "notify", None, {}),
        ("notify site", "notify", SITE, {}),
        ("mute this pull request #41", "mute", None, {"pull_request": 41}),
        ("unmute 41 api", "unmute", API, {"pull_request": 41}),
        ("log site pr:#41", "log", SITE, logged(pull_request=41)),
        ("log PR:41 branch:release/1", "log", None, logged(pull_request=41, branch="release/1")),
        ("log type:leave", "log", None, logged(types=frozenset({LEAVE}))),
        ("log type:merge", "log", None, logged(types=frozenset({"action.queue.merged"}))),
        ("log type:action.merge", "log", None, logged(types=frozenset({"action.merge"}))),
        (
            "log type:queue.pause.create,leave type:command.queue",
            "log",
            None,
            logged(types=frozenset({"queue.pause.create", LEAVE, "command.queue"})),
        ),
        ("log since:2h", "log", None, logged(since=2 * HOUR)),
        ("log until:1h limit:25", "log", None, logged(until=HOUR, per_page=25)),
        ("rules api from:6", "rules", API, {"first": 5, "whole": False}),
        ("branches api since:36h", "branches", API, {"since": 36 * HOUR, "first": 0}),
        ("stats", "stats", None, {"since": WEEK, "branch": None}),
        ("stats checks api since:6h", "stats checks", API, {"since": 6 * HOUR}),
        ("stats api branch:main since:6h", "stats", API, {"since": 6 * HOUR, "branch": "main"}),
        ("pause", "pause", None, because()),
        ("pause now acme/site CI is down", "pause", SITE, NOW),
        ("pause acme/site NOW CI is down", "pause", SITE, NOW),
        ("pause now now CI is down", "pause", None, because("now CI is down", is_confirmed=True)),
        ("pause it now", "pause", None, because(is_confirmed=True)),
        ("pause the queue because CI is down", "pause", None, because("because CI is down")),
        ("pause merging for 2h", "pause", None, because("", For(2 * HOUR))),
        ("pause the queue of the moon", "pause", None, because("the queue of the moon")),
        ("pause please", "pause", None, because()),
        ("resume please", "resume", None, {}),
        ("resume the queue, thanks", "resume", None, {}),
        ("extend 30m", "extend", None, longer(0.5)),
        ("extend by another hour please", "extend", None, longer(1)),
        ("extend acme/api 2 more hours", "extend", API, longer(2)),
        ("extend +90m @release", "extend", RELEASE, longer(1.5)),
        ("extend", "extend", None, longer(None)),
        ("extend the pause forever", "extend", None, {"lasting": None, "is_endless": True}),
        ("why", "why queue", None, {}),
        ("why acme/api", "why queue", API, {}),
        ("why @release", "status", RELEASE, {"first": 0}),
        ("pause 2h now down", "pause", None, because("down", For(2 * HOUR), is_confirmed=True)),
        ("pause now all CI", "pause", EVERYTHING, because("CI", is_confirmed=True)),
        ("pause all now CI", "pause", EVERYTHING, because("CI", is_confirmed=True)),
        ("pause acme/site database migration", "pause", SITE, because("database migration")),
        ("Pause acme/API slow", "pause", API, because("slow")),
        ("pause 45m takes 2h", "pause", None, because("takes 2h", For(0.75 * HOUR))),
        ("pause releases are late", "pause", None, because("releases are late")),
        ("pause acme/site @bob asked for it", "pause", SITE, because("@bob asked for it")),
        ("  pause  acme/site   CI   is \n down  ", "pause", SITE, because("CI   is \n down")),
        ("pause @release freeze  for 4.2", "pause", RELEASE, because("freeze  for 4.2")),
        ("pause all 45m CI", "pause", EVERYTHING, because("CI", For(0.75 * HOUR))),
        ("pause @site down", "pause", Group("site", (API,)), because("down")),
        ("resume acme/api", "resume", API, {}),
        ("unpause @RELEASE", "resume", RELEASE, {}),
        ("resume all", "resume", EVERYTHING, {}),
        ("resume now", "resume", None, {}),
        ("resume acme/api CI is green", "resume", API, {"reason": "CI is green"}),
        ("resume acme/api — CI's green, #41 did it!", "resume", API, GREEN_AGAIN),
        ("acme/api resume CI is green", "resume", API, {"reason": "CI is green"}),
        ("resume CI is green", "resume", None, {"reason": "CI is green"}),
        ("resume @release all fixed", "resume", RELEASE, {"reason": "all fixed"}),
        ("freezes acme/site", "freezes", SITE, {}),
        ("unfreeze", "unfreeze", None, {"reason": ""}),
        ("unfreeze @release it is out", "unfreeze", RELEASE, {"reason": "it is out"}),
        ("allow #41 fixes it", "allow", None, {**ALLOWED, "reason": "fixes it"}),
        ("allow now 41 it", "allow", None, {**ALLOWED, "is_confirmed": True, "reason": "it"}),
        ("allow acme/site 41 it", "allow", SITE, {**ALLOWED, "reason": "it"}),
        ("allow 41 acme/site it", "allow", SITE, {**ALLOWED, "reason": "it"}),
        ("audit", "audit", None, {"since": WEEK}),
        ("audit SINCE:2w", "audit", None, {"since": 2 * WEEK}),
        ("audit since:200d", "audit", None, {"since": 200 * DAY}),
        ("subscribe", "subscribe", None, options()),
        ("subscribe merge, failure", "subscribe", None, options("merge", "failure")),
        ("subscribe ALL merge", "subscribe", EVERYTHING, options("merge")),
        ("subscribe all", "subscribe", EVERYTHING, options()),
        ("subscribe site action.queue.change", "subscribe", SITE, options("action.queue.change")),
        ("subscribe action.anyhost_actions", "subscribe", None, options("action.anyhost_actions")),
        ("subscribe @release", "subscribe", RELEASE, options()),
        ("unsubscribe acme/site enter", "unsubscribe", SITE, options("enter")),
        ("unsubscribe @all ci", "unsubscribe", EVERYTHING, options("ci")),
        ("subscriptions from:2", "subscriptions", None, {"first": 1}),
        ("subscriptions test", "subscriptions test", None, {"branch": None}),
        ("subscriptions test site branch:x", "subscriptions test", SITE, {"branch": "x"}),
        ("board acme/site", "board", SITE, {}),
        ("board OFF", "board off", None, {}),
        ("board acme/site off", "board off", SITE, {}),
        ("default", "default", None, {}),
        ("default acme/site", "default", SITE, {}),
        ("default OFF", "default off", None, {}),
        ("link off", "link off", None, {}),
        ("link @alice-m", "link", None, {"login": "alice-m"}),
        ("help", "help", None, {"verb": None, "is_whole": False}),
        ("help unpause", "help", None, {"verb": "resume", "is_whole": False}),
        ("me", "me", None, {}),
        ("me mentions off", "me", None, {"chosen": {Notice.MENTION}, "is_on": False}),
        ("ME ON Mention reminder", "me", None, {"chosen": OF_BOTH, "is_on": True}),
        ("me dms off", "me", None, {"chosen": DIRECT_NOTICES, "is_on": False}),
        ("me failures merge on", "me", None, {"chosen": OF_AUTHORS, "is_on": True}),
    ],
)
def test_typed_text_becomes_a_request(
    typed: str, action: str, where: RepositoryName | Group | None, options: dict[str, Any]
) -> None:
    request = read(typed, TWO, GROUPS)

    assert (request.action, request.where, request.options) == (action, where, options)


NO_QUESTION = {"is_confirmed": True}
MORNING = Until(time(8), weekday=0)
EVENING = Until(time(18), weekday=4)


@pytest.mark.parametrize(
    ("typed", "action", "where", "freeze", "options"),
    [
        ("", "freeze", None, Asked(), {}),
        ("2h releases", "freeze", None, Asked("releases", lasting=For(2 * HOUR)), {}),
        ("now acme/site release", "freeze", SITE, Asked("release"), NO_QUESTION),
        ("2h acme/site x", "freeze", SITE, Asked("x", lasting=For(2 * HOUR)), {}),
        ("2h now x", "freeze", None, Asked("x", lasting=For(2 * HOUR)), NO_QUESTION),
        ("2h acme/site now x", "freeze", SITE, Asked("x", lasting=For(2 * HOUR)), NO_QUESTION),
        ("now 2h now x", "freeze", None, Asked("now x", lasting=For(2 * HOUR)), NO_QUESTION),
        (
            "branch:main @release now from fri 18:00 until mon 08:00 quiet except:#41 weekend",
            "freeze",
            RELEASE,
            Asked("quiet weekend", MORNING, EVENING, ("main",), ("number=41",)),
            NO_QUESTION,
        ),
        (
            "from the top except:hotfix except:@bob except:author=eve",
            "freeze",
            None,
            Asked("from the top", excepted=("label=hotfix", "author=bob", "author=eve")),
            {},
        ),
    ],
)
def test_a_typed_freeze_becomes_a_request(
    typed: str, action: str, where: Any, freeze: Asked, options: dict[str, bool]
) -> None:
    expected: dict[str, Any] = {"asked": freeze, "is_confirmed": False, **options}
    assert read(f"freeze {typed}", groups=GROUPS) == TypedCommand(action, where, expected)
    written = freeze.written.removesuffix(freeze.reason)
    again = read(f"freeze {written} because", groups=GROUPS)
    assert again.options["asked"] == replace(freeze, reason="because")


@pytest.mark.parametrize(
    ("typed", "error", "shown"),
    [
        ("branch: x", InvalidCondition, "branch:"),
        ("branch:release/* x", InvalidCondition, "branch:release/*"),
        ("except:moon=full x", InvalidCondition, "except:moon=full"),
        ("except:# x", InvalidCondition, "except:#"),
        ("except:a " * 6 + "x", InvalidCondition, "except:"),
        ("from 25:00 x", InvalidDuration, "from 25:00"),
    ],
)
def test_words_no_freeze_can_have_are_refused(
    typed: str, error: type[Exception], shown: str
) -> None:
    with pytest.raises(error) as caught:
        read(f"freeze {typed}")
    assert shown in {getattr(caught.value, "word", None), getattr(caught.value, "shown", None)}


def test_a_missing_repository_is_asked_for() -> None:
    for typed in ("status", "pause", "board off", "subscriptions test", "rules", "subscribe"):
        assert read(typed).needs_repository
    for typed in ("audit", "default", "default off", "subscriptions", "me", "link off", "help"):
        assert not read(typed).needs_repository


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
    assert read(one) == read(other)


@pytest.mark.parametrize(
    ("typed", "unknown"),
    [
        ("stats branch:x acme/other", "acme/other"),
        ("subscriptions test a/b", "a/b"),
        ("why https://code.example/acme/other/pull/41", "acme/other"),
        ("why 41 other", "other"),
        ("rules acme/other", "acme/other"),
        ("audit acme/shop", "acme/shop"),
        # Taken for a reason, the first word would pause the wrong queue.
        ("pause CI/CD is down", "CI/CD"),
        ("unpause acme/other", "acme/other"),
        ("status a/b", "a/b"),
    ],
)
def test_what_looks_like_a_repository_and_is_unknown_is_refused(typed: str, unknown: str) -> None:
    with pytest.raises(RepositoryNotAllowed) as refused:
        read(typed)

    assert refused.value.repository == unknown
    assert refused.value.configured == (SITE, API)


def test_a_topic_after_the_repository_is_a_topic_even_if_a_repository_has_its_name() -> None:
    merge = RepositoryName("acme/merge")
    known = Repositories((SITE, merge))
    both = TypedCommand("subscribe", SITE, options("failure", "merge"))
    assert read("subscribe failure merge acme/site", known) == both
    assert read("subscribe acme/site merge", known) == TypedCommand(
        "subscribe", SITE, options("merge")
    )
    assert read("subscribe merge", known) == TypedCommand("subscribe", merge, options())


@pytest.mark.parametrize(
    ("typed", "doubtful", "before"),
    [
        ("45", For(timedelta(minutes=45)), ""),
        ("CI down 45m", For(timedelta(minutes=45)), "CI down"),
        ("CI down for 2 hours", For(timedelta(hours=2)), "CI down"),
        ("CI  down until 15:00", Until(time(15)), "CI down"),
        ("45 tests fail", None, ""),
        ("release 45", None, ""),
        ("0", None, ""),
        ("99999999", None, ""),
        ("down since 2 hours ago", None, ""),
        ("step 5m of 10", None, ""),
    ],
)
def test_a_reason_that_may_be_a_duration_is_ambiguous(
    typed: str, doubtful: For | Until | None, before: str
) -> None:
    assert read(f"pause {typed}").options == because(typed)
    doubt = Asked(typed).doubt
    readings = doubt.readings if doubt is not None else ()
    assert readings[:1] == (() if doubtful is None else ((doubtful, before),))


@pytest.mark.parametrize("reason", ["the CI/CD runners are down", "(CI/CD) is down", "and/or/not"])
def test_a_slash_inside_a_reason_does_not_make_it_a_repository(reason: str) -> None:
    assert read(f"pause {reason}") == TypedCommand("pause", None, because(reason))
    assert read(f"pause acme/site {reason}") == TypedCommand("pause", SITE, because(reason))


@pytest.mark.parametrize(
    ("typed", "where"),
    [
        ("resume api CI is green", [API, None]),
        ("resume the api is green", [API, None]),
        ("resume CI is green in acme/api", [API, None]),
        ("resume acme/site and acme/api", [f"@{ALL}", SITE, API]),
    ],
)
def test_a_name_in_or_before_a_reason_to_resume_is_asked_about(
    typed: str, where: list[str | None]
) -> None:
    with pytest.raises(TargetNotClear) as asked:
        read(typed)
    assert [reading.target for reading in asked.value.readings] == where


@pytest.mark.parametrize(
    "typed", ["resume sitte", "resume sitte please", "resume acme/nope all good"]
)
def test_a_name_with_a_mistake_resumes_nothing(typed: str) -> None:
    with pytest.raises(RepositoryNotAllowed):
        read(typed)


@pytest.mark.parametrize("typed", ["resume green", "resume green please"])
def test_a_lone_word_is_no_reason_to_resume(typed: str) -> None:
    with pytest.raises(CommandSyntaxError, match="I don't know a repository"):
        read(typed)


def test_a_bare_name_is_the_only_repository_that_has_it() -> None:
    assert read("resume site").where == SITE
    assert read("site resume").where == SITE
    assert read("status ACME/Site", ONE).where == SITE
    assert read("rules API", OTHER_OWNER).where == API
    with pytest.raises(TargetNotClear) as asked:
        read("status Site branch:main", OTHER_OWNER)
    typed = [(reading.target, reading.typed) for reading in asked.value.readings]
    assert typed == [
        ("acme/site", "status acme/site branch:main"),
        ("umbrella/site", "status umbrella/site branch:main"),
    ]


@pytest.mark.parametrize(
    ("typed", "instead"),
    [
        ("pasue", ["pause"]),
        ("unpuase", ["unpause"]),
        ("statu", ["status", "stats"]),
        ("stat", ["stats", "status"]),
        ("stauts", ["status"]),
        ("resum", ["resume", "rules"]),
        ("./pause", ["pause", "unpause"]),
        ("stop", ["pause"]),
        ("stopp", ["pause"]),
        ("go", ["resume"]),
        ("show", ["status"]),
        ("subscripe", ["subscribe", "unsubscribe", "subscriptions"]),
        ("SUBSCRIB", ["subscribe", "unsubscribe", "subscriptions"]),
        ("  STOP CI is  down ", ["pause CI is  down"]),
        ("pasue 45m", ["pause 45m"]),
        ("help unsubscribee", ["help unsubscribe", "help subscribe"]),
        ("help stop", ["help pause"]),
    ],
)
def test_an_unknown_verb_gets_the_nearest_to_run_instead(typed: str, instead: list[str]) -> None:
    with pytest.raises(CommandSyntaxError) as refused:
        read(typed, ONE)
    assert list(refused.value.instead) == instead


@pytest.mark.parametrize("typed", ["xyzzy", "<@U0ALICE>", "🚀🚀", "x" * 3000])
def test_nonsense_is_refused_and_nothing_is_offered(typed: str) -> None:
    with pytest.raises(CommandSyntaxError) as refused:
        read(typed)

    assert typed[:60] in refused.value.problem
    assert len(refused.value.problem) < 300
    assert refused.value.instead == ()


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("status branch:", "needs a branch name"),
        ("status acme/site branch", "“branch”"),
        ("status branch:" + "b" * 256, "at most 255"),
        ("status acme/site acme/api", "“acme/api”"),
        ("unpause green", "repository “green”"),
        ("subscribe acme/site merged", "no topic “merged”. Did you mean merge?"),
        ("subscribe action.of_tomorrow", "action.of_tomorrow"),
        ("subscriptions acme/site", "“acme/site”"),
        ("help us", "no command “us”"),
        ("0", "“0” isn't the number of a pull request"),
        ("#99999999999999999999", "isn't the number of a pull request"),
        ("3.14", "isn't the number of a pull request"),
        ("why abc", "a number in “abc”"),
        ("why 99999999999999999999", "a number in “99999999999999999999”"),
        ("why 41 acme/site 42", "“42”"),
        ("why 41 acme/site acme/api", "“acme/api”"),
        ("log pr:", "needs a number"),
        ("log pr:0", "needs a number"),
        ("log pr:2147483647", "needs a number"),
        ("log color:red", "“color:red”"),
        ("log type:nonsense", "no event type “nonsense”."),
        ("log type:create", "Did you mean"),
        ("log since:yesterday", "since: a length of time is written"),
        ("log since:93d", "since: at most 92 days."),
        ("log since:1h until:2h", "until: has to be later"),
        ("rules from:x", "from: needs a number"),
        ("log limit:26", "from 1 to 25"),
        ("log limit:²", "from 1 to 25"),
        ("rules all of them", "“them”"),
        ("rules all show:all", "show: is for one repository."),
        ("log @release limit:5", "limit: is for one repository."),
        ("notify us", "I can notify you, and nobody else"),
        ("pause #41", "I can pause a queue, but not one pull request."),
        ("resume acme/site tomorrow at 9am", "I resume a queue right away."),
        ("resume acme/site once CI is green", "I resume a queue right away."),
        ("board all", "“all” means all 2 repositories, and a board shows one queue."),
        ("status @release branch:main", "I don't understand “branch:main” here."),
        ("subscribe release", "There is no topic “release”. Topics are "),
        ("unsubscribe @release style:feed", "style: and digest: are for subscribe."),
    ],
)
def test_a_malformed_command_gets_an_error_and_its_help(typed: str, said: str) -> None:
    with pytest.raises(CommandSyntaxError) as refused:
        read(typed, TWO, GROUPS)

    assert said in refused.value.problem
    assert "owner/name" not in refused.value.problem


@pytest.mark.parametrize(
    ("typed", "named"),
    [
        ("", "status acme/site"),
        ("pause CI is down", "pause acme/site CI is down"),
        ("take over", "take over acme/site"),
        ("un pause all green", "un pause acme/site all green"),
        ("notify", "notify acme/site"),
    ],
)
def test_a_command_continues_with_the_queue_behind_its_verb(typed: str, named: str) -> None:
    assert with_target(typed, SITE) == named


def test_every_verb_is_parsed_by_each_of_its_names() -> None:
    for verb in COMMANDS:
        for word in (verb.name, *verb.aliases):
            typed = verb.examples[0].removeprefix(verb.name)
            parsed = read(word + typed, ONE)
            assert parsed == read(verb.name.upper() + typed, ONE)


@pytest.mark.parametrize(
    "typed", ["pause @bob asked for it", "subscribe @releases merge", "status @bob"]
)
def test_an_unknown_group_is_never_part_of_a_reason(typed: str) -> None:
    with pytest.raises(UnknownGroup):
        read(typed, TWO, GROUPS)
    with pytest.raises(UnknownGroup):
        read("pause @release freeze")
    assert read("pause all down").where == EVERYTHING
