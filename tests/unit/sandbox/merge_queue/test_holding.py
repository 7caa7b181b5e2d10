"""Pauses and freezes: what stops, what runs on, and what is held."""

from datetime import timedelta
from typing import Any

import pytest

from bot.sandbox.merge_queue.controls import FreezeTerms
from bot.sandbox.merge_queue.simulation import freezing
from bot.sandbox.merge_queue.simulation.state import Condition, Person, PullRequest
from tests.unit.sandbox.merge_queue.story import REPOSITORY, START, Story

STOPPED = "PR_CHECKS_STOPPED_BECAUSE_MERGE_QUEUE_PAUSE"


def test_a_pause_stops_running_checks_until_fresh_ones_start_in_the_same_stay() -> None:
    story = Story()
    numbers = story.enter(3)
    story.pass_time(10)
    story.controls.pause(REPOSITORY, "database is down")
    numbers += story.enter(2)
    story.pass_time(500)
    assert story.waiting == numbers
    for number in numbers[:3]:
        (end,) = story.log("checks_end", pull=number)
        assert end.metadata["abort_code"] == STOPPED
        assert end.metadata["abort_status"] == "REEMBARKED"
    types = [event.type for event in story.log("queue.pause.create", "checks_end")]
    assert types == ["queue.pause.create", *["action.queue.checks_end"] * 3]

    assert story.controls.resume(REPOSITORY)
    story.pass_time(100)
    run = ["checks_start", "checks_end"]
    first = numbers[0]
    assert story.reported(first) == ["enter", *run, *run, "leave", "merged"]
    of_first = story.log("enter", "leave", pull=first)
    assert len({event.metadata["session_id"] for event in of_first}) == 1


def test_the_only_checks_are_in_place_continue_and_may_remove_their_pull_request() -> None:
    story = Story(parallel=1)
    number = story.one(broken_check="unit tests")
    story.pass_time(10)
    story.controls.pause(REPOSITORY, "stop")
    assert story.codes == ["running"]
    run: Any = story.log("checks_start")[0].metadata["speculative_check_pull_request"]
    assert (run["in_place"], run["number"]) == (True, number)
    story.pass_time(100)
    assert story.left() == {number: "CHECKS_FAILED"}
    assert story.repository.pause is not None

    story = Story(parallel=1)
    story.one()
    story.pass_time(10)
    story.controls.pause(REPOSITORY, "stop")
    story.pass_time(100)
    assert (story.codes, story.merged()) == (["waiting_for_merge"], [])


MAIN = FreezeTerms("cutting 4.2", matching_conditions=("base=main",))


def test_during_a_freeze_checks_continue_and_the_batch_is_frozen() -> None:
    story = Story()
    number = story.one()
    freeze = story.controls.freeze(REPOSITORY, MAIN)
    story.pass_time(300)
    assert story.codes == ["frozen"]
    assert story.codes_of(number) == [None]
    assert story.merged() == []
    assert story.status()["batches"][0]["estimated_merge_at"] is None
    story.controls.unfreeze(REPOSITORY, freeze, "done")
    story.pass_time(5)
    assert story.merged() == [number]
    (left,) = story.log("leave")
    assert left.metadata["seconds_waiting_for_freeze"] == 300 - 63


def test_a_scheduled_freeze_begins_and_ends_by_itself() -> None:
    story = Story()
    terms = FreezeTerms(
        "night",
        start=START + timedelta(seconds=60),
        end=START + timedelta(seconds=500),
    )
    story.controls.freeze(REPOSITORY, terms)
    number = story.one()
    story.pass_time(498)
    assert story.codes == ["frozen"]
    story.pass_time(5)
    assert story.merged() == [number]


def test_a_batch_that_a_freeze_affects_in_part_is_split() -> None:
    story = Story(batch_size=2)
    story.repository.rules = story.repository.rules[2:]
    held = story.one()
    free = story.one(labels=["bug"])
    story.pass_time(10)
    terms = FreezeTerms("cut", exclude_conditions=("label=bug",))
    story.controls.freeze(REPOSITORY, terms)
    assert story.codes_of(held) == story.codes_of(free) == ["SCHEDULED_FREEZE_STATUS_CHANGED"]
    story.pass_time(300)
    assert story.merged() == [free]
    assert story.members == [[held]]


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("base=main", True),
        ("base!=main", False),
        ("label = bug", True),
        ("author=bob", False),
        ({"not": "author=bob"}, True),
        ({"and": ["base=main", "label=bug"]}, True),
        ({"or": ["base=dev", "label=docs"]}, False),
    ],
)
def test_conditions(condition: Condition, *, holds: bool) -> None:
    pull = PullRequest(1, "t", Person(1, "alice"), "main", "sha", labels=("bug",))
    assert freezing.matches(condition, pull) is holds


@pytest.mark.parametrize("condition", ["weather=fine", "base", {"xor": []}, {"not": 3}])
def test_an_unknown_condition_is_refused_when_the_freeze_is_made(condition: Condition) -> None:
    story = Story()
    with pytest.raises(ValueError, match=r"."):
        story.controls.freeze(REPOSITORY, FreezeTerms("x", matching_conditions=(condition,)))
    with pytest.raises(ValueError, match="after its start"):
        story.controls.freeze(REPOSITORY, FreezeTerms("x", start=START, end=START))
    assert story.repository.freezes == []
