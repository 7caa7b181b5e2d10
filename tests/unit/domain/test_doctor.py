"""Why nothing merges: the doctor of queues on stories whose cause is known.

`python -m tests.doctor` prints how often it is right.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import combinations

import pytest

from bot.doctor.diagnosing import diagnose
from bot.doctor.diagnosis import Diagnosis, Normal, SameCheck, Verdict
from bot.doctor.facts import EXAMINED_TYPES, Facts
from bot.doctor.past import ENOUGH, usual
from tests.doctor.counting import Outcome, outcome
from tests.doctor.look_alikes import LOOK_ALIKES
from tests.doctor.story import Story, at
from tests.doctor.verdicts import STORIES
from tests.support.clock import NOON

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
ALL = (*STORIES, *LOOK_ALIKES)


def said(story: Story) -> Diagnosis:
    return diagnose(story.facts, story.at)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_each_verdict_is_found(story: Story) -> None:
    assert set(said(story).verdicts) == story.truth


@pytest.mark.parametrize("story", LOOK_ALIKES, ids=lambda story: story.name)
def test_a_look_alike_is_never_blamed(story: Story) -> None:
    assert outcome(story) is not Outcome.WRONG, said(story).verdicts


@pytest.mark.parametrize("verdict", Verdict)
def test_every_verdict_has_three_stories(verdict: Verdict) -> None:
    assert sum(story.truth == {verdict} for story in STORIES) >= 3


def with_less(facts: Facts) -> Iterator[Facts]:
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
def test_whoever_knows_less_says_less(story: Story) -> None:
    for facts in with_less(story.facts):
        unfounded = {*diagnose(facts, story.at).verdicts} - story.truth - {Verdict.UNKNOWN}
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
    assert unfounded <= {Verdict.UNKNOWN, Verdict.NORMAL}


def test_a_check_that_fails_in_every_batch_comes_with_its_evidence() -> None:
    story = next(story for story in STORIES if story.truth == {Verdict.SAME_CHECK})
    (found,) = said(story).findings
    assert isinstance(found, SameCheck)
    assert (found.names, found.batches, found.pull_requests) == (("integration",), 6, 6)
    assert found.since == at(-52)
    assert found.passed == 3_029


def test_the_estimate_is_the_pace_of_the_last_hours() -> None:
    story = next(story for story in STORIES if story.truth == {Verdict.NORMAL})
    (found,) = said(story).findings
    assert isinstance(found, Normal)
    assert found.pace == 15 * MINUTE
    assert found.estimate == 62 * 15 * MINUTE


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


def test_the_first_cause_is_the_headline() -> None:
    story = next(story for story in STORIES if len(story.truth) > 1)
    assert said(story).first.verdict is Verdict.PAUSED
    assert said(story).verdicts == (Verdict.PAUSED, Verdict.SAME_CHECK)
