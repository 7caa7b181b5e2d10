"""Pausing: checks stop, nothing merges, everybody may join, and all starts afresh."""

from bot.sandbox.merge_queue.simulation.state import Actor
from tests.unit.sandbox.merge_queue.story import REPOSITORY, Story

STOPPED = "PR_CHECKS_STOPPED_BECAUSE_MERGE_QUEUE_PAUSE"


def test_pausing_stops_running_checks_keeps_the_order_and_lets_more_enter() -> None:
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


def test_resuming_starts_fresh_checks_in_the_same_stay() -> None:
    story = Story()
    number = story.one()
    story.pass_time(10)
    story.controls.pause(REPOSITORY, "stop")
    story.pass_time(100)
    assert story.controls.resume(REPOSITORY)
    story.pass_time(100)
    run = ["checks_start", "checks_end"]
    assert story.reported(number) == ["enter", *run, *run, "leave", "merged"]
    assert len({event.metadata["session_id"] for event in story.log("enter", "leave")}) == 1


def test_pausing_again_replaces_the_reason_and_reports_it() -> None:
    story = Story()
    story.controls.pause(REPOSITORY, "first", "carol")
    story.pass_time(5)
    story.controls.pause(REPOSITORY, "second", Actor("application", "a-uuid", "mqbot"))
    create, update = story.log("queue.pause.create", "queue.pause.update")
    assert create.metadata["created_by"] == {"type": "user", "id": 10_403, "name": "carol"}
    assert (create.metadata["reason"], update.metadata["reason"]) == ("first", "second")
    bot = {"type": "application", "id": "a-uuid", "name": "mqbot"}
    assert update.metadata["updated_by"] == bot
    assert (update.pull_request, update.base_ref) == (None, None)
    assert story.repository.pause is not None
    assert story.repository.pause.reason == "second"
    story.controls.resume(REPOSITORY, "bob")
    (deleted,) = story.log("queue.pause.delete")
    assert "reason" not in deleted.metadata
    assert deleted.metadata["deleted_by"] == {"type": "user", "id": 10_402, "name": "bob"}


def test_checks_in_place_continue_and_may_remove_their_pull_request() -> None:
    story = Story(parallel=1)
    number = story.one(broken_check="unit tests")
    story.pass_time(10)
    story.controls.pause(REPOSITORY, "stop")
    assert story.codes == ["running"]
    story.pass_time(100)
    assert story.left() == {number: "CHECKS_FAILED"}
    assert story.repository.pause is not None
