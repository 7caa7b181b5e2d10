"""Leaving the queue: merged, on request, by conflict, by a push; and schedules that hold."""

from datetime import timedelta

import pytest

from tests.unit.sandbox.merge_queue.story import REPOSITORY, START, Story


def test_the_head_branch_is_deleted_by_a_rule_after_the_merge() -> None:
    story = Story()
    number = story.one(labels=["backport"])
    story.pass_time(100)
    deleted, backport = story.log("action.delete_head_branch", "action.backport", pull=number)
    assert deleted.trigger == "Rule: delete merged branches"
    assert backport.metadata["to"] == "release/4.2"


def test_a_dequeue_names_its_person_and_restarts_those_behind() -> None:
    story = Story()
    first, second = story.enter(2)
    story.pass_time(10)
    story.controls.dequeue(REPOSITORY, first, "bob")
    assert story.reported(first) == [
        "enter",
        "checks_start",
        "command.dequeue",
        "checks_end",
        "leave",
    ]
    assert story.left() == {first: "PR_MANUALLY_DEQUEUED"}
    assert story.codes_of(first) == ["PR_MANUALLY_DEQUEUED"]
    assert story.codes_of(second) == ["PR_AHEAD_DEQUEUED"]
    (command,) = story.log("command.dequeue")
    assert command.trigger == "@bob"
    story.pass_time(1_000)
    assert story.merged() == [second]
    assert story.reported(first)[-1] == "leave"


def test_a_waiting_pull_request_leaves_without_a_run() -> None:
    story = Story(parallel=1)
    story.one()
    waiting = story.one()
    story.controls.dequeue(REPOSITORY, waiting)
    assert story.reported(waiting) == ["enter", "command.dequeue", "leave"]
    (left,) = story.log("leave")
    assert (left.metadata["batch_id"], left.metadata["scopes"]) == (None, None)


def test_leaving_a_filling_batch_does_not_reset_its_time() -> None:
    story = Story(batch_size=3)
    first, second = story.enter(2)
    story.controls.dequeue(REPOSITORY, first)
    assert story.members == [[second]]
    story.pass_time(28)
    assert story.codes == ["preparing"]


def test_dequeuing_a_pull_request_that_is_not_queued_is_refused() -> None:
    story = Story()
    with pytest.raises(LookupError, match="#99 is not queued"):
        story.controls.dequeue(REPOSITORY, 99)


@pytest.mark.parametrize("code", ["CONFLICT_WITH_BASE_BRANCH", "CONFLICT_WITH_PULL_AHEAD"])
def test_a_conflict_is_found_before_any_check_runs(code: str) -> None:
    story = Story()
    number = story.one(conflict=code)
    story.pass_time(10)
    assert story.reported(number) == ["enter", "leave"]
    assert story.left() == {number: code}


def test_a_push_to_the_base_branch_starts_all_checks_again() -> None:
    story = Story()
    numbers = story.enter(2)
    story.pass_time(10)
    story.controls.push_to(REPOSITORY, "main")
    assert [story.codes_of(number) for number in numbers] == [["MERGE_QUEUE_RESET"]] * 2
    story.pass_time(200)
    assert story.merged() == numbers


def test_a_schedule_holds_merging_until_its_hour() -> None:
    story = Story(merge_hours=(10, 12))
    number = story.one()
    story.pass_time(600)
    assert story.codes == ["waiting_schedule"]
    assert story.status()["batches"][0]["estimated_merge_at"] is None
    story.pass_time(3_600 - 601)
    assert story.merged() == []
    story.pass_time(4)
    assert story.merged() == [number]
    (left,) = story.log("leave")
    assert left.metadata["seconds_waiting_for_schedule"] == 3_600 - 64
    assert left.received_at == 1_000_000 * int((START + timedelta(seconds=3_603)).timestamp())
