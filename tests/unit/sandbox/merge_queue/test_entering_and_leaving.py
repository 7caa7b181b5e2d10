"""Entering the queue and leaving it: who may, where in line, why, and what the log says."""

from dataclasses import replace
from datetime import timedelta

import pytest

from tests.unit.sandbox.merge_queue.story import REPOSITORY, START, Story


def test_an_entry_follows_its_command_and_shows_queue_branch_priority_and_time() -> None:
    story = Story()
    number = story.one(by="bob", labels=["hotfix"])
    command, entry = story.log("command.queue", "enter", pull=number)
    assert (command.type, entry.type) == ("command.queue", "action.queue.enter")
    assert command.metadata["session_id"] == entry.metadata["session_id"]
    assert command.trigger == entry.trigger == "@bob"
    author = command.metadata["author"]
    assert isinstance(author, dict)
    assert (author["login"], author["type"]) == ("bob", "User")
    assert entry.base_ref == "main"
    assert (
        entry.metadata.items()
        >= {
            "branch": "main",
            "queue_name": "hotfix",
            "priority_rule_name": "hotfixes first",
            "partition_name": "__default__",
            "queued_at": "2026-03-02T09:00:00.000000Z",
        }.items()
    )


def test_without_a_matching_priority_rule_the_priority_is_medium_and_its_rule_null() -> None:
    story = Story(batch_size=3)
    number = story.one()
    (entry,) = story.log("enter", pull=number)
    assert entry.metadata["priority_rule_name"] is None
    assert story.batch.members[0].priority_alias == "medium"
    assert story.batch.members[0].priority == 2000


def test_a_higher_priority_goes_before_those_not_yet_checked() -> None:
    story = Story(parallel=2)
    story.enter(2)
    low = story.one(labels=["dependencies"])
    medium = story.one()
    assert story.waiting == [medium, low]


def test_a_rule_that_interrupts_stops_running_checks_of_lower_priorities_not_passed_ones() -> None:
    story = Story()
    first = story.one()
    story.pass_time(10)
    urgent = story.one(labels=["hotfix"])
    assert story.codes_of(first) == ["PR_WITH_HIGHER_PRIORITY_QUEUED"]
    assert story.members[0] == [urgent]
    (end,) = story.log("checks_end", pull=first)
    assert end.metadata["abort_status"] == "REEMBARKED"
    story.pass_time(200)
    assert story.merged() == [urgent, first]

    passed = story.one()
    story.wait_for(lambda: story.codes == ["waiting_for_merge"])
    story.one(labels=["hotfix"])
    assert story.codes_of(passed) == [None]


def test_a_later_queue_entry_has_another_session_and_labels_follow() -> None:
    story = Story()
    story.repository.tempo = replace(story.repository.tempo, fixed=1.0)
    number = story.one(broken_check="lint")
    pull = story.controls.queued("acme/site", number)
    assert "queued" in pull.labels
    story.wait_for(lambda: number in story.left())
    labels = [event.metadata for event in story.log("action.label", pull=number)]
    assert labels == [
        {"added": ["queued"], "removed": []},
        {"added": ["dequeued"], "removed": ["queued"]},
    ]
    story.wait_for(lambda: len(story.log("enter", pull=number)) == 2, within=700)
    sessions = {event.metadata["session_id"] for event in story.log("enter", pull=number)}
    assert len(sessions) == 2
    assert pull.broken_check is None
    story.pass_time(200)
    assert story.merged() == [number]


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
