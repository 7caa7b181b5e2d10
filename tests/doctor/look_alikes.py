"""Stories that look like another verdict: what must not be blamed."""

from collections.abc import Iterator, Sequence

from bot.doctor.diagnosis import QueueVerdict
from bot.doctor.facts import NoAnswer, ServiceProblem
from bot.merge_queue.event_types import CHECKS_END, CHECKS_NOT_STARTED, LEAVE
from tests.doctor.story import (
    CHECKS,
    Batch,
    Story,
    Telling,
    at,
    details,
    frozen,
    live,
    queued,
    status,
    stored,
    story,
)
from tests.doctor.verdicts import usual

RUNNING = dict(zip(CHECKS, ("success", "success", "pending"), strict=True))


def runners_or_the_head() -> Iterator[Story]:
    """Runners that are starved, against one bad head."""
    head = live(queued(41, -70), start=-65, passed=0, total=3)
    behind = live(queued(42, -60), start=-55, passed=2, total=3, after=[head])
    yield story(
        "the head's checks don't pass while those behind it do (not: runners)",
        QueueVerdict.HANGS,
        queue=status(head, behind),
        told=stored(usual(-72)),
        details=details(dict.fromkeys(CHECKS, "pending")),
    )
    yield story(
        "one batch alone has no result yet (not: runners, not: hangs)",
        QueueVerdict.UNKNOWN,
        queue=status(live(queued(41, -70), start=-65, passed=0, total=3)),
        told=stored(usual(-72)),
        details=details(dict.fromkeys(CHECKS, "pending")),
    )
    told = usual(-60)
    told.enter(-58, 41, 42, 43)
    for numbers in ((41,), (41, 42), (41, 42, 43)):
        batch = Batch(numbers, -55, -40)
        told.start(batch)
        told.end(batch, code="CHECKS_FAILED", failed=["integration"])
    told.leave(-39, 41, "CHECKS_FAILED", ["integration"])
    yield story(
        "a bad head fails with the batches that were tested on top of it (not: same check)",
        QueueVerdict.UNKNOWN,
        queue=status(live(queued(42, -58), start=-30), waiting=[queued(43, -58)]),
        told=stored(told),
    )
    told = usual(-60)
    told.enter(-58, 41, 42, 43)
    for number in (41, 42, 43):
        batch = Batch((number,), -55, -40 + number / 100)
        told.start(batch)
        told.end(batch, code="CHECKS_FAILED", failed=["integration"])
    yield story(
        "three batches run side by side on a bad head, and name only their own (not: same check)",
        QueueVerdict.UNKNOWN,
        queue=status(live(queued(42, -58), start=-30), waiting=[queued(43, -58)]),
        told=stored(told),
    )


def summary_or_check() -> Iterator[Story]:
    """A count of checks that no longer moves, against a check that hangs."""
    yield story(
        "18 of 20 passed for an hour and a half, and no service says which (not: hangs)",
        QueueVerdict.UNKNOWN,
        queue=status(live(queued(41, -95), start=-90, passed=18, total=20)),
        told=stored(usual(-97)),
    )
    yield story(
        "the count stands at 2 of 3, but all checks have passed (not: hangs)",
        QueueVerdict.DONE,
        queue=status(live(queued(41, -95), start=-90, passed=2, total=3)),
        told=stored(usual(-97)),
        details=details(dict.fromkeys(CHECKS, "success")),
    )
    yield story(
        "a service that never counts checks (not: never start)",
        QueueVerdict.UNKNOWN,
        queue=status(live(queued(41, -50), start=-45, passed=0, total=0)),
        told=stored(usual(-52)),
    )
    yield story(
        "the checks have run as long as they usually do (not: hangs)",
        QueueVerdict.NORMAL,
        queue=status(live(queued(41, -12), start=-11, passed=2)),
        told=stored(usual(-14)),
        details=details(RUNNING),
    )


def silence_or_quiet() -> Iterator[Story]:
    """A silent service, against a quiet night."""
    yield story(
        "a quiet night: nothing for nine hours, and nothing queued (not: no answer)",
        QueueVerdict.EMPTY,
        queue=status(),
        told=stored(usual(-540)),
    )
    silent = ServiceProblem(NoAnswer.SILENT, last_answer_at=at(-45))
    yield story(
        "no answer since a quiet evening (not: nothing queued)",
        QueueVerdict.NO_ANSWER,
        queue=None,
        told=stored(usual(-300), read=-45),
        problem=silent,
    )
    yield story(
        "the log hasn't been read for an hour, so that merges may be missing (not: stalled)",
        QueueVerdict.UNKNOWN,
        queue=status(live(queued(41, -90), start=-5), waiting=[42]),
        told=stored(usual(-92), read=-60),
    )
    yield story(
        "an answer with entries that can't be read (not: nothing queued)",
        QueueVerdict.UNKNOWN,
        queue=status(unreadable=2),
        told=stored(usual(-30)),
    )


def restart_or_eviction() -> Iterator[Story]:
    """A restart by a push, against a pull request that is thrown out."""
    told = usual(-64)
    for n in range(3):
        number = 41 + n
        told.enter(-60 + 12 * n, number)
        batch = Batch((number,), -59 + 12 * n, -52 + 12 * n)
        told.start(batch)
        told.end(batch, code="PULL_REQUEST_UPDATED", state="cancelled")
        told.leave(batch.end, number, "PULL_REQUEST_UPDATED")
    yield story(
        "three people push to their own pull requests, which leave (not: restarts)",
        QueueVerdict.UNKNOWN,
        queue=status(live(queued(50, -50), start=-20)),
        told=stored(told),
    )
    told = usual(-64)
    told.enter(-62, 41)
    for n in range(3):
        end = -50 + 14 * n
        told.enter(-63, 50 + n)
        told.leave(end - 0.1, 50 + n, "CHECKS_FAILED", [f"own test {n}"])
        told.restarts(41, start=end - 10, end=end, code="PR_AHEAD_DEQUEUED")
    yield story(
        "the checks start over because others ahead failed (not: restarts by people)",
        QueueVerdict.UNKNOWN,
        queue=status(live(queued(41, -62), start=-20)),
        told=stored(told),
    )
    told = usual(-64)
    told.enter(-62, 41, 42)
    for n in range(3):
        begun = -60 + 14 * n
        told.restarts(41, start=begun, end=begun + 10, code="MERGE_QUEUE_RESET")
        told.restarts(42, start=begun, end=begun + 10, code="PR_WITH_HIGHER_PRIORITY_QUEUED")
    yield story(
        "the checks of two batches start over for two reasons at once (not: merges around)",
        QueueVerdict.UNKNOWN,
        queue=status(live(queued(41, -62), start=-20)),
        told=stored(told),
    )
    told = usual(-64)
    told.enter(-62, *range(41, 47))
    for number in range(41, 47):
        told.restarts(number, start=-60, end=-40, code="MERGE_QUEUE_RESET")
    yield story(
        "one push to main restarts six batches at once (not: six restarts)",
        QueueVerdict.UNKNOWN,
        queue=status(*(live(queued(n, -62), start=-38) for n in range(41, 44))),
        told=stored(told),
    )


def low_or_stalled() -> Iterator[Story]:
    """A low queue, against one that has stalled."""
    told = Telling()
    told.usual(-400, count=25, every=40)
    told.enter(-9, 41)
    yield story(
        "the only pull request of the day came nine minutes ago (not: stalled)",
        QueueVerdict.NORMAL,
        queue=status(live(queued(41, -9), start=-8)),
        told=stored(told),
    )
    other = Telling(branch="release")
    other.usual(-3, count=25)
    main = usual(-130)
    main.enter(-125, 41)
    yield story(
        "merges go on into another branch, and main stands still (not: merging normally)",
        QueueVerdict.HANGS,
        queue=status(live(queued(41, -125), start=-120, passed=2)),
        told=stored(other, main),
        details=details(RUNNING),
    )
    told = usual(-40)
    told.enter(-35, 41)
    yield story(
        "no batch just now, right after one failed (not: never start)",
        QueueVerdict.UNKNOWN,
        queue=status(waiting=[queued(42, -90)]),
        told=stored(_one_failed_at(-2)),
    )


def _one_failed_at(minute: float) -> Telling:
    told = usual(-100)
    told.enter(-90, 42)
    told.fails(41, start=minute - 60, end=minute)
    return told


def held_alone() -> Iterator[Story]:
    """A batch whose only pull request is held."""
    yield story(
        "the only pull request is held, and nothing waits for it (not: merging normally)",
        QueueVerdict.HELD,
        queue=status(
            live(
                queued(41, -95, depends_on_pull_requests=[39]), code="waiting_for_merge", start=-90
            )
        ),
        told=stored(usual(-97)),
    )
    held = live(queued(41, -95, depends_on_pull_requests=[39]), code="waiting_for_merge", start=-90)
    yield story(
        "one is held, and the others merge past it (not: it blocks others)",
        QueueVerdict.NORMAL,
        queue=status(held, live(queued(42, -6), start=-5), waiting=[43]),
        told=stored(usual(-7)),
    )
    yield story(
        "a freeze of another branch (not: frozen)",
        QueueVerdict.NORMAL,
        queue=status(live(queued(3_100, -5), start=-4)),
        told=stored(_on_main(3_100, -5)),
        freezes=(frozen(-300, "base=release/4.2"),),
    )
    yield story(
        "a freeze with conditions that only the service reads, while it merges (not: frozen)",
        QueueVerdict.NORMAL,
        queue=status(live(queued(3_100, -5), start=-4)),
        told=stored(_on_main(3_100, -5)),
        freezes=(frozen(-300, "label=risky"),),
    )


def _on_main(number: int, minute: float) -> Telling:
    told = usual(minute - 2)
    told.enter(minute, number)
    return told


def failures() -> Iterator[Story]:
    told = usual(-100)
    for n in range(3):
        told.fails(41 + n, start=-95 + 9 * n, end=-88 + 9 * n)
    told.passes(50, start=-60, end=-48)
    told.passes(51, start=-20, end=-6)
    yield story(
        "integration failed three times, and has passed since (not: same check)",
        QueueVerdict.NORMAL,
        queue=status(live(52, start=-4)),
        told=stored(told),
    )
    told = usual(-100)
    told.fails(41, 42, 43, 44, start=-95, end=-80)
    told.fails(41, 42, start=-78, end=-60)
    told.fails(41, start=-58, end=-40)
    yield story(
        "a bisection finds one pull request (not: same check)",
        QueueVerdict.UNKNOWN,
        queue=status(live(queued(42, -96), queued(43, -96), start=-20)),
        told=stored(told),
    )
    told = usual(-300)
    for n in range(6):
        told.fails(41 + n, start=-290 + 45 * n, end=-260 + 45 * n, failed=[f"own test {n}"])
    yield story(
        "six fail over four hours, each with its own test (not: a storm)",
        QueueVerdict.UNKNOWN,
        queue=status(live(queued(60, -200), start=-3)),
        told=stored(told),
    )
    told = usual(-100)
    for n in range(3):
        told.fails(41 + n, start=-95 + 9 * n, end=-88 + 9 * n, failed=["lint"])
        told.fails(51 + n, start=-60 + 9 * n, end=-52 + 9 * n, failed=["e2e"])
    yield story(
        "two checks fail by turns, in no batch together (not: same check, not: a storm)",
        QueueVerdict.UNKNOWN,
        queue=status(live(queued(60, -80), start=-3)),
        told=stored(told),
    )
    told = usual(-100)
    for number, minute in ((41, -60), (42, -50)):
        told.enter(minute - 3, number)
        told.leave(minute, number, "CONFIGURATION_CHANGED")
    yield story(
        "the configuration changed under two pull requests (not: invalid)",
        QueueVerdict.UNKNOWN,
        queue=status(live(queued(60, -95), start=-10)),
        told=stored(told),
    )
    told = usual(-100)
    told.enter(-95, 41)
    told.add(CHECKS_NOT_STARTED, -90, 41, reason="The branch could not be created")
    batch = Batch((41,), -85, 0)
    told.start(batch)
    yield story(
        "the checks didn't start once, and then did (not: never start)",
        QueueVerdict.UNKNOWN,
        queue=status(live(queued(41, -95), start=-85, passed=2)),
        told=stored(told),
    )


def little_is_read() -> Iterator[Story]:
    told = usual(-3)
    yield story(
        "leaves and ends of checks are read, and no merges (not: stalled)",
        QueueVerdict.NORMAL,
        queue=status(live(queued(41, -8), start=-7)),
        told=stored(told, types=[LEAVE, CHECKS_END]),
    )
    yield story(
        "no merge is read, and the queue is long (not: stalled, not: normal)",
        QueueVerdict.UNKNOWN,
        queue=status(live(queued(41, -100), start=-7), waiting=list(range(50, 90))),
        told=stored(told, types=[CHECKS_NOT_STARTED]),
    )
    yield story(
        "the bot began to read ten minutes ago (not: never start, not: stalled)",
        QueueVerdict.UNKNOWN,
        queue=status(waiting=[queued(41, -200)]),
        told=stored(Telling(), since=-10),
    )
    yield story(
        "nobody knows whether it is paused (not: never start)",
        QueueVerdict.UNKNOWN,
        queue=status(waiting=[queued(41, -100)]),
        told=stored(usual(-102)),
        is_pause_known=False,
    )
    yield story(
        "the checks of the head ended a minute ago (not: done and nothing happens)",
        QueueVerdict.NORMAL,
        queue=status(live(queued(41, -14), code="waiting_for_merge", start=-13, passed=3)),
        told=stored(usual(-15)),
        details=details(dict.fromkeys(CHECKS, "success")),
    )
    yield story(
        "the runners were slow yesterday evening, and are quick again (not: checks start late)",
        QueueVerdict.NORMAL,
        queue=status(live(queued(41, -6), start=-5)),
        told=stored(_slow_long_ago()),
    )


def _slow_long_ago() -> Telling:
    told = Telling()
    told.usual(-700, count=25)
    for n in range(4):
        told.passes(40 + n, start=-690 + 35 * n, end=-657 + 35 * n, first_check=20)
    for n in range(6):
        told.passes(60 + n, start=-100 + 15 * n, end=-88 + 15 * n)
    return told


LOOK_ALIKES: Sequence[Story] = (
    *runners_or_the_head(),
    *summary_or_check(),
    *silence_or_quiet(),
    *restart_or_eviction(),
    *low_or_stalled(),
    *held_alone(),
    *failures(),
    *little_is_read(),
)
