"""Freezes: checks run on, merging of what matches is held."""

from datetime import timedelta

import pytest

from bot.sandbox.merge_queue.controls import FreezeTerms
from bot.sandbox.merge_queue.simulation import freezing
from bot.sandbox.merge_queue.simulation.state import Condition, Person, PullRequest
from tests.unit.sandbox.merge_queue.story import REPOSITORY, START, Story

MAIN = FreezeTerms("cutting 4.2", matching_conditions=("base=main",))
NOT_HOTFIXES = FreezeTerms("cutting 4.2", exclude_conditions=("label=hotfix",))


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
    held, free = story.one(), story.one(labels=["bug"])
    story.pass_time(10)
    terms = FreezeTerms("cut", exclude_conditions=("label=bug",))
    story.controls.freeze(REPOSITORY, terms)
    assert story.codes_of(held) == story.codes_of(free) == ["SCHEDULED_FREEZE_STATUS_CHANGED"]
    story.pass_time(300)
    assert story.merged() == [free]
    assert story.members == [[held]]


def test_events_carry_the_freeze_before_and_after() -> None:
    story = Story()
    freeze = story.controls.freeze(REPOSITORY, MAIN)
    story.controls.change_freeze(REPOSITORY, freeze, NOT_HOTFIXES)
    story.controls.unfreeze(REPOSITORY, freeze, "released")
    create, update, delete = (
        event.metadata
        for event in story.log(*(f"scheduled_freeze.{n}" for n in ("create", "update", "delete")))
    )
    assert create["scheduled_freeze_attributes"] == {
        "reason": "cutting 4.2",
        "start": "2026-03-02T09:00:00.000000Z",
        "end": None,
        "timezone": "UTC",
        "matching_conditions": ["base=main"],
        "exclude_conditions": [],
    }
    assert update["scheduled_freeze_attributes_before"] == create["scheduled_freeze_attributes"]
    assert update["scheduled_freeze_attributes_after"] == delete["scheduled_freeze_attributes"]
    assert delete["reason"] == "released"
    assert delete["deleted_by"] == {"type": "user", "id": 10_403, "name": "carol"}


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
