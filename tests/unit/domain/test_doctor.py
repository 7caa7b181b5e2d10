"""Why nothing merges: the doctor of queues on stories whose cause is known.

`python -m tests.doctor` prints how often it is right.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import combinations

import pytest

from bot.doctor.diagnosing import diagnose
from bot.doctor.diagnosis import (
    Diagnosis,
    Frozen,
    Misconfigured,
    QueueVerdict,
    Restart,
    RestartCause,
    Restarted,
    SameCheck,
)
from bot.doctor.facts import EXAMINED_TYPES, QueueFacts
from bot.doctor.past import ENOUGH, usual, usual_pace
from bot.doctor.texts import causes
from bot.doctor.texts.causes import cause_headline
from bot.machines.shapes import diagnosis_shape
from bot.merge_queue.event_types import LEAVE, MERGED
from bot.merge_queue.queue import QueueStatus
from tests.doctor import detectors
from tests.doctor.counting import Outcome, outcome
from tests.doctor.look_alikes import LOOK_ALIKES
from tests.doctor.mixed import MIXED
from tests.doctor.story import (
    Batch,
    Story,
    Telling,
    at,
    frozen,
    live,
    log,
    paused,
    queued,
    status,
    stored,
    story as make_story,
)
from tests.doctor.verdicts import STORIES, usual as usual_day
from tests.support.clock import NOON
from tests.support.steps import tried

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
EACH_VERDICT = (*STORIES, *detectors.STORIES)
ALIKE = (*LOOK_ALIKES, *detectors.LOOK_ALIKES)
ALL = (*EACH_VERDICT, *ALIKE, *MIXED)

DETECTED = {
    QueueVerdict.COMES_BACK: "comes back",
    QueueVerdict.NEVER_START: "never start",
    QueueVerdict.DONE: "green and nothing moves",
    QueueVerdict.HELD: "blocks others",
    QueueVerdict.SAME_CHECK: "same check",
    QueueVerdict.MANY_CHECKS: "a storm",
}
"""How the look-alikes call what they aren't."""

RESTARTS = {Restart.PUSH: "pushes", Restart.REQUEUE: "requeues", Restart.MERGE: "merges around"}


def said(story: Story) -> Diagnosis:
    return diagnose(story.facts, story.at)


@pytest.mark.parametrize("story", EACH_VERDICT, ids=lambda story: story.name)
def test_each_verdict_is_found(story: Story) -> None:
    assert outcome(story) is Outcome.RIGHT, said(story).findings


@pytest.mark.parametrize("story", [*ALIKE, *MIXED], ids=lambda story: story.name)
def test_a_look_alike_is_never_blamed(story: Story) -> None:
    assert outcome(story) is not Outcome.WRONG, said(story).verdicts


@pytest.mark.parametrize("verdict", QueueVerdict)
def test_every_verdict_has_three_stories(verdict: QueueVerdict) -> None:
    assert sum(story.truth == {verdict} for story in STORIES) >= 3


@pytest.mark.parametrize("verdict", DETECTED)
def test_each_detector_has_three_stories_of_its_own_and_a_look_alike(verdict: QueueVerdict) -> None:
    assert sum(story.truth == {verdict} for story in detectors.STORIES) >= 3
    assert any(f"not: {DETECTED[verdict]}" in story.name for story in ALIKE)


@pytest.mark.parametrize("cause", RESTARTS)
def test_each_cause_of_restarts_has_three_stories_and_a_look_alike(cause: Restart) -> None:
    told = [story.restarts for story in detectors.STORIES if story.restarts is not None]
    assert sum(set(causes) == {cause} for causes in told) >= 3
    assert any(f"not: {RESTARTS[cause]}" in story.name for story in ALIKE)


def with_less(facts: QueueFacts) -> Iterator[QueueFacts]:
    """The facts with some types of events unread, without details, and with an old log."""
    log = facts.log
    for count in range(1, len(EXAMINED_TYPES) + 1):
        for types in combinations(EXAMINED_TYPES, count):
            read = {type_: log.of(type_) for type_ in types}
            for read_at in (log.read_at, None, NOON - HOUR):
                known = replace(
                    facts, log=replace(log, events=read, types=frozenset(types), read_at=read_at)
                )
                yield known
                yield replace(known, details=None)


@pytest.mark.parametrize("story", ALL, ids=lambda story: story.name)
def test_whoever_knows_less_says_less(story: Story, pytestconfig: pytest.Config) -> None:
    ways = [*with_less(story.facts)]
    for way in tried(range(len(ways)), 7, pytestconfig):
        facts = ways[way]
        unfounded = {*diagnose(facts, story.at).verdicts} - story.truth - {QueueVerdict.UNKNOWN}
        assert not unfounded, (unfounded, facts.log.types, facts.log.read_at, facts.details)


@pytest.mark.parametrize("story", ALL, ids=lambda story: story.name)
def test_without_a_past_nobody_is_blamed(story: Story) -> None:
    """What is usual is not known then, so that only more time can be long."""
    log = story.facts.log
    since = story.at - 2 * HOUR
    recent = {
        type_: [event for event in events if event.received_at >= since]
        for type_, events in log.events.items()
    }
    facts = replace(story.facts, log=replace(log, events=recent))
    unfounded = {*diagnose(facts, story.at).verdicts} - story.truth
    assert unfounded <= {QueueVerdict.UNKNOWN, QueueVerdict.NORMAL}


def test_a_check_that_fails_in_every_batch_comes_with_its_evidence() -> None:
    story = next(story for story in STORIES if story.truth == {QueueVerdict.SAME_CHECK})
    (found,) = said(story).findings
    assert isinstance(found, SameCheck)
    assert (found.names, found.batches, found.pull_requests) == (("integration",), 6, 6)
    assert found.since == at(-52)
    assert found.passed == (3_029,)


def test_a_requeue_names_the_pull_request_that_was_queued_again() -> None:
    story = next(s for s in detectors.STORIES if s.restarts == {Restart.REQUEUE: 3})
    (found,) = said(story).findings
    assert isinstance(found, Restarted)
    assert found.causes == (RestartCause(Restart.REQUEUE, 3, (50,)),)


def test_a_log_that_may_lack_merges_gives_no_time_without_one() -> None:
    stale = next(s for s in LOOK_ALIKES if s.name.startswith("the log hasn't been read"))
    assert cause_headline(said(stale)) == "I can't tell how acme/site is doing"
    assert not said(stale).is_stalled


def test_pull_requests_that_left_count_for_how_long_nothing_has_merged() -> None:
    story = next(story for story in STORIES if story.truth == {QueueVerdict.MISCONFIGURED})
    assert cause_headline(said(story)).startswith("acme/site has merged nothing for 1 h: ")


def test_a_head_that_was_requeued_has_not_just_begun_to_wait() -> None:
    story = next(s for s in detectors.STORIES if s.name.startswith("three are taken out"))
    requeued = replace(
        story.facts, status=status(live(queued(50, -2), start=-1), waiting=[queued(41, -68)])
    )
    words = cause_headline(diagnose(requeued, story.at))
    assert words.startswith("acme/site has merged nothing for 55 min: requeues have made")


def test_what_is_usual_is_known_from_enough_measurements_on() -> None:
    few = usual([MINUTE] * (ENOUGH - 1), HOUR)
    assert not few.is_known
    assert few.limit == HOUR

    many = usual([n * MINUTE for n in range(1, ENOUGH + 1)], HOUR)
    assert many.is_known
    assert many.median == 10 * MINUTE
    assert many.nine_tenths == 18 * MINUTE
    assert many.limit == 20 * MINUTE
    assert usual([timedelta(seconds=1)] * ENOUGH, HOUR).limit == 5 * MINUTE


def test_no_pause_of_the_day_makes_a_queue_look_slow() -> None:
    """Five pauses between 25 merges, each followed by one that waited for its end."""
    told = Telling()
    told.enter(-900, *range(3_000, 3_030))
    minutes = [-850.0 + 10 * n + 100 * (n // 5) for n in range(30)]
    for n, minute in enumerate(minutes):
        told.passes(3_000 + n, start=minute - 8, end=minute - 0.5)
    releases = [at(minute - 9) for minute in minutes[5::5]]
    known = log(told)
    merges = known.of(MERGED)
    assert usual_pace(known, merges, releases[-1:]).merge.limit > timedelta(hours=1)
    assert usual_pace(known, merges, releases).merge.limit == timedelta(minutes=20)


def test_the_first_cause_is_the_headline() -> None:
    story = next(story for story in STORIES if len(story.truth) > 1)
    assert said(story).first.verdict is QueueVerdict.PAUSED
    assert said(story).verdicts == (QueueVerdict.PAUSED, QueueVerdict.SAME_CHECK)


def test_an_event_without_a_pull_request_is_counted_for_none() -> None:
    told = usual_day(-90)
    for number, minute in ((41, -50), (None, -45), (42, -40)):
        told.add(LEAVE, minute, number, merged=False, dequeue_code="QUEUE_RULE_MISSING")
    story = make_story(
        "nobody", QueueVerdict.MISCONFIGURED, queue=status(live(44)), told=stored(told)
    )
    (found,) = said(story).findings
    assert isinstance(found, Misconfigured)
    assert found.left == (41, 42)


def test_of_a_batch_that_passed_last_no_single_pull_request_is_named() -> None:
    told = usual_day(-90)
    told.passes(50, 51, 52, start=-80, end=-66)
    for n in range(3):
        batch = Batch((41 + n,), -62 + 15 * n, -50 + 15 * n)
        told.enter(-63 + 15 * n, 41 + n)
        told.start(batch)
        told.end(batch, code="CHECKS_FAILED", failed=["integration"])
    story = make_story(
        "all fail", QueueVerdict.SAME_CHECK, queue=status(live(44)), told=stored(told)
    )
    diagnosis = said(story)
    assert isinstance(diagnosis.first, SameCheck)
    assert diagnosis.first.passed == (50, 51, 52)
    who = causes.told(diagnosis.first, diagnosis).who
    assert who.endswith("or the authors of #50, #51, #52 if one of these broke it.")


@pytest.mark.parametrize(
    ("state", "verdict"), [("failure", QueueVerdict.SAME_CHECK), ("stale", QueueVerdict.UNKNOWN)]
)
def test_a_check_that_only_had_not_ended_is_no_cause(state: str, verdict: QueueVerdict) -> None:
    told = usual_day(-90)
    for n in range(3):
        batch = Batch((41 + n,), -62 + 15 * n, -50 + 15 * n)
        told.enter(-63 + 15 * n, 41 + n)
        told.start(batch)
        told.end(batch, code="CHECKS_FAILED", failed=["integration"], state=state)
    story = make_story("all fail", verdict, queue=status(live(44)), told=stored(told))
    assert said(story).first.verdict is verdict


@pytest.mark.parametrize(
    ("checks", "words"),
    [
        ((), "The last 4 runs of checks failed."),
        (("lint", "integration"), "The last 4 runs of checks failed: `integration`, `lint`."),
    ],
)
@pytest.mark.parametrize("queue", [status(live(60, start=-1)), status()], ids=["one", "nothing"])
def test_failures_without_one_cause_are_told(
    checks: tuple[str, ...], words: str, queue: QueueStatus
) -> None:
    told = usual_day(-70)
    for n in range(4):
        failed = checks[n % 2 :][:1]
        told.fails(41 + n, start=-50 + 11 * n, end=-42 + 11 * n, failed=failed)
    story = make_story("they fail", QueueVerdict.UNKNOWN, queue=queue, told=stored(told))
    diagnosis = said(story)
    assert diagnosis.first.verdict in {QueueVerdict.UNKNOWN, QueueVerdict.EMPTY}
    assert words in causes.told(diagnosis.first, diagnosis).evidence


def test_a_pause_without_a_reason_ends_in_no_colon() -> None:
    queue = status(live(41))
    story = make_story("paused", QueueVerdict.PAUSED, queue=queue, pause=paused(-30, reason=""))
    assert cause_headline(said(story)) == "acme/site is paused"


@pytest.mark.parametrize("story", EACH_VERDICT, ids=lambda story: story.name)
def test_machines_get_what_a_verdict_rests_on(story: Story) -> None:
    diagnosis = said(story)
    shapes = diagnosis_shape(diagnosis, "as people read it").findings
    for finding, shape in zip(diagnosis.findings, shapes, strict=True):
        assert shape.verdict is finding.verdict
        assert shape.since == getattr(finding, "since", None)
        match finding:
            case Restarted():
                named = {number for cause in finding.causes for number in cause.numbers}
                assert (set(shape.pull_requests), shape.times) == (named, finding.times)
            case SameCheck():
                assert (tuple(shape.checks), shape.times) == (finding.names, finding.batches)


def test_a_freeze_of_another_branch_is_not_why_this_one_is_frozen() -> None:
    """Nobody but the service knows whom the other one holds, and it says that it holds these."""
    of_risky = frozen(-50, "label=risky", reason="risky ones wait")
    of_release = frozen(-40, "base=release/1", reason="release 1.2")
    told = usual_day(-60)
    told.enter(-55, 41)
    story = make_story(
        "two freezes",
        QueueVerdict.FROZEN,
        queue=status(live(queued(41, -55), start=-54, code="frozen")),
        told=stored(told),
        freezes=(of_risky, of_release),
    )
    first = said(story).first
    assert isinstance(first, Frozen)
    assert first.freezes == (of_risky,)


@pytest.mark.parametrize(
    ("branch", "verdict"),
    [("main", QueueVerdict.MISCONFIGURED), ("release/1", QueueVerdict.NORMAL)],
)
def test_a_missing_rule_of_another_branch_is_not_this_ones(
    branch: str, verdict: QueueVerdict
) -> None:
    told = usual_day(-10)
    told.enter(-9, 41)
    other = Telling(branch)
    for number, minute in ((71, -8), (72, -6)):
        other.leave(minute, number, "QUEUE_RULE_MISSING")
    story = make_story(
        "a rule is gone",
        verdict,
        queue=status(live(queued(41, -9), start=-8)),
        told=stored(told, other),
    )
    assert said(story).first.verdict is verdict


def test_of_a_batch_that_comes_back_no_single_pull_request_is_blamed() -> None:
    told = usual_day(-200)
    for n in range(3):
        begin = -190 + 40 * n
        batch = Batch((41, 42, 43), begin, begin + 12)
        told.enter(begin - 1, *batch.numbers)
        told.start(batch)
        told.end(batch, code="CHECKS_FAILED", failed=["integration"])
        for number in batch.numbers:
            told.leave(begin + 13, number, "CHECKS_FAILED", ["integration"])
    told.enter(-60, 41, 42, 43)
    story = make_story(
        "three come back together",
        QueueVerdict.UNKNOWN,
        queue=status(live(queued(41, -60), queued(42, -60), queued(43, -60), start=-10)),
        told=stored(told),
    )
    assert QueueVerdict.COMES_BACK not in said(story).verdicts


def test_two_batches_that_fail_are_no_storm_however_many_are_in_them() -> None:
    told = usual_day(-60)
    for numbers, minute, checks in (
        ((41, 42, 43), -30, ["lint", "unit tests"]),
        ((44, 45, 46), -15, ["integration"]),
    ):
        batch = Batch(numbers, minute - 12, minute)
        told.enter(minute - 13, *numbers)
        told.start(batch)
        told.end(batch, code="CHECKS_FAILED", failed=checks)
    story = make_story(
        "two batches", QueueVerdict.UNKNOWN, queue=status(live(47, start=-5)), told=stored(told)
    )
    assert QueueVerdict.MANY_CHECKS not in said(story).verdicts
