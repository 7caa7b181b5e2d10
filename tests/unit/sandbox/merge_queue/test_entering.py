"""Entering the queue: who may, where in line, and what the log says."""

from dataclasses import replace

from tests.unit.sandbox.merge_queue.story import Story


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
