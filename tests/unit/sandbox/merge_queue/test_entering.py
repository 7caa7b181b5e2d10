"""Entering the queue: who may, where in line, and what the log says."""

from dataclasses import replace

from tests.unit.sandbox.merge_queue.story import Story


def test_a_command_comes_before_the_enter_event_and_belongs_to_its_entry() -> None:
    story = Story()
    number = story.one(by="bob")
    command, entry = story.log("command.queue", "enter", pull=number)
    assert (command.type, entry.type) == ("command.queue", "action.queue.enter")
    assert command.metadata["session_id"] == entry.metadata["session_id"]
    assert command.trigger == entry.trigger == "@bob"
    author = command.metadata["author"]
    assert isinstance(author, dict)
    assert (author["login"], author["type"]) == ("bob", "User")


def test_the_entry_shows_queue_branch_priority_and_time() -> None:
    story = Story()
    number = story.one(labels=["hotfix"])
    (entry,) = story.log("enter", pull=number)
    assert entry.base_ref == "main"
    assert entry.metadata["branch"] == "main"
    assert entry.metadata["queue_name"] == "hotfix"
    assert entry.metadata["priority_rule_name"] == "hotfixes first"
    assert entry.metadata["partition_name"] == "__default__"
    assert entry.metadata["queued_at"] == "2026-03-02T09:00:00.000000Z"


def test_without_a_matching_priority_rule_the_priority_is_medium_and_its_rule_null() -> None:
    story = Story(batch_size=3)
    number = story.one()
    (entry,) = story.log("enter", pull=number)
    assert entry.metadata["priority_rule_name"] is None
    assert story.batch.members[0].priority_alias == "medium"
    assert story.batch.members[0].priority == 2000


def test_pull_requests_enter_while_paused_and_wait() -> None:
    story = Story()
    story.controls.pause("acme/site", "freeze the cluster")
    numbers = story.enter(2)
    story.pass_time(500)
    assert story.waiting == numbers
    assert story.log("checks_start") == []


def test_a_higher_priority_goes_before_those_not_yet_checked() -> None:
    story = Story(parallel=2)
    story.enter(2)
    low = story.one(labels=["dependencies"])
    medium = story.one()
    assert story.waiting == [medium, low]


def test_a_rule_that_interrupts_stops_the_running_checks_of_lower_priorities() -> None:
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


def test_an_interrupting_rule_leaves_passed_checks_alone() -> None:
    story = Story()
    first = story.one()
    story.wait_for(lambda: story.codes == ["waiting_for_merge"])
    story.one(labels=["hotfix"])
    assert story.codes_of(first) == [None]


def test_the_queue_labels_its_pull_requests_and_unlabels_removed_ones() -> None:
    story = Story()
    number = story.one(broken_check="lint")
    assert "queued" in story.controls.queued("acme/site", number).labels
    story.pass_time(60)
    labels = [event.metadata for event in story.log("action.label", pull=number)]
    assert labels == [
        {"added": ["queued"], "removed": []},
        {"added": ["dequeued"], "removed": ["queued"]},
    ]


def test_a_later_queue_entry_has_another_session() -> None:
    story = Story()
    story.repository.tempo = replace(story.repository.tempo, fixed=1.0)
    number = story.one(broken_check="lint")
    pull = story.controls.queued("acme/site", number)
    story.wait_for(lambda: number in story.left())
    story.wait_for(lambda: len(story.log("enter", pull=number)) == 2, within=700)
    sessions = {event.metadata["session_id"] for event in story.log("enter", pull=number)}
    assert len(sessions) == 2
    assert pull.broken_check is None
    story.pass_time(200)
    assert story.merged() == [number]
