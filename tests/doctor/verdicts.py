"""Three stories or more for each verdict, and some with two causes."""

from collections.abc import Iterator, Sequence
from functools import cache

from bot.doctor.diagnosis import QueueVerdict
from bot.doctor.facts import NoAnswer, ServiceProblem
from bot.merge_queue.event_types import CHECKS_NOT_STARTED
from tests.doctor.story import (
    CHECKS,
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

BUSY = status(live(41, 42), waiting=[43, 44, 45])


def usual(until: float = -5) -> Telling:
    known = _usual(until)
    return Telling(sent=[*known.sent], entered={**known.entered})


@cache
def _usual(until: float) -> Telling:
    told = Telling()
    told.usual(until)
    return told


def no_answer() -> Iterator[Story]:
    silent = ServiceProblem(NoAnswer.SILENT, last_answer_at=at(-25))
    yield story(
        "the service hasn't answered for 25 minutes",
        QueueVerdict.NO_ANSWER,
        queue=None,
        told=stored(usual(-30), read=-25),
        problem=silent,
    )
    refused = ServiceProblem(NoAnswer.REFUSED, "403 forbidden: no permission")
    yield story(
        "the key may not read the queue", QueueVerdict.NO_ANSWER, queue=None, problem=refused
    )
    failing = ServiceProblem(NoAnswer.FAILING, "503 service unavailable", at(-3))
    yield story(
        "the service fails on its own, and nothing else is known",
        QueueVerdict.NO_ANSWER,
        queue=None,
        told=stored(Telling(), read=None),
        problem=failing,
    )


def is_paused() -> Iterator[Story]:
    yield story(
        "paused for 52 minutes",
        QueueVerdict.PAUSED,
        queue=BUSY,
        told=stored(usual(-60)),
        pause=paused(-52),
    )
    told = usual(-200)
    stopped = Batch((41,), -190, -180)
    told.enter(-195, 41)
    told.start(stopped)
    told.end(stopped, code="PR_CHECKS_STOPPED_BECAUSE_MERGE_QUEUE_PAUSE", status="REEMBARKED")
    yield story(
        "paused for three hours, which stopped the checks",
        QueueVerdict.PAUSED,
        queue=status(waiting=[queued(41, -195), queued(42, -100)]),
        told=stored(told),
        pause=paused(-180),
    )
    yield story(
        "the status alone says that it is paused",
        QueueVerdict.PAUSED,
        queue=status(waiting=[queued(41, -90)], pause={"paused": True}),
        told=stored(usual(-100)),
        is_pause_known=False,
    )
    yield story(
        "paused, with nothing queued", QueueVerdict.PAUSED, queue=status(), pause=paused(-10)
    )


def is_frozen() -> Iterator[Story]:
    yield story(
        "a freeze of everything",
        QueueVerdict.FROZEN,
        queue=status(live(queued(41, -180, is_frozen=True), code="frozen", start=-170)),
        told=stored(usual(-190)),
        freezes=(frozen(-185),),
    )
    yield story(
        "a freeze of the head's branch",
        QueueVerdict.FROZEN,
        queue=status(live(queued(3_100, -100), code="frozen", start=-90, passed=3)),
        told=stored(_entered(3_100, -100)),
        freezes=(frozen(-120, "base=main"),),
    )
    yield story(
        "outside the hours of merging",
        QueueVerdict.FROZEN,
        queue=status(live(queued(41, -300), code="waiting_schedule", start=-280, passed=3)),
        told=stored(usual(-310)),
    )
    yield story(
        "a freeze that only the pull requests show",
        QueueVerdict.FROZEN,
        queue=status(waiting=[queued(n, -120, is_frozen=True) for n in (41, 42)]),
        told=stored(usual(-130)),
    )


def _entered(number: int, minute: float) -> Telling:
    told = usual(minute - 10)
    told.enter(minute, number)
    return told


def misconfigured() -> Iterator[Story]:
    told = usual(-90)
    for number, minute in ((41, -60), (42, -50), (43, -40)):
        told.enter(minute - 3, number)
        told.leave(minute, number, "QUEUE_RULE_MISSING")
    yield story(
        "the queue rule is gone, and pull requests leave for it",
        QueueVerdict.MISCONFIGURED,
        queue=status(waiting=[queued(44, -2)]),
        told=stored(told),
    )
    told = usual(-90)
    for number, minute in ((41, -30), (42, -20)):
        told.enter(minute - 3, number)
        told.leave(minute, number, "INCOMPATIBILITY_WITH_BRANCH_PROTECTIONS")
    yield story(
        "the settings clash with the branch protection",
        QueueVerdict.MISCONFIGURED,
        queue=status(live(44, start=-3)),
        told=stored(told),
    )
    invalid = ServiceProblem(NoAnswer.INVALID, "422: queue_rules: extra keys not allowed")
    yield story(
        "the service says that the configuration is invalid",
        QueueVerdict.MISCONFIGURED,
        queue=None,
        problem=invalid,
    )


def is_empty() -> Iterator[Story]:
    yield story(
        "nothing queued since lunch", QueueVerdict.EMPTY, queue=status(), told=stored(usual(-95))
    )
    yield story("never used", QueueVerdict.EMPTY, queue=status())
    over = live(41, code="merged", passed=3)
    yield story(
        "the last one has just merged",
        QueueVerdict.EMPTY,
        queue=status(over),
        told=stored(usual(-1)),
    )


def same_check() -> Iterator[Story]:
    told = usual(-62)
    for n in range(6):
        told.fails(40 + n, start=-60 + 9 * n, end=-52 + 9 * n)
    yield story(
        "integration fails for six pull requests, one after the other",
        QueueVerdict.SAME_CHECK,
        queue=status(live(46, start=-5), waiting=[47, 48]),
        told=stored(told),
    )
    told = usual(-80)
    told.fails(40, 41, 42, start=-75, end=-60, failed=["lint", "integration"])
    told.fails(43, 44, start=-58, end=-40, failed=["integration"])
    told.fails(45, 46, 47, start=-38, end=-20, failed=["integration", "unit tests"])
    yield story(
        "batches of several fail at the same check, and some at others besides",
        QueueVerdict.SAME_CHECK,
        queue=status(live(48, start=-10), waiting=[49]),
        told=stored(told),
    )
    told = usual(-120)
    for n in range(3):
        batch = Batch((40 + n,), -110 + 35 * n, -80 + 35 * n)
        told.enter(batch.start - 1, *batch.numbers)
        told.start(batch)
        told.end(batch, code="CHECKS_TIMEOUT", failed=["e2e"], state="timed_out")
        told.leave(batch.end + 0.1, 40 + n, "CHECKS_TIMEOUT", ["e2e"])
    yield story(
        "the same check times out in every batch",
        QueueVerdict.SAME_CHECK,
        queue=status(live(46, start=-8)),
        told=stored(told),
    )


def many_checks() -> Iterator[Story]:
    for failing, name in (
        (("lint", "unit tests", "integration", "docs", "e2e", "lint"), "each at another check"),
        (("lint", "unit tests", "e2e", "lint", "unit tests", "e2e"), "at three checks by turns"),
    ):
        told = usual(-32)
        for n, check in enumerate(failing):
            told.fails(40 + n, start=-30 + 4 * n, end=-24 + 4 * n, failed=[check])
        yield story(
            f"six pull requests fail within half an hour, {name}",
            QueueVerdict.MANY_CHECKS,
            queue=status(live(50, start=-1), waiting=[51, 52]),
            told=stored(told),
        )
    told = usual(-40)
    for n, check in enumerate(("lint", "unit", "e2e", "docs", "lint", "smoke", "unit")):
        told.fails(40 + n, start=-34 + 4 * n, end=-30 + 4 * n, failed=[check])
    told.passes(60, start=-20, end=-10)
    yield story(
        "seven fail at random while one merges",
        QueueVerdict.MANY_CHECKS,
        queue=status(live(50, start=-1)),
        told=stored(told),
    )


def comes_back() -> Iterator[Story]:
    told = usual(-100)
    for n in range(4):
        told.fails(41, start=-95 + 22 * n, end=-80 + 22 * n, failed=["unit tests"])
    told.enter(-12, 41)
    yield story(
        "#41 fails and is queued again four times",
        QueueVerdict.COMES_BACK,
        queue=status(live(queued(41, -12), start=-10), waiting=[queued(42, -60), queued(43, -50)]),
        told=stored(told),
    )
    told = usual(-100)
    for n in range(3):
        told.fails(41, start=-90 + 28 * n, end=-75 + 28 * n, failed=["e2e"])
    yield story(
        "#41 has just left for the third time",
        QueueVerdict.COMES_BACK,
        queue=status(live(queued(42, -80), start=-15), waiting=[43]),
        told=stored(told),
    )
    told = usual(-110)
    told.fails(41, 42, start=-105, end=-90)
    told.fails(41, start=-88, end=-75)
    told.fails(41, 43, start=-70, end=-50)
    told.fails(41, start=-48, end=-30)
    told.enter(-20, 41)
    yield story(
        "#41 breaks one batch after the other",
        QueueVerdict.COMES_BACK,
        queue=status(live(queued(41, -20), queued(44, -60), start=-15), waiting=[45]),
        told=stored(told),
    )


def is_held() -> Iterator[Story]:
    head = live(
        queued(41, -120, depends_on_pull_requests=[39]), code="waiting_for_merge", start=-110
    )
    behind = live(
        queued(42, -100),
        queued(43, -90),
        code="waiting_for_previous_batches",
        start=-90,
        after=[head],
    )
    yield story(
        "#41 waits for #39, and a batch is built on it",
        QueueVerdict.HELD,
        queue=status(head, behind),
        told=stored(usual(-125)),
    )
    yield story(
        "a stack waits for a conflict",
        QueueVerdict.HELD,
        queue=status(
            waiting=[
                queued(41, -90, conflict_with_pull_requests=[40]),
                queued(42, -80, depends_on_pull_requests=[41]),
                queued(43, -80, depends_on_pull_requests=[41]),
            ]
        ),
        told=stored(usual(-95)),
    )
    yield story(
        "a removal that was asked for isn't done",
        QueueVerdict.HELD,
        queue=status(
            waiting=[
                queued(41, -70, dequeue_requested=True),
                queued(42, -65, depends_on_pull_requests=[41]),
            ]
        ),
        told=stored(usual(-75)),
    )


def never_start() -> Iterator[Story]:
    told = usual(-60)
    told.enter(-50, 41)
    for n in range(4):
        reason = "The branch could not be created"
        told.add(CHECKS_NOT_STARTED, -48 + 12 * n, 41, reason=reason)
    yield story(
        "the service can't start the checks, four times",
        QueueVerdict.NEVER_START,
        queue=status(live(queued(41, -50), code="preparing", start=None, passed=0, total=0)),
        told=stored(told),
    )
    yield story(
        "no check has shown up for the head",
        QueueVerdict.NEVER_START,
        queue=status(live(queued(41, -60), start=-45, passed=0, total=0)),
        told=stored(usual(-62)),
        details=details({}),
    )
    told = usual(-100)
    told.enter(-90, 41)
    told.enter(-80, 42)
    yield story(
        "nothing is tested although two wait for an hour and a half",
        QueueVerdict.NEVER_START,
        queue=status(waiting=[queued(41, -90), queued(42, -80)]),
        told=stored(told),
    )


def start_late() -> Iterator[Story]:
    batches = [live(40 + n, start=-75 + n, passed=0, total=5) for n in range(3)]
    yield story(
        "no check has passed in three batches for over an hour",
        QueueVerdict.START_LATE,
        queue=status(*batches, waiting=[50]),
        told=stored(usual(-80)),
        details=details(dict.fromkeys(CHECKS, "pending")),
    )
    told = usual(-150)
    for n in range(4):
        told.passes(40 + n, start=-145 + 35 * n, end=-112 + 35 * n, first_check=20)
    yield story(
        "the first checks of the last four batches ran after twenty minutes",
        QueueVerdict.START_LATE,
        queue=status(live(50, start=-5, passed=0, total=3)),
        told=stored(told),
    )
    told = usual(-100)
    told.enter(-95, 40, 41)
    yield story(
        "no check of two batches on two branches has passed for longer than any run takes",
        QueueVerdict.START_LATE,
        queue=status(
            live(queued(40, -95), start=-90, passed=0, total=4),
            live(queued(41, -95), start=-85, passed=0, total=4),
        ),
        told=stored(told),
    )


def hangs() -> Iterator[Story]:
    running = dict(zip(CHECKS, ("success", "success", "pending"), strict=True))
    yield story(
        "integration has run for an hour, usually twelve minutes",
        QueueVerdict.HANGS,
        queue=status(live(queued(41, -65), start=-60, passed=2), waiting=[42]),
        told=stored(usual(-66)),
        details=details(running, times_out=60),
    )
    yield story(
        "with little history, after more than the default",
        QueueVerdict.HANGS,
        queue=status(live(queued(41, -100), start=-95, passed=2)),
        told=stored(_few(-101)),
        details=details(running),
    )
    yield story(
        "the head's check hangs while the batch behind has passed",
        QueueVerdict.HANGS,
        queue=status(
            (head := live(queued(41, -90), start=-85, passed=2)),
            live(queued(42, -60), code="waiting_for_merge", start=-58, passed=3, after=[head]),
        ),
        told=stored(usual(-92)),
        details=details(running),
    )


def _few(until: float) -> Telling:
    told = Telling()
    told.usual(until, count=3)
    return told


def is_done() -> Iterator[Story]:
    passed = dict.fromkeys(CHECKS, "success")
    told = usual(-70)
    told.enter(-65, 41)
    batch = Batch((41,), -62, -50)
    told.start(batch)
    told.end(batch)
    yield story(
        "the checks of the head passed 50 minutes ago",
        QueueVerdict.DONE,
        queue=status(live(queued(41, -65), code="waiting_for_merge", start=-62, passed=3)),
        told=stored(told),
    )
    yield story(
        "all checks passed, and a review is missing",
        QueueVerdict.DONE,
        queue=status(live(queued(41, -95), start=-90, passed=3)),
        told=stored(usual(-100)),
        details=details(passed, unmet=["#approved-reviews-by >= 1"]),
    )
    yield story(
        "all checks passed by the details, without an event about their end",
        QueueVerdict.DONE,
        queue=status(live(queued(41, -95), start=-90, passed=3), waiting=[42]),
        told=stored(usual(-100)),
        details=details(passed),
    )


def restarted() -> Iterator[Story]:
    told = usual(-64)
    told.enter(-62, 41, 42)
    for n in range(4):
        told.restarts(41, 42, start=-60 + 13 * n, end=-49 + 13 * n, code="MERGE_QUEUE_RESET")
    yield story(
        "somebody pushes to main four times",
        QueueVerdict.RESTARTED,
        queue=status(live(queued(41, -62), queued(42, -62), start=-9)),
        told=stored(told),
    )
    told = usual(-64)
    told.enter(-62, 41)
    for n in range(3):
        told.enter(-61, 50 + n)
        end = -50 + 14 * n
        told.leave(end - 0.1, 50 + n, "PULL_REQUEST_UPDATED")
        told.restarts(41, start=end - 10, end=end, code="PR_AHEAD_DEQUEUED")
    yield story(
        "three people push to pull requests ahead",
        QueueVerdict.RESTARTED,
        queue=status(live(queued(41, -62), start=-20)),
        told=stored(told),
    )
    told = usual(-64)
    told.enter(-62, 41)
    codes = (
        "PR_WITH_HIGHER_PRIORITY_QUEUED",
        "PR_AHEAD_DEQUEUED",
        "PR_WITH_HIGHER_PRIORITY_QUEUED",
    )
    for n, code in enumerate(codes):
        if code == "PR_AHEAD_DEQUEUED":
            told.enter(-61, 60)
            told.leave(-50 + 14 * n - 0.1, 60, "PR_MANUALLY_DEQUEUED")
        told.restarts(41, start=-60 + 14 * n, end=-50 + 14 * n, code=code)
    yield story(
        "others go first twice, and one is taken out",
        QueueVerdict.RESTARTED,
        queue=status(live(queued(41, -62), start=-10)),
        told=stored(told),
    )


def normal() -> Iterator[Story]:
    many = status(live(41, 42), waiting=list(range(50, 110)))
    yield story(
        "merging as usual, with 60 behind", QueueVerdict.NORMAL, queue=many, told=stored(usual(-4))
    )
    told = usual(-300)
    told.enter(-6, 41)
    yield story(
        "one came six minutes ago after five quiet hours",
        QueueVerdict.NORMAL,
        queue=status(live(queued(41, -6), start=-5)),
        told=stored(told),
    )
    yield story(
        "the queue has just been resumed",
        QueueVerdict.NORMAL,
        queue=status(live(queued(41, -200), start=-4), waiting=[42]),
        told=stored(usual(-205)),
        releases=[at(-6)],
    )
    told = usual(-20)
    told.fails(41, start=-18, end=-8)
    yield story(
        "one failed, and the next is being tested",
        QueueVerdict.NORMAL,
        queue=status(live(42, start=-6)),
        told=stored(told),
    )


def unknown() -> Iterator[Story]:
    yield story(
        "a state that nobody knows, for two hours",
        QueueVerdict.UNKNOWN,
        queue=status(live(queued(41, -120), code="waiting_for_the_moon", start=-110)),
        told=stored(usual(-125)),
    )
    yield story(
        "nothing of the log is read, and the head has waited for two hours",
        QueueVerdict.UNKNOWN,
        queue=status(live(queued(41, -120), start=-5)),
        told=stored(Telling(), read=None),
    )
    yield story(
        "a bisection that takes two hours",
        QueueVerdict.UNKNOWN,
        queue=status(live(queued(41, -130), queued(42, -130), code="bisecting", start=-120)),
        told=stored(usual(-135)),
    )


def two_causes() -> Iterator[Story]:
    told = usual(-100)
    for n in range(5):
        told.fails(40 + n, start=-95 + 10 * n, end=-87 + 10 * n)
    yield story(
        "paused because integration fails in every batch",
        QueueVerdict.PAUSED,
        QueueVerdict.SAME_CHECK,
        queue=status(waiting=[queued(50, -40), queued(51, -30)]),
        told=stored(told),
        pause=paused(-40, "integration is broken"),
    )
    told = usual(-70)
    for n in range(4):
        told.fails(40 + n, start=-60 + 12 * n, end=-50 + 12 * n)
    yield story(
        "frozen, and integration fails in every batch",
        QueueVerdict.FROZEN,
        QueueVerdict.SAME_CHECK,
        queue=status(live(queued(50, -9), code="running", start=-8), waiting=[51]),
        told=stored(told),
        freezes=(frozen(-65),),
    )
    told = usual(-70)
    for n in range(4):
        told.fails(40 + n, start=-60 + 12 * n, end=-50 + 12 * n)
    yield story(
        "empty because every batch failed at the same check",
        QueueVerdict.EMPTY,
        QueueVerdict.SAME_CHECK,
        queue=status(),
        told=stored(told),
    )
    told = usual(-150)
    for n in range(4):
        told.fails(40 + n, start=-145 + 35 * n, end=-112 + 35 * n)
    late = Telling()
    late.sent = [_late(event) for event in told.sent]
    yield story(
        "checks start late, and the same one fails in every batch",
        QueueVerdict.SAME_CHECK,
        QueueVerdict.START_LATE,
        queue=status(live(50, start=-5, passed=0, total=3)),
        told=stored(late),
    )


def _late(event: dict[str, object]) -> dict[str, object]:
    """Its first check ran 25 minutes after the start, for those that failed."""
    metadata = event["metadata"]
    assert isinstance(metadata, dict)
    checked = metadata.get("speculative_check_pull_request")
    if not checked or metadata.get("abort_code") != "CHECKS_FAILED":
        return event
    ended_at = checked["checks_ended_at"]
    later = {**checked, "checks_started_at": ended_at}
    return {**event, "metadata": {**metadata, "speculative_check_pull_request": later}}


STORIES: Sequence[Story] = (
    *no_answer(),
    *is_paused(),
    *is_frozen(),
    *misconfigured(),
    *is_empty(),
    *same_check(),
    *many_checks(),
    *comes_back(),
    *is_held(),
    *never_start(),
    *start_late(),
    *hangs(),
    *is_done(),
    *restarted(),
    *normal(),
    *unknown(),
    *two_causes(),
)
