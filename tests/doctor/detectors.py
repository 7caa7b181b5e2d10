"""Stories and look-alikes of what keeps a queue from merging without being a verdict of its own.

A pull request put back and thrown out; checks that never start; green, and nothing moves; one that
blocks many; checks that start over, by cause; the same check in every batch; a storm.
"""

from collections.abc import Iterator, Sequence

from bot.doctor.diagnosis import QueueVerdict, Restart
from bot.merge_queue.event_types import CHECKS_NOT_STARTED
from tests.doctor.story import (
    CHECKS,
    RETRIED,
    Batch,
    Sent,
    Story,
    Telling,
    at,
    details,
    live,
    queued,
    restarts,
    status,
    stored,
    story,
)
from tests.doctor.verdicts import usual

PASSED = dict.fromkeys(CHECKS, "success")


def comes_back() -> Iterator[Story]:
    told = usual(-200)
    for n in range(6):
        told.fails(41, start=-195 + 30 * n, end=-185 + 30 * n, failed=[CHECKS[n % 3]])
    told.enter(-8, 41)
    yield story(
        "#41 is put back six times and fails at another check each time",
        QueueVerdict.COMES_BACK,
        queue=status(live(queued(41, -8), start=-6), waiting=[queued(42, -90)]),
        told=stored(told),
    )
    told = usual(-130)
    for n in range(3):
        told.enter(-125 + 40 * n, 41)
        batch = Batch((41,), -124 + 40 * n, -100 + 40 * n)
        told.start(batch)
        told.end(batch, code="CHECKS_TIMEOUT", failed=["e2e"], state="timed_out")
        told.leave(batch.end, 41, "CHECKS_TIMEOUT", ["e2e"])
    told.enter(-15, 41)
    yield story(
        "#41 times out three times, and is queued a fourth time",
        QueueVerdict.COMES_BACK,
        queue=status(live(queued(41, -15), start=-12), waiting=[queued(43, -80)]),
        told=stored(told),
    )
    told = usual(-150)
    for n in range(3):
        told.fails(41, start=-145 + 40 * n, end=-125 + 40 * n, failed=["unit tests"])
    told.fails(50, start=-60, end=-50, failed=["lint"])
    told.enter(-20, 41)
    yield story(
        "#41 fails three times, and another one once in between",
        QueueVerdict.COMES_BACK,
        queue=status(live(queued(41, -20), start=-15), waiting=[queued(44, -40)]),
        told=stored(told),
    )


def comes_back_not() -> Iterator[Story]:
    told = usual(-100)
    told.enter(-98, 41)
    for n in range(3):
        batch = Batch((41,), -95 + 30 * n, -80 + 30 * n)
        told.start(batch)
        told.end(batch, code="CHECKS_RETRIED", status=RETRIED, failed=["e2e"])
    yield story(
        "the service itself retries the checks of #41 in one stay (not: comes back)",
        QueueVerdict.UNKNOWN,
        queue=status(live(queued(41, -98), start=-5), waiting=[queued(42, -90)]),
        told=stored(told),
    )
    told = usual(-4)
    for n in range(3):
        told.fails(41, start=-200 + 50 * n, end=-190 + 50 * n)
    told.enter(-3, 42)
    yield story(
        "#41 failed three times while all others merge (not: comes back)",
        QueueVerdict.NORMAL,
        queue=status(live(queued(42, -3), start=-2)),
        told=stored(told),
    )


def never_start() -> Iterator[Story]:
    told = usual(-70)
    told.enter(-65, 41)
    told.add(CHECKS_NOT_STARTED, -60, 41, reason="Branch protection refuses the draft")
    told.add(CHECKS_NOT_STARTED, -30, 41, reason="Branch protection refuses the draft")
    yield story(
        "the service fails twice to start the checks of #41, with many behind it",
        QueueVerdict.NEVER_START,
        queue=status(
            live(queued(41, -65), code="preparing", start=None, passed=0, total=0),
            waiting=[queued(number, -50) for number in range(50, 70)],
        ),
        told=stored(told),
    )
    head = live(queued(41, -50), start=-45, passed=0, total=0)
    yield story(
        "no check shows up for the head, while the batch behind it has some",
        QueueVerdict.NEVER_START,
        queue=status(head, live(queued(42, -40), start=-38, passed=2, after=[head])),
        told=stored(usual(-52)),
    )
    yield story(
        "nothing has been tested since the queue was resumed two hours ago",
        QueueVerdict.NEVER_START,
        queue=status(waiting=[queued(41, -300), queued(42, -290)]),
        told=stored(usual(-310)),
        releases=[at(-120)],
    )


def never_start_not() -> Iterator[Story]:
    yield story(
        "the batch began eight minutes ago and has no check yet (not: never start)",
        QueueVerdict.NORMAL,
        queue=status(live(queued(41, -10), start=-4, passed=0, total=0)),
        told=stored(usual(-12)),
        details=details({}),
    )
    yield story(
        "the only one has waited for its batch to fill for ten minutes (not: never start)",
        QueueVerdict.NORMAL,
        queue=status(waiting=[queued(41, -10)]),
        told=stored(usual(-12)),
    )

    told = usual(-60)
    told.enter(-50, 41)
    for minute in (-48, -40, -32):
        told.add(CHECKS_NOT_STARTED, minute, 41, reason="The branch could not be created")
    yield story(
        "the service failed three times to start checks, and two have passed (not: never start)",
        QueueVerdict.UNKNOWN,
        queue=status(live(queued(41, -50), start=-10, passed=2)),
        told=stored(told),
    )


def done() -> Iterator[Story]:
    told = usual(-60)
    told.enter(-55, 41, 42)
    batch = Batch((41, 42), -53, -41)
    told.start(batch)
    told.end(batch)
    waiting = live(queued(41, -55), queued(42, -55), code="waiting_for_merge", start=-53, passed=3)
    yield story(
        "a batch of two is green and nothing moves, with ten behind it",
        QueueVerdict.DONE,
        queue=status(waiting, waiting=[queued(number, -30) for number in range(50, 60)]),
        told=stored(told),
    )
    yield story(
        "the head is green and still counts as running, two conditions unmet",
        QueueVerdict.DONE,
        queue=status(live(queued(41, -100), start=-98, passed=3)),
        told=stored(usual(-105)),
        details=details(PASSED, unmet=["label=ready", "#approved-reviews-by >= 2"]),
    )
    green = live(queued(41, -80), code="waiting_for_merge", start=-78, passed=3)
    behind = live(queued(42, -70), start=-60, passed=3, after=[green])
    yield story(
        "the head is green, and so is the batch behind it",
        QueueVerdict.DONE,
        queue=status(green, behind),
        told=stored(usual(-85)),
        details=details(PASSED),
    )


def done_not() -> Iterator[Story]:
    yield story(
        "green, and frozen a moment ago (not: green and nothing moves)",
        QueueVerdict.FROZEN,
        queue=status(live(queued(41, -80, is_frozen=True), code="frozen", start=-78, passed=3)),
        told=stored(usual(-85)),
        details=details(PASSED),
    )
    yield story(
        "all checks but the slow one passed (not: green and nothing moves)",
        QueueVerdict.NORMAL,
        queue=status(live(queued(41, -14), start=-13, passed=2)),
        told=stored(usual(-15)),
        details=details({**PASSED, "integration": "pending"}),
    )
    yield story(
        "green, and it waits for another pull request (not: green and nothing moves)",
        QueueVerdict.HELD,
        queue=status(
            live(
                queued(41, -80, depends_on_pull_requests=[39]),
                code="waiting_for_merge",
                start=-78,
                passed=3,
            )
        ),
        told=stored(usual(-85)),
        details=details(PASSED),
    )


def held() -> Iterator[Story]:
    head = live(
        queued(41, -90, conflict_with_pull_requests=[39]), code="waiting_for_merge", start=-85
    )
    batches: list[Sent] = [head]
    for number in (42, 43, 44):
        state = "waiting_for_previous_batches"
        batches.append(live(queued(number, -80), code=state, start=-75, after=batches[-1:]))
    yield story(
        "a conflict of #41 blocks three batches, each built on the one before",
        QueueVerdict.HELD,
        queue=status(*batches),
        told=stored(usual(-95)),
    )
    yield story(
        "twelve wait for #41, which waits for one outside the queue",
        QueueVerdict.HELD,
        queue=status(
            waiting=[
                queued(41, -100, depends_on_pull_requests=[7]),
                *(queued(n, -90, depends_on_pull_requests=[41]) for n in range(50, 62)),
            ]
        ),
        told=stored(usual(-105)),
    )
    first = live(
        queued(41, -95, dequeue_requested=True), code="waiting_for_merge", start=-90, passed=3
    )
    yield story(
        "a removal of #41 that isn't carried out keeps one behind it back",
        QueueVerdict.HELD,
        queue=status(
            first, live(queued(42, -80), code="waiting_for_previous_batches", after=[first])
        ),
        told=stored(usual(-98)),
    )


def held_not() -> Iterator[Story]:
    yield story(
        "one waits for another for ten minutes, as dependencies do (not: blocks others)",
        QueueVerdict.NORMAL,
        queue=status(
            live(queued(41, -9), start=-8),
            waiting=[queued(42, -9, depends_on_pull_requests=[41])],
        ),
        told=stored(usual(-11)),
    )


def restarted_by_pushes() -> Iterator[Story]:
    told = usual(-80)
    told.enter(-75, 41)
    for n in range(4):
        told.enter(-74 + 15 * n, 50 + n)
        end = -62 + 15 * n
        told.leave(end - 0.2, 50 + n, "PULL_REQUEST_UPDATED")
        told.restarts(41, start=end - 10, end=end, code="PR_AHEAD_DEQUEUED")
    yield restarts(
        "four authors push to pull requests ahead of #41",
        {Restart.PUSH: 4},
        queue=status(live(queued(41, -75), start=-10)),
        told=told,
    )
    told = usual(-60)
    told.enter(-58, 41)
    for n in range(3):
        end = -45 + 14 * n
        told.restarts(41, start=end - 10, end=end, code="BATCH_AHEAD_BRANCH_EDITED")
    yield restarts(
        "somebody edits the branch of the batch ahead three times",
        {Restart.PUSH: 3},
        queue=status(live(queued(41, -58), start=-12)),
        told=told,
    )
    told = usual(-70)
    told.enter(-68, 41)
    for n in range(3):
        told.enter(-66 + 16 * n, 50)
        end = -54 + 16 * n
        told.leave(end, 50, "PULL_REQUEST_UPDATED")
        told.restarts(41, start=end - 8, end=end + 0.1, code="PR_AHEAD_DEQUEUED")
        told.enter(end + 3, 50)
    yield restarts(
        "the same author pushes to #50 and queues it again, three times: the push is the cause",
        {Restart.PUSH: 3},
        queue=status(live(queued(41, -68), start=-14), waiting=[queued(50, -19)]),
        told=told,
    )


def restarted_by_requeues() -> Iterator[Story]:
    told = usual(-70)
    told.enter(-69, 41)
    for n in range(3):
        told.enter(-67 + 17 * n, 50)
        end = -55 + 17 * n
        told.leave(end, 50, "PR_MANUALLY_DEQUEUED")
        told.restarts(41, start=end - 9, end=end + 0.2, code="PR_AHEAD_DEQUEUED")
        told.enter(end + 2, 50)
    yield restarts(
        "#50 is taken out and queued again three times, ahead of #41",
        {Restart.REQUEUE: 3},
        queue=status(live(queued(41, -69), start=-12), waiting=[queued(50, -19)]),
        told=told,
    )
    told = usual(-90)
    told.enter(-88, 41)
    for n in range(4):
        told.enter(-86 + 18 * n, 60 + n)
        end = -72 + 18 * n
        told.leave(end, 60 + n, "PR_DEQUEUED")
        told.restarts(41, start=end - 9, end=end + 0.2, code="PR_AHEAD_DEQUEUED")
        told.enter(end + 5, 60 + n)
    yield restarts(
        "four lose their label and get it back: each leaves and is queued again",
        {Restart.REQUEUE: 4},
        queue=status(live(queued(41, -88), start=-15), waiting=[queued(63, -13)]),
        told=told,
    )
    told = usual(-70)
    told.enter(-68, 41)
    for n in range(3):
        told.enter(-66 + 15 * n, 50 + n)
        taken_out = -60 + 15 * n
        told.leave(taken_out, 50 + n, "PR_MANUALLY_DEQUEUED")
        told.enter(taken_out + 4, 50 + n)
        told.restarts(
            41,
            start=taken_out - 4,
            end=taken_out + 4.1,
            code="PR_WITH_HIGHER_PRIORITY_QUEUED",
        )
    yield restarts(
        "three are taken out and queued again with a higher priority, to jump the line",
        {Restart.REQUEUE: 3},
        queue=status(live(queued(41, -68), start=-10), waiting=[52]),
        told=told,
    )


def restarted_by_merges() -> Iterator[Story]:
    told = usual(-70)
    told.enter(-68, 41)
    for n in range(3):
        told.enter(-67, 50 + n)
        end = -55 + 15 * n
        told.leave(end, 50 + n, "PR_MANUALLY_MERGED")
        told.restarts(41, start=end - 9, end=end + 0.1, code="MERGE_QUEUE_RESET")
    yield restarts(
        "three queued pull requests are merged by hand",
        {Restart.MERGE: 3},
        queue=status(live(queued(41, -68), start=-14)),
        told=told,
    )
    told = usual(-70)
    told.enter(-68, 41, 42)
    for n in range(5):
        told.restarts(41, 42, start=-66 + 12 * n, end=-56 + 12 * n, code="MERGE_QUEUE_RESET")
    yield restarts(
        "somebody pushes to main five times, past the queue",
        {Restart.MERGE: 5},
        queue=status(live(queued(41, -68), queued(42, -68), start=-7)),
        told=told,
    )
    told = usual(-80)
    told.enter(-78, 41)
    for n in range(3):
        told.enter(-77, 50 + n)
        end = -60 + 18 * n
        told.leave(end, 50 + n, "PR_MANUALLY_MERGED")
        told.restarts(41, start=end - 12, end=end + 0.1, code="PR_AHEAD_DEQUEUED")
    yield restarts(
        "those ahead are merged by hand, which the service calls a leave",
        {Restart.MERGE: 3},
        queue=status(live(queued(41, -78), start=-20)),
        told=told,
    )


def restarted_by_several() -> Iterator[Story]:
    told = usual(-100)
    told.enter(-98, 41)
    told.enter(-97, 50, 51)
    told.leave(-85, 50, "PULL_REQUEST_UPDATED")
    told.restarts(41, start=-95, end=-84.9, code="PR_AHEAD_DEQUEUED")
    told.leave(-70, 51, "PR_MANUALLY_DEQUEUED")
    told.restarts(41, start=-83, end=-69.9, code="PR_AHEAD_DEQUEUED")
    told.enter(-66, 51)
    told.restarts(41, start=-68, end=-50, code="MERGE_QUEUE_RESET")
    told.restarts(41, start=-48, end=-30, code="MERGE_QUEUE_RESET")
    yield restarts(
        "one push, one requeue and two merges around the queue",
        {Restart.MERGE: 2, Restart.PUSH: 1, Restart.REQUEUE: 1},
        queue=status(live(queued(41, -98), start=-28), waiting=[queued(51, -66)]),
        told=told,
    )
    told = Telling()
    told.usual(-72)
    told.enter(-70, 41)
    for n in range(3):
        told.enter(-69, 50 + n)
        end = -55 + 15 * n
        stopped = Batch((50 + n,), end - 10, end)
        told.end(stopped, code="PULL_REQUEST_UPDATED", state="cancelled")
        told.add("action.queue.leave", end + 0.1, 50 + n, merged=False, reason="")
        told.restarts(41, start=end - 9, end=end + 0.2, code="PR_AHEAD_DEQUEUED")
    yield restarts(
        "an older service gives no code for a leave, and the end of the checks does: pushes",
        {Restart.PUSH: 3},
        queue=status(live(queued(41, -70), start=-12)),
        told=told,
    )


def restarted_not() -> Iterator[Story]:
    told = usual(-70)
    told.enter(-68, 41)
    for n in range(3):
        told.enter(-67, 50 + n)
        end = -55 + 15 * n
        told.leave(end, 50 + n, "PR_MANUALLY_DEQUEUED")
        told.restarts(41, start=end - 9, end=end + 0.1, code="PR_AHEAD_DEQUEUED")
    told.enter(-5, 50)
    yield restarts(
        "three are taken out, one of them is back after fifty minutes (not: requeues)",
        {Restart.REMOVAL: 3},
        queue=status(live(queued(41, -68), start=-14), waiting=[queued(50, -5)]),
        told=told,
    )
    told = usual(-70)
    told.enter(-68, 41)
    for n in range(3):
        told.enter(-67, 50 + n)
        end = -55 + 15 * n
        told.leave(end, 50 + n, "CONFLICT_WITH_BASE_BRANCH")
        told.restarts(41, start=end - 9, end=end + 0.1, code="PR_AHEAD_DEQUEUED")
        told.enter(end + 5, 50 + n)
    yield story(
        "conflicts throw out those ahead, which are queued again (not: requeues, not: pushes)",
        QueueVerdict.UNKNOWN,
        queue=status(live(queued(41, -68), start=-14)),
        told=stored(told),
    )
    told = usual(-70)
    told.enter(-68, 41)
    for n in range(3):
        told.enter(-67, 50 + n, 60 + n)
        end = -55 + 15 * n
        told.leave(end, 50 + n, "CHECKS_FAILED", ["own test"])
        told.leave(end, 60 + n, "PULL_REQUEST_UPDATED")
        told.restarts(41, start=end - 9, end=end + 0.1, code="PR_AHEAD_DEQUEUED")
    yield story(
        "each time one ahead failed as somebody pushed to another (not: pushes)",
        QueueVerdict.UNKNOWN,
        queue=status(live(queued(41, -68), start=-14)),
        told=stored(told),
    )
    told = usual(-70)
    told.enter(-68, 41)
    for n in range(3):
        told.restarts(
            41, start=-65 + 18 * n, end=-52 + 18 * n, code="SPECULATIVE_CHECK_NUMBER_REDUCED"
        )
    yield story(
        "the service reduces its parallel checks three times (not: merges around the queue)",
        QueueVerdict.UNKNOWN,
        queue=status(live(queued(41, -68), start=-14)),
        told=stored(told),
    )


def same_check() -> Iterator[Story]:
    told = usual(-300)
    for n in range(12):
        told.fails(40 + n, start=-295 + 24 * n, end=-280 + 24 * n, failed=["deploy preview"])
    yield story(
        "the same check fails for twelve in a row, over five hours",
        QueueVerdict.SAME_CHECK,
        queue=status(live(60, start=-8), waiting=[queued(n, -60) for n in range(61, 90)]),
        told=stored(told),
    )
    told = usual(-80)
    told.fails(41, start=-75, end=-65, failed=["lint"])
    told.fails(42, start=-64, end=-50, failed=["lint", "unit tests"])
    told.fails(43, 44, start=-48, end=-30, failed=["integration", "lint"])
    told.fails(43, start=-29, end=-20, failed=["lint"])
    yield story(
        "lint fails everywhere, now and then with another one",
        QueueVerdict.SAME_CHECK,
        queue=status(live(queued(44, -49), start=-15)),
        told=stored(told),
    )
    told = usual(-50)
    for n in range(3):
        told.fails(41 + n, start=-45 + 14 * n, end=-36 + 14 * n, failed=["license/cla"])
    yield story(
        "three in a row are enough",
        QueueVerdict.SAME_CHECK,
        queue=status(live(50, start=-5)),
        told=stored(told),
    )


def same_check_not() -> Iterator[Story]:
    told = usual(-70)
    for n in range(2):
        told.fails(41 + n, start=-65 + 25 * n, end=-50 + 25 * n, failed=["e2e"])
    yield story(
        "the same check failed twice in a row (not: same check)",
        QueueVerdict.UNKNOWN,
        queue=status(live(queued(50, -60), start=-15)),
        told=stored(told),
    )


def storm() -> Iterator[Story]:
    told = usual(-40)
    for n in range(8):
        told.fails(40 + n, start=-38 + 4 * n, end=-32 + 4 * n, failed=[f"shard {n % 4}"])
    yield story(
        "eight fail within half an hour, at four shards",
        QueueVerdict.MANY_CHECKS,
        queue=status(live(60, start=-1), waiting=[61]),
        told=stored(told),
    )
    told = usual(-40)
    told.fails(40, 41, 42, start=-35, end=-25, failed=["lint", "docs"])
    told.fails(43, 44, 45, start=-24, end=-14, failed=["e2e", "unit tests"])
    told.fails(46, 47, start=-13, end=-5, failed=["integration"])
    yield story(
        "three batches of several fail, each at other checks",
        QueueVerdict.MANY_CHECKS,
        queue=status(live(60, start=-1)),
        told=stored(told),
    )
    told = usual(-45)
    for n, check in enumerate(("a", "b", "c", "d", "e", "f", "g", "h", "i")):
        told.fails(40 + n, start=-36 + 3 * n, end=-30 + 3 * n, failed=[check])
    told.passes(80, start=-22, end=-12)
    told.passes(81, start=-12, end=-4)
    yield story(
        "nine fail at nine checks while two merge",
        QueueVerdict.MANY_CHECKS,
        queue=status(live(60, start=-1)),
        told=stored(told),
    )


def storm_not() -> Iterator[Story]:
    told = Telling()
    told.usual(-2, count=30, every=4, run=3)
    for n, check in enumerate(("lint", "unit tests", "e2e", "docs", "smoke", "a11y")):
        told.fails(40 + n, start=-34 + 5 * n, end=-30 + 5 * n, failed=[check])
    told.enter(-2, 60)
    yield story(
        "six fail in half an hour in which eight merge (not: a storm)",
        QueueVerdict.NORMAL,
        queue=status(live(queued(60, -2), start=-1)),
        told=stored(told),
    )


STORIES: Sequence[Story] = (
    *comes_back(),
    *never_start(),
    *done(),
    *held(),
    *restarted_by_pushes(),
    *restarted_by_requeues(),
    *restarted_by_merges(),
    *restarted_by_several(),
    *same_check(),
    *storm(),
)

LOOK_ALIKES: Sequence[Story] = (
    *comes_back_not(),
    *never_start_not(),
    *done_not(),
    *held_not(),
    *restarted_not(),
    *same_check_not(),
    *storm_not(),
)
