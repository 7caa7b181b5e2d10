"""What people say, in channels, threads and direct messages, and what the bot understands."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bot.acts.asked import Asked
from bot.desk.situation import KnownPullRequest, Situation, ThreadSubject
from bot.desk.understanding import NotUnderstood, Unclear, Understanding, Understood, understand
from bot.kernel.durations import For, Lasting, written
from bot.kernel.errors import CommandSyntaxError
from bot.kernel.groups import Groups, Repositories, read_groups, target_value
from bot.kernel.repository import RepositoryName
from bot.pauses.pause import DrawnLine
from tests.support.make import API, SITE
from tests.unit.domain import understood as places
from tests.unit.domain.understood import TRIED_LATER, UNDERSTOOD

DOCS = RepositoryName("acme/docs")
KNOWN = Repositories((SITE, API, DOCS, RepositoryName("umbrella/docs")))
GROUPS = Groups(read_groups("release=acme/site,acme/api"), KNOWN)
CALLED = ("/mq", "merge-queue")
PAUSED_AT = datetime(2026, 11, 28, 12, tzinfo=UTC)


def at(thread: ThreadSubject) -> Situation:
    return Situation(GROUPS, CALLED, default=SITE, thread=thread)


PLACES = {
    places.CHANNEL: Situation(GROUPS, CALLED, default=SITE),
    places.ELSEWHERE: Situation(GROUPS, CALLED),
    places.SUBSCRIBED: Situation(GROUPS, CALLED, subscribed=[API]),
    places.BETWEEN: Situation(
        GROUPS, CALLED, default=RepositoryName("acme/gone"), subscribed=[API, DOCS]
    ),
    places.PAUSE_THREAD: at(ThreadSubject(API, pause=DrawnLine(PAUSED_AT))),
    places.FAILURE_THREAD: at(ThreadSubject(API, pull_request=41)),
    places.GROUP_THREAD: at(ThreadSubject(SITE, group="release")),
    places.FREEZE_THREAD: at(ThreadSubject(API, freeze_id="8f3c")),
    places.DIRECT: Situation(GROUPS, CALLED, is_direct=True, mine=[KnownPullRequest(DOCS, 7)]),
}


def in_words(understanding: Understanding) -> str:
    match understanding:
        case Understood() as understood:
            return _command(understood)
        case Unclear(because=because, own=own):
            readings = [
                " ".join(
                    filter(
                        None,
                        [
                            because.action,
                            reading.target or (target_value(own) if own is not None else None),
                            _in_brackets(reading.reason),
                        ],
                    )
                )
                for reading in because.readings
            ]
            return f"ask: {', or '.join(readings)}"
        case NotUnderstood(error=error):
            if error.instead:
                return f"offer: {', or '.join(error.instead)}"
            is_lost = isinstance(error, CommandSyntaxError) and not error.verb
            return "help" if is_lost else "refuse"


def _command(understood: Understood) -> str:
    request = understood.request
    options = request.options
    asked = options.get("asked", Asked(options.get("reason", "")))
    lasting: Lasting | None = options.get("lasting") or asked.lasting
    where = target_value(understood.where) if understood.where is not None else ""
    if understood.where is None and request.needs_repository:
        where = "?"
    number = options.get("pull_request")
    parts = [
        request.action,
        "now" if options.get("is_confirmed") else "",
        where,
        f"#{number}" if number else "",
        _start_in_words(asked),
        written(lasting) if lasting is not None else "",
        options.get("verb") or "",
        _in_brackets(asked.reason),
    ]
    said = " ".join(filter(None, parts))
    if asked.doubt is not None:
        said += ", until when?"
    if options.get("freeze_id"):
        said += ", that freeze"
    return f"{said}, if unchanged" if options.get("expected") else said


def _start_in_words(asked: Asked) -> str:
    if isinstance(asked.start, For):
        return f"in {written(asked.start)}"
    return written(asked.start).replace("until", "from") if asked.start is not None else ""


def _in_brackets(reason: str) -> str:
    return f"({reason})" if reason else ""


@pytest.mark.parametrize(("place", "typed", "meaning"), [*UNDERSTOOD, *TRIED_LATER])
def test_what_people_type_is_understood_by_its_place(place: str, typed: str, meaning: str) -> None:
    assert in_words(understand(typed, PLACES[place])) == meaning


@pytest.mark.parametrize("typed", ["resume", "extend 1h", "takeover", "status"])
def test_in_the_thread_of_a_group_that_is_gone_the_channels_queue_is_not_meant(typed: str) -> None:
    there = at(ThreadSubject(SITE, group="gone"))
    understood = understand(typed, replace(there, default=API))
    assert isinstance(understood, Understood)
    assert (understood.where, understood.is_named) == (None, False)


@pytest.mark.parametrize("typed", ["resume", "extend 1h", "takeover"])
def test_what_a_groups_earlier_pause_showed_is_not_changed_in_its_thread(typed: str) -> None:
    over = at(ThreadSubject(SITE, group="release", is_group_over=True))
    said = understand(typed, over)
    assert isinstance(said, NotUnderstood)
    assert str(said.error) == "The pause that this thread is about is over."
    assert isinstance(understand("status", over), Understood)


@pytest.mark.parametrize(
    ("typed", "meaning"),
    [
        ("pause deploying", "pause acme/site (deploying)"),
        ("pause deployed", "pause acme/site (deployed)"),
        ("pause deploy", "ask: pause acme/deploy, or pause acme/site (deploy)"),
        ("pause deplyo", "ask: pause acme/deploy, or pause acme/site (deplyo)"),
    ],
)
def test_a_lone_word_that_says_what_happens_is_no_misspelled_queue(
    typed: str, meaning: str
) -> None:
    groups = Groups((), Repositories((SITE, RepositoryName("acme/deploy"))))
    here = Situation(groups, CALLED, default=SITE)
    assert in_words(understand(typed, here)) == meaning


@pytest.mark.parametrize(
    ("typed", "problem"),
    [
        (
            "why main",
            "Which pull request? I couldn't find a number in “main”, and don't know branches.",
        ),
        (
            "why feature/login",
            "I don't manage “feature/login”. If it's a branch, type its pull request's number.",
        ),
        ("why https://code.example/acme/other/pull/3", "acme/other"),
        (
            "why is feature/login stuck",
            "I don't manage “feature/login”. If it's a branch, type its pull request's number.",
        ),
    ],
)
def test_who_asks_about_a_branch_learns_that_the_number_is_needed(typed: str, problem: str) -> None:
    said = understand(typed, PLACES[places.CHANNEL])
    assert isinstance(said, NotUnderstood)
    assert str(said.error) == problem
