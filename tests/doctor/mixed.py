"""Nasty stories: several things went wrong, or one looks like three others at the same time."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from bot.doctor.diagnosis import QueueVerdict
from bot.doctor.facts import NoAnswer, ServiceProblem
from bot.merge_queue.event_types import CHECKS_NOT_STARTED
from tests.doctor.story import (
    CHECKS,
    RETRIED,
    Batch,
    Story,
    Telling,
    at,
    details,
    frozen,
    live,
    paused,
    queued,
    status,
    stored,
    story,
)
from tests.doctor.verdicts import usual

PASSED = dict.fromkeys(CHECKS, "success")
RUNNING = {**PASSED, "integration": "pending"}


def after_the_fact() -> Iterator[Story]:
    """What has been is not what is."""
    told = usual(-130)
    for n, check in enumerate(("lint", "unit tests", "e2e", "docs", "lint", "smoke")):
        told.fails(40 + n, start=-125 + 4 * n, end=-119 + 4 * n, failed=[check])
    told.enter(-80, 60)
    yield story(
        "a storm, then a pause of an hour and a half, which has just ended (not: a storm)",
        QueueVerdict.UNKNOWN,
        queue=status(live(queued(60, -80), start=-6), waiting=[queued(61, -70)]),
        told=stored(told),
        releases=[at(-7)],
    )
    told = usual(-150)
    told.enter(-145, 41)
    for n in range(3):
        stopped = Batch((41,), -140 + 30 * n, -130 + 30 * n)
        told.start(stopped)
        code = "PR_CHECKS_STOPPED_BECAUSE_MERGE_QUEUE_PAUSE"
        told.end(stopped, code=code, status=RETRIED, state="cancelled")
    yield story(
        "three short pauses stopped the checks of #41 each time; the last one is just over",
        QueueVerdict.NORMAL,
        queue=status(live(queued(41, -145), start=-8)),
        told=stored(told),
        releases=[at(-9)],
    )
    told = usual(-190)
    for n in range(4):
        told.fails(41 + n, start=-185 + 10 * n, end=-178 + 10 * n)
    told.enter(-70, 60)
    yield story(
        "integration broke three hours ago, then nobody queued anything until an hour ago",
        QueueVerdict.HANGS,
        queue=status(live(queued(60, -70), start=-68, passed=2)),
        told=stored(told),
        details=details(RUNNING),
    )


def empty_and_more() -> Iterator[Story]:
    invalid = ServiceProblem(NoAnswer.INVALID, "422: queue_rules: extra keys not allowed")
    yield story(
        "nothing is queued, and the service says that the configuration is invalid",
        QueueVerdict.MISCONFIGURED,
        queue=status(),
        told=stored(usual(-40)),
        problem=invalid,
    )
    yield story(
        "nothing is queued, and nobody knows whether it is paused",
        QueueVerdict.UNKNOWN,
        queue=status(),
        told=stored(usual(-40)),
        is_pause_known=False,
    )


def two_branches() -> Iterator[Story]:
    release = Telling(branch="release/4.2")
    release.usual(-90)
    for n in range(5):
        release.fails(70 + n, start=-85 + 15 * n, end=-75 + 15 * n)
    main = usual(-6)
    main.enter(-5, 41)
    yield story(
        "integration fails in every batch of the release branch, while main merges",
        QueueVerdict.NORMAL,
        queue=status(live(queued(41, -5), start=-4)),
        told=stored(release, main),
    )
    release = Telling(branch="release/4.2")
    release.usual(-100)
    release.enter(-95, 70)
    for n in range(4):
        release.restarts(70, start=-94 + 20 * n, end=-80 + 20 * n, code="MERGE_QUEUE_RESET")
    main = usual(-3)
    yield story(
        "somebody pushes to the release branch time and again, while main merges",
        QueueVerdict.RESTARTED,
        queue=status(live(queued(70, -95), start=-15)),
        told=stored(release, main),
    )


def one_pull_request_and_the_others() -> Iterator[Story]:
    told = usual(-120)
    told.enter(-118, 42)
    for n in range(3):
        told.enter(-117 + 30 * n, 41)
        batch = Batch((41,), -115 + 30 * n, -100 + 30 * n)
        told.start(batch)
        told.end(batch, code="CHECKS_FAILED", failed=["unit tests"])
        told.leave(batch.end + 0.1, 41, "CHECKS_FAILED", ["unit tests"])
        told.restarts(42, start=-114 + 30 * n, end=-99.8 + 30 * n, code="PR_AHEAD_DEQUEUED")
    told.enter(-30, 41)
    yield story(
        "#41 fails three times ahead of #42, whose checks start over for it each time",
        QueueVerdict.COMES_BACK,
        queue=status(live(queued(41, -30), start=-12), waiting=[queued(42, -118)]),
        told=stored(told),
    )
    told = usual(-130)
    for n in range(4):
        told.enter(-125 + 25 * n, 41)
        told.leave(-115 + 25 * n, 41, "CONFLICT_WITH_BASE_BRANCH")
    told.enter(-30, 41)
    yield story(
        "#41 is queued again and again although it conflicts with main",
        QueueVerdict.COMES_BACK,
        queue=status(live(queued(41, -30), code="preparing", start=None, passed=0, total=0)),
        told=stored(told),
    )
    told = usual(-130)
    for n in range(3):
        told.fails(41, start=-120 + 40 * n, end=-100 + 40 * n, failed=["unit tests"])
    yield story(
        "#41 has just failed for the third time, and nothing else is queued",
        QueueVerdict.EMPTY,
        QueueVerdict.COMES_BACK,
        queue=status(),
        told=stored(told),
    )
    told = usual(-130)
    for n in range(4):
        told.enter(-125 + 25 * n, 41 + n)
        told.leave(-115 + 25 * n, 41 + n, "CONFLICT_WITH_BASE_BRANCH")
    yield story(
        "four different ones conflict with main, one after the other (not: comes back)",
        QueueVerdict.UNKNOWN,
        queue=status(live(queued(60, -80), start=-10)),
        told=stored(told),
    )


def two_at_once() -> Iterator[Story]:
    told = usual(-150)
    told.enter(-148, 41)
    for n in range(3):
        told.restarts(41, start=-146 + 24 * n, end=-130 + 24 * n, code="MERGE_QUEUE_RESET")
    yield story(
        "three merges around the queue, and since then a check hangs",
        QueueVerdict.RESTARTED,
        QueueVerdict.HANGS,
        queue=status(live(queued(41, -148), start=-80, passed=2)),
        told=stored(told),
        details=details(RUNNING),
    )
    told = usual(-100)
    told.enter(-98, 41, 42)
    for minute in (-80, -60, -40):
        told.add(CHECKS_NOT_STARTED, minute, 42, reason="The branch could not be created")
    head = live(queued(41, -98, depends_on_pull_requests=[7]), code="waiting_for_merge", start=-95)
    yield story(
        "#41 waits for one outside the queue, and the checks of #42 can't be started",
        QueueVerdict.HELD,
        QueueVerdict.NEVER_START,
        queue=status(head, waiting=[queued(42, -98)]),
        told=stored(told),
    )
    told = usual(-100)
    for n in range(4):
        told.fails(40 + n, start=-95 + 12 * n, end=-87 + 12 * n)
    yield story(
        "integration failed in every batch, so somebody paused; nobody may know for how long",
        QueueVerdict.PAUSED,
        QueueVerdict.SAME_CHECK,
        queue=status(waiting=[queued(50, -40)], pause={"paused": True}),
        told=stored(told),
        is_pause_known=False,
    )


def half_known() -> Iterator[Story]:
    told = usual(-110)
    told.enter(-100, 41)
    batch = Batch((41,), -98, -86)
    told.start(batch)
    told.end(batch)
    yield story(
        "the log is half an hour old, and the head has been green for longer",
        QueueVerdict.DONE,
        queue=status(live(queued(41, -100), code="waiting_for_merge", start=-98, passed=3)),
        told=stored(told, read=-30),
    )
    exempt = frozen(-300)
    terms = exempt.terms.model_copy(update={"exclude_conditions": ("label=hotfix",)})
    yield story(
        "everything is frozen but hotfixes, and the check of a hotfix hangs",
        QueueVerdict.HANGS,
        queue=status(
            live(queued(41, -70), start=-68, passed=2),
            live(queued(42, -200, is_frozen=True), code="frozen", start=-190, passed=3),
        ),
        told=stored(usual(-72)),
        freezes=(replace(exempt, terms=terms),),
        details=details(RUNNING),
    )
    told = usual(-75)
    for n in range(3):
        told.fails(41 + n, start=-60 + 14 * n, end=-50 + 14 * n, failed=[])
    yield story(
        "three fail in a row, and the service names no check (not: same check)",
        QueueVerdict.UNKNOWN,
        queue=status(live(queued(60, -65), start=-8)),
        told=stored(told),
    )
    yield story(
        "paused by a person, with the head's check hanging since before",
        QueueVerdict.PAUSED,
        queue=status(live(queued(41, -90), start=-88, passed=2)),
        told=stored(usual(-95)),
        pause=paused(-30, "looking into it"),
        details=details(RUNNING),
    )


MIXED: Sequence[Story] = (
    *after_the_fact(),
    *empty_and_more(),
    *two_branches(),
    *one_pull_request_and_the_others(),
    *two_at_once(),
    *half_known(),
)
