"""Names of queues in whatever people type around them: the queue meant, or a question."""

import pytest

from bot.desk.phrases import about_messages
from bot.desk.readers.typed_command import TypedCommand
from bot.desk.situation import Situation
from bot.desk.table import parse_command
from bot.kernel.errors import CommandSyntaxError, RepositoryNotAllowed, TargetNotClear, UnknownGroup
from bot.kernel.groups import ALL, Group, Groups, Repositories, Target, read_groups
from bot.kernel.repository import RepositoryName
from bot.kernel.typed import command_words, read_words, text_of
from tests.support.make import API, SITE

DOCS = RepositoryName("acme/docs")
OTHER_DOCS = RepositoryName("umbrella/docs")
HIDDEN = RepositoryName("acme/.github")
KNOWN = Repositories((SITE, API, DOCS, OTHER_DOCS, HIDDEN))
GROUPS = Groups(read_groups("release=acme/site,acme/api;docs=acme/docs,umbrella/docs"), KNOWN)
RELEASE = Group("release", (SITE, API))
EVERYTHING = Group(ALL, KNOWN.names)
CALLED = ("/mq", "merge-queue")


def read(typed: str, *, is_settled: bool = False) -> TypedCommand:
    _, request = parse_command(typed, Situation(GROUPS, CALLED, is_settled=is_settled))
    return request


def reason_of(request: TypedCommand) -> str:
    asked = request.options.get("asked")
    return str(asked.reason if asked is not None else request.options["reason"])


ALONE = [
    "acme/site",
    "ACME/Site",
    "`acme/site`",
    "```acme/site```",
    "*acme/site*",
    "_acme/site_",
    "*_`acme/site`_*",
    "~acme/site~",
    '"acme/site"',
    "'acme/site'",
    "“acme/site”",
    "\u2018acme/site\u2019",
    "«acme/site»",
    "\u2039acme/site\u203a",
    "„acme/site“",
    "acme/site:",
    "acme/site,",
    "acme/site;",
    "acme/site.",
    "acme/site!",
    "acme/site?",
    "acme/site…",
    "(acme/site)",
    "[acme/site]",
    "<acme/site>",
    "{acme/site}",
    "acme/site/",
    "/acme/site",
    "#acme/site",
    "@acme/site",
    "acme/site -",
    "acme/site —",
    "acme/site :",
    "- acme/site",
    "acme / site",
    "acme/ site",
    "acme\\site",
    "acme\u2044site",
    "\uff41\uff43\uff4d\uff45\uff0f\uff53\uff49\uff54\uff45",
    "\U0001d41a\U0001d41c\U0001d426\U0001d41e/\U0001d42c\U0001d422\U0001d42d\U0001d41e",
    "acme/site\u200b",
    "\u2066acme/site\u2069",
    "ac\u00adme/site",
    "acme/site\u00a0",
    "acme/site\ufe0f",
    "https://github.com/acme/site",
    "https://github.com/acme/site/",
    "https://github.com/acme/site.git",
    "http://www.github.com/acme/site",
    "github.com/acme/site",
    "www.github.com/acme/site",
    "git@github.com:acme/site.git",
    "ssh://git@github.com/acme/site.git",
    "https://code.example:8443/acme/site",
    "(https://github.com/acme/site)",
    "<https://github.com/acme/site>",
    "`https://github.com/acme/site`,",
    "`https://github.com/acme/site`/",
    "*https://github.com/acme/site*/",
    "(https://github.com/acme/site)/",
]
"""The name of a repository, and nothing more."""

WITH_MORE = [
    "acme/site#41",
    "acme/site!41",
    "`acme/site#41`",
    "acme/site#41:",
    "acme/site/pull/41",
    "acme/site(urgent)",
    "acme/site's",
    "acme/site\u2019s",
    "https://github.com/acme/site/pull/41",
    "https://github.com/acme/site/pull/41/files#diff-1",
    "https://github.com/acme/site/pull/41/commits/1234?w=1",
    "https://code.example/acme/site/-/merge_requests/41/diffs",
    "https://code.example/acme/site/pull-requests/41",
    "https://github.com/acme/site/tree/main/docs",
    "https://github.com/acme/site/actions/runs/1",
]
"""Names of it that say more, which stays in a reason."""

QUESTIONS = [
    "https://ci.example/acme/site/builds/7",
    "https://dashboard.example/orgs/acme/repos/site/queues/status",
    "https://dashboard.example/github/acme/repo/site/queues",
    "https://dashboard.example/queues?login=acme&repository=site",
    "HTTPS://DASHBOARD.EXAMPLE/QUEUES?LOGIN=ACME&REPOSITORY=SITE",
    "https://Dashboard.example/Orgs/Acme/Repos/Site/Queues",
]
"""Pages about a repository, which may be its name or a part of a reason."""

WITH_REASON = ["pause", "pause now", "pause 45m", "freeze", "freeze 2h", "freeze now", "unfreeze"]
WITHOUT = ["status", "resume", "unpause", "rules", "branches", "stats", "log", "freezes", "audit"]
WITHOUT += ["board", "default", "subscriptions test", "stats checks", "why 41", "remove 41"]
WITHOUT += ["board off", "subscribe", "unsubscribe", "log pr:41", "status branch:main"]


@pytest.mark.parametrize("typed", ALONE)
def test_a_name_is_read_whatever_surrounds_it(typed: str) -> None:
    for command in WITH_REASON:
        request = read(f"{command} {typed} CI is down")
        assert (request.where, reason_of(request)) == (SITE, "CI is down"), command
    for command in WITHOUT:
        assert read(f"{command} {typed}").where == SITE, command
    for command in ("allow 41", "allow"):
        number = "41 " if command == "allow" else ""
        request = read(f"{command} {typed} {number}fixes it")
        assert (request.where, reason_of(request)) == (SITE, "fixes it")


@pytest.mark.parametrize("typed", WITH_MORE)
def test_a_word_that_says_more_than_the_name_stays_in_the_reason(typed: str) -> None:
    for command in WITH_REASON:
        request = read(f"{command} {typed} CI is down")
        assert (request.where, reason_of(request)) == (SITE, f"{typed} CI is down"), command
    request = read(f"pause {typed} 45m CI is down")
    assert (request.where, reason_of(request)) == (SITE, "CI is down")
    assert request.options["asked"].lasting is not None
    for command in ("resume", "rules", "freezes", "board", "audit"):
        assert read(f"{command} {typed}").where == SITE


@pytest.mark.parametrize("typed", QUESTIONS)
def test_a_page_about_a_repository_is_asked_about_before_an_act(typed: str) -> None:
    for command in WITH_REASON:
        with pytest.raises(TargetNotClear) as asked:
            read(f"{command} {typed} CI is down")
        meant = [(reading.target, reading.reason) for reading in asked.value.readings]
        assert meant == [(SITE, f"{typed} CI is down"), (None, f"{typed} CI is down")]
    assert read(f"status {typed}").where == SITE


@pytest.mark.parametrize(
    "typed", [one for one in [*WITH_MORE, "#41 acme/site", "acme/site 41"] if "41" in one]
)
def test_a_pull_request_with_its_repository_is_read_everywhere(typed: str) -> None:
    for command in ("why", "remove", "log", "status", ""):
        request = read(f"{command} {typed}")
        assert request.where == SITE
        assert request.options["pull_request"] == 41
    request = read(f"allow {typed} fixes it")
    assert (request.where, request.options["reason"]) == (SITE, "fixes it")
    assert request.options["pull_request"] == 41


@pytest.mark.parametrize(
    ("typed", "where"),
    [
        ("@release", RELEASE),
        ("`@release`", RELEASE),
        ("*@release*:", RELEASE),
        ("@Release,", RELEASE),
        ("“@release”", RELEASE),
        ("\uff20release", RELEASE),
        ("all", EVERYTHING),
        ("ALL:", EVERYTHING),
        ("`all`", EVERYTHING),
        ("(all)", EVERYTHING),
        ("@all", EVERYTHING),
        ("acme/.github", HIDDEN),
        ("`acme/.github`.", HIDDEN),
        ("https://github.com/acme/.github", HIDDEN),
        ("umbrella/docs", OTHER_DOCS),
        ("https://github.com/umbrella/docs", OTHER_DOCS),
    ],
)
def test_groups_and_odd_names_are_read_in_the_same_way(typed: str, where: Target) -> None:
    for command in WITH_REASON:
        request = read(f"{command} {typed} CI is down")
        assert (request.where, reason_of(request)) == (where, "CI is down")
    assert read(f"resume {typed}").where == where
    assert read(f"subscribe {typed} merge").where == where


@pytest.mark.parametrize(
    ("typed", "readings"),
    [
        ("api gateway down", [(API, "gateway down"), (None, "api gateway down")]),
        ("`api` gateway down", [(API, "gateway down"), (None, "`api` gateway down")]),
        ("API: down", [(API, "down"), (None, "API: down")]),
        ("api", [(API, ""), (None, "api")]),
        ("api#41 broke it", [(API, "api#41 broke it"), (None, "api#41 broke it")]),
        ("api's tests fail", [(API, "api's tests fail"), (None, "api's tests fail")]),
        (
            "docs CI is down",
            [
                (DOCS, "CI is down"),
                (OTHER_DOCS, "CI is down"),
                ("@docs", "CI is down"),
                (None, "docs CI is down"),
            ],
        ),
        ("release 4.2", [("@release", "4.2"), (None, "release 4.2")]),
        ("the api is slow", [(API, "the api is slow"), (None, "the api is slow")]),
        ("on all queues CI", [("@all", "on all queues CI"), (None, "on all queues CI")]),
        (
            "CI is down on acme/api",
            [(API, "CI is down on acme/api"), (None, "CI is down on acme/api")],
        ),
        (
            "CI down, ping @release",
            [("@release", "CI down, ping @release"), (None, "CI down, ping @release")],
        ),
        ("acme/site acme/api x", [(SITE, "acme/api x"), (API, "x")]),
        ("acme/site and acme/api: x", [(SITE, "and acme/api: x"), (API, "x")]),
        ("acme/site, @release x", [(SITE, "@release x"), ("@release", "x")]),
        ("all acme/site x", [("@all", "acme/site x"), (SITE, "x")]),
        ("acme/site,acme/api x", [(SITE, "acme/api x"), (API, "x")]),
        ("acme/site+acme/api x", [(SITE, "acme/api x"), (API, "x")]),
        ("`acme/site`|`acme/api` x", [(SITE, "`acme/api` x"), (API, "x")]),
        ("acme/site,@release x", [(SITE, "@release x"), ("@release", "x")]),
        (
            "https://github.com/acme/site,https://github.com/acme/api x",
            [(SITE, "https://github.com/acme/api x"), (API, "x")],
        ),
        ("repo:acme/api x", [(API, "repo:acme/api x"), (None, "repo:acme/api x")]),
        ("--repo=acme/api x", [(API, "--repo=acme/api x"), (None, "--repo=acme/api x")]),
        ("CI,acme/api is red", [(API, "CI,acme/api is red"), (None, "CI,acme/api is red")]),
        ("CI (see:acme/api)", [(API, "CI (see:acme/api)"), (None, "CI (see:acme/api)")]),
        (
            "[api](https://github.com/acme/api) x",
            [
                (API, "[api](https://github.com/acme/api) x"),
                (None, "[api](https://github.com/acme/api) x"),
            ],
        ),
        (
            "<https://github.com/acme/api|acme/api> x",
            [
                (API, "<https://github.com/acme/api|acme/api> x"),
                (None, "<https://github.com/acme/api|acme/api> x"),
            ],
        ),
    ],
)
def test_what_may_name_another_queue_is_asked_about(
    typed: str, readings: list[tuple[str | None, str]]
) -> None:
    for command in WITH_REASON:
        with pytest.raises(TargetNotClear) as asked:
            read(f"{command} {typed}")
        assert [(reading.target, reading.reason) for reading in asked.value.readings] == readings
        for reading in asked.value.readings:
            request = read(reading.typed, is_settled=True)
            meant = None if reading.target is None else GROUPS.target(reading.target)
            assert (request.where, reason_of(request)) == (meant, reading.reason)
            confirmed = request.options.get("is_confirmed")
            assert confirmed in {None, "now" in command}


@pytest.mark.parametrize(
    "typed",
    [
        "acme/other",
        "`acme/other`",
        "(acme/other)",
        "*acme/other*:",
        "acme/other#41",
        "acme/other/pull/41",
        "umbrella/site",
        "other/site",
        "`other/site`,",
        "https://github.com/acme/other",
        "https://github.com/other/site/pull/41",
        "git@github.com:acme/other.git",
        "acme/",
        "`acme/s*`",
        "acme/*-api",
        "acme/sit\u0435",
        "\u0430\u0441me/site",
        "\u0455ite",
        "@r\u0435lease",
    ],
)
def test_what_is_written_like_a_repository_of_ours_is_no_reason(typed: str) -> None:
    for command in (*WITH_REASON, "resume", "rules"):
        with pytest.raises((RepositoryNotAllowed, UnknownGroup)):
            read(f"{command} {typed} CI is down")


@pytest.mark.parametrize(
    "typed", ["acme/other", "https://github.com/other/thing/pull/7", "acme/s*"]
)
def test_a_lone_name_of_another_repository_is_no_unknown_command(typed: str) -> None:
    with pytest.raises(RepositoryNotAllowed):
        read(typed)


@pytest.mark.parametrize("typed", ["?", "??", "`?`", "?!"])
def test_a_lone_question_mark_asks_for_help(typed: str) -> None:
    assert read(typed).action == "help"


@pytest.mark.parametrize("typed", ["status acme/site please", "freezes acme/site, thanks"])
def test_a_polite_word_behind_a_command_changes_nothing(typed: str) -> None:
    assert read(typed).where == SITE
    assert read(f"why 41 {typed.partition(' ')[2]}").options["pull_request"] == 41


def test_in_a_direct_message_stop_names_the_kind_of_message() -> None:
    assert about_messages("stop sending me reminders", ()) == "me reminders off"
    assert about_messages("mute mentions and failures", ()) == "me mentions failures off"
    assert about_messages("unmute reminders", ()) == "me reminders on"
    assert about_messages("stop all messages", ()) == "me dm off"
    for unclear in ("stop all", "stop everything", "stop merges", "stop acme/site"):
        assert about_messages(unclear, ()) == unclear


def test_an_end_behind_a_bare_name_is_no_reason() -> None:
    for command, typed, reason in (
        ("pause", "api 2h CI is down", "CI is down"),
        ("pause now", "api until 23:59", ""),
        ("freeze", "api from fri 18:00 until mon 08:00 quiet", "quiet"),
    ):
        with pytest.raises(TargetNotClear) as asked:
            read(f"{command} {typed}")
        first = asked.value.readings[0]
        assert (first.target, first.reason) == (API, reason)
        request = read(first.typed, is_settled=True)
        assert (request.where, reason_of(request)) == (API, reason)


@pytest.mark.parametrize("typed", ["acme/site,acme/api", "acme/site & acme/api", "all acme/api"])
def test_a_second_queue_is_never_left_out(typed: str) -> None:
    for command in ("status", "resume", "rules", "freezes", "board", "audit", "subscribe", "log"):
        with pytest.raises((CommandSyntaxError, TargetNotClear)):
            read(f"{command} {typed}")


def test_letters_of_other_alphabets_are_named() -> None:
    for typed, alike in (
        ("acme/sit\u0435", SITE),
        ("\u0455ite", SITE),
        ("@r\u0435lease", "@release"),
    ):
        with pytest.raises(RepositoryNotAllowed) as refused:
            read(f"pause {typed} CI is down")
        assert refused.value.alike == alike


@pytest.mark.parametrize(
    "reason",
    [
        "CI is down",
        "*CI* is `down` (again)",
        "“CI” is down…",
        "CI  is   down",
        "the CI/CD runners are down",
        "(CI/CD) is down",
        "24/7 outage of CI",
        "5/10 runners are gone",
        "https://status.example/incidents/41 is red",
        "https://github.com/actions/runner/issues/9 again",
        "site-wide outage",
        "apis are down",
        "releases are late",
        "all-hands at noon",
        "#41 broke main",
        "`make test` fails on `main`",
        "— CI is down",
        "☠️ CI",
    ],
)
def test_an_ordinary_reason_is_kept_as_typed(reason: str) -> None:
    whole = reason.removeprefix("— ")
    for command in ("pause", "pause now", "unfreeze", "freeze now"):
        request = read(f"{command} {reason}")
        assert (request.where, reason_of(request)) == (None, whole)
        request = read(f"{command} acme/site {reason}")
        assert (request.where, reason_of(request)) == (SITE, whole)
    request = read(f"allow 41 {reason}")
    assert reason_of(request) == whole


@pytest.mark.parametrize(
    "typed",
    [
        "/mq pause acme/site CI is down",
        "mq pause acme/site CI is down",
        "MQ: pause acme/site CI is down",
        "/mq /mq pause acme/site CI is down",
        "@merge-queue: mq pause acme/site CI is down",
        ": pause acme/site CI is down",
        ", pause acme/site CI is down",
        ":pause acme/site CI is down",
        "/pause acme/site CI is down",
        "pause: acme/site: CI is down",
        "*pause* acme/site CI is down",
        "`pause acme/site CI is down`",
        "`/mq pause acme/site CI is down`",
        "*pause acme/site CI is down*",
        "“pause acme/site CI is down”",
        "(pause acme/site CI is down)",
        "Pause\u00a0acme/site\u00a0CI is down",
        "pause\u3164acme/site\uffa0CI is down",
        "acme/site pause CI is down",
        "acme/site: pause CI is down",
    ],
)
def test_the_words_around_a_command_change_nothing(typed: str) -> None:
    request = read(typed)
    assert (request.action, request.where, reason_of(request)) == ("pause", SITE, "CI is down")


@pytest.mark.parametrize(
    ("typed", "like"),
    [
        ("status `acme/site` *branch:main*", "status acme/site branch:main"),
        ("status acme/site --branch=main", "status acme/site branch:main"),
        ("status acme/site —branch main", "status acme/site branch:main"),
        ("status acme/site branch: main", "status acme/site branch:main"),
        ("status acme/site branch\uff1amain", "status acme/site branch:main"),
        ("log acme/site “since:2h”, type:leave;", "log acme/site since:2h type:leave"),
        ("log 41 acme/site", "log acme/site pr:41"),
        ("log #41", "log pr:41"),
        ("why PR 41", "why 41"),
        ("why PR-41", "why 41"),
        ("why (#41)", "why 41"),
        ("why pull request 41?", "why 41"),
        ("why `41` on", "why 41 on"),
        ("41", "why 41"),
        ("#41!", "why 41"),
        ("acme/site", "status acme/site"),
        ("`site`", "status acme/site"),
        ("@release", "status @release"),
        ("all", "status all"),
        ("status 41", "why 41"),
        ("`resume` `acme/site`.", "resume acme/site"),
        ("resume --all", "resume all"),
        ("subscribe acme/site *merge*, `failure`", "subscribe acme/site merge failure"),
        ("board “off”", "board off"),
        ("default `off`", "default off"),
        ("me mentions OFF.", "me mentions off"),
        ("help `pause`", "help pause"),
        ("stats acme/site checks", "stats checks acme/site"),
        ("site status", "status acme/site"),
        ("freeze now `branch:main` x", "freeze now branch:main x"),
        ("pause \u2013now x", "pause now x"),
        ("pause `45m` x", "pause 45m x"),
        ("pause 45m, x", "pause 45m x"),
        ("pause “until 15:00” x", "pause until 15:00 x"),
    ],
)
def test_keywords_options_and_numbers_are_read_whatever_surrounds_them(
    typed: str, like: str
) -> None:
    def result(text: str) -> object:
        try:
            return read(text)
        except Exception as error:  # noqa: BLE001 - the same refusal counts as the same
            return type(error)

    assert result(typed) == result(like)


def test_a_word_keeps_its_place_and_its_text() -> None:
    text = "  *pause*\u00a0 `acme/site`:  CI\tis  down "
    words = read_words(text)
    assert [word.bare for word in words] == ["pause", "acme/site", "ci", "is", "down"]
    assert all(text[word.start : word.end] == word.typed for word in words)
    assert text_of(text, words[2:]) == "CI\tis  down"
    assert [word.bare for word in command_words("@merge-queue", CALLED)] == []


OF_ACME = Group("acme/*", (SITE, API, DOCS, HIDDEN))


@pytest.mark.parametrize(
    "typed",
    ["acme/*", "ACME/*", "`acme/*`", "@acme/*", "“acme/*”", "acme/*,", "(acme/*)", "acme / *"],
)
def test_an_owner_with_a_star_means_all_of_its_repositories(typed: str) -> None:
    for command in (f"status {typed}", f"subscribe {typed} merge", f"subscribe merge {typed}"):
        assert read(command).where == OF_ACME
    paused = read(f"pause {typed} 45m CI is down")
    assert (paused.where, reason_of(paused)) == (OF_ACME, "CI is down")


@pytest.mark.parametrize("typed", ["nobody/*", "`nobody/*`", "@nobody/*"])
def test_an_unknown_owner_with_a_star_is_no_reason_and_no_topic(typed: str) -> None:
    for command in (f"pause {typed} broken", f"subscribe {typed} merge", f"resume {typed}"):
        with pytest.raises((RepositoryNotAllowed, UnknownGroup)):
            read(command)


def test_an_owner_with_a_star_in_a_reason_asks_and_in_a_branch_does_not() -> None:
    with pytest.raises(TargetNotClear):
        read("pause deploying acme/* today")
    request = read("subscribe acme/site merge branch:release/*")
    assert (request.where, request.options["options"].branches) == (SITE, {"release/*"})
