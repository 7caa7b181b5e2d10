"""Events of every type, read from what a service sends."""

from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from bot.domain.dequeue_codes import DEQUEUE_CODES, CodeClass, class_of
from bot.domain.event_metadata import (
    BatchBisectionEnd,
    CommandMetadata,
    FreezeUpdate,
    PauseCreate,
    PauseUpdate,
    QueueChange,
    QueueChecksEnd,
    QueueChecksStart,
    QueueLeave,
    QueueMerged,
    UnknownMetadata,
)
from bot.domain.event_reading import METADATA_OF_TYPE
from bot.domain.events import (
    EVENT_TYPES,
    LIVE_EVENT_TYPES,
    QueueEvent,
    is_known_event_type,
)
from tests.support.samples import sample

TYPED_GROUPS = ("action.queue.", "queue.pause.", "scheduled_freeze.", "command.")


def read(event_type: str, log: str = "event_log") -> QueueEvent:
    sent = next(event for event in sample(log)["events"] if event["type"] == event_type)
    return QueueEvent.model_validate(sent)


def make(event_type: str, metadata: Any = None) -> QueueEvent:
    return QueueEvent.model_validate(
        {"id": 1, "received_at": "2026-07-20T23:25:11Z", "type": event_type, "metadata": metadata}
    )


@pytest.mark.parametrize("log", ["event_log", "event_log_live"])
def test_every_event_of_the_samples_is_read_with_the_metadata_that_we_use(log: str) -> None:
    for sent in sample(log)["events"]:
        event = QueueEvent.model_validate(sent)

        assert is_known_event_type(event.type), event.type
        assert event.raw_metadata is None, event.type
        assert event.pull_request == sent["pull_request"]
        if event.type.startswith(TYPED_GROUPS):
            assert not isinstance(event.metadata, UnknownMetadata), event.type
            told = {name for name, value in sent["metadata"].items() if value is not None}
            for name in told & type(event.metadata).model_fields.keys():
                assert getattr(event.metadata, name) is not None, f"{event.type} {name}"
        else:
            assert event.metadata == UnknownMetadata(fields=sent["metadata"])


def test_samples_show_every_type_of_the_document() -> None:
    shown = {sent["type"] for sent in sample("event_log")["events"]}

    assert shown - {"action.somehost_actions"} == EVENT_TYPES
    assert not EVENT_TYPES & LIVE_EVENT_TYPES
    typed = {name for name in EVENT_TYPES | LIVE_EVENT_TYPES if name.startswith(TYPED_GROUPS)}
    assert typed == METADATA_OF_TYPE.keys()


def test_platform_actions_are_known_for_any_platform() -> None:
    assert is_known_event_type("action.anyhost_actions")
    assert not is_known_event_type("action._actions.more")
    assert not is_known_event_type("action.of_tomorrow")


def test_event_without_a_pull_request_is_read() -> None:
    event = read("queue.pause.create")

    assert event.pull_request is None
    assert event.base_ref is None
    assert isinstance(event.metadata, PauseCreate)
    assert event.metadata.created_by is not None
    assert event.metadata.created_by.id == 7001


def test_actor_may_be_an_application_with_a_uuid() -> None:
    metadata = read("queue.pause.update").metadata

    assert isinstance(metadata, PauseUpdate)
    assert metadata.updated_by is not None
    assert metadata.updated_by.id == "3fa85f64-5717-4562-b3fc-2c963f66afa6"


def test_leave_tells_whether_it_was_a_merge() -> None:
    failed = read("action.queue.leave").metadata
    merged = read("action.queue.leave", "event_log_live").metadata

    assert isinstance(failed, QueueLeave)
    assert failed.merged is False
    assert isinstance(merged, QueueLeave)
    assert merged.merged is True
    assert merged.dequeue_code == "PR_MERGED"
    assert merged.scopes == ()


def test_checks_tell_what_they_ran_on_and_how_they_ended() -> None:
    started = read("action.queue.checks_start").metadata
    ended = read("action.queue.checks_end").metadata

    assert isinstance(started, QueueChecksStart)
    assert started.speculative_check_pull_request is not None
    assert started.speculative_check_pull_request.pull_request_numbers == (41, 42)
    assert isinstance(ended, QueueChecksEnd)
    assert ended.abort_code == "CHECKS_FAILED"
    assert ended.speculative_check_pull_request is not None
    assert [check.name for check in ended.speculative_check_pull_request.unsuccessful_checks] == [
        "unit"
    ]


def test_other_groups_have_their_own_fields() -> None:
    bisected = read("action.queue.batch_bisection_end").metadata
    frozen = read("scheduled_freeze.update").metadata
    command = read("command.queue").metadata
    changed = read("action.queue.change").metadata
    merged = read("action.queue.merged").metadata

    assert isinstance(bisected, BatchBisectionEnd)
    assert bisected.culprit_pr_numbers == (42,)
    assert isinstance(frozen, FreezeUpdate)
    assert frozen.scheduled_freeze_attributes_after is not None
    assert frozen.scheduled_freeze_attributes_after.end == "2027-01-02T00:00:00"
    assert isinstance(command, CommandMetadata)
    assert command.author is not None
    assert command.author.login == "ana"
    assert isinstance(changed, QueueChange)
    assert changed.size == 3
    assert isinstance(merged, QueueMerged)
    assert merged.queue_name == "default"


def test_event_of_an_unknown_type_keeps_its_type_and_fields() -> None:
    event = make("action.of_tomorrow", {"any": [1, {"thing": None}]})

    assert event.type == "action.of_tomorrow"
    assert event.metadata == UnknownMetadata(fields={"any": [1, {"thing": None}]})
    assert event.raw_metadata is None


def test_one_bad_field_does_not_hide_the_others() -> None:
    sent = {"merged": True, "checks": 4, "branch": ["main"], "reason": "merged"}

    event = make("action.queue.leave", sent)

    assert isinstance(event.metadata, QueueLeave)
    assert (event.metadata.merged, event.metadata.reason) == (True, "merged")
    assert event.metadata.branch is None
    assert event.raw_metadata == sent


@pytest.mark.parametrize("sent", [[], "nonsense", 7, [{"merged": True}]])
def test_metadata_that_is_no_object_is_kept_raw(sent: Any) -> None:
    event = make("action.queue.leave", sent)

    assert isinstance(event.metadata, QueueLeave)
    assert event.metadata.merged is None
    assert event.raw_metadata == sent


def test_absent_metadata_leaves_every_field_unknown() -> None:
    event = make("action.queue.leave")

    assert event.metadata == QueueLeave()
    assert event.raw_metadata is None
    assert (event.trigger, event.repository) == ("", "")


@pytest.mark.parametrize(
    "change",
    [{"id": None}, {"id": -1}, {"id": 2**63}, {"received_at": "soon"}, {"type": None}],
)
def test_event_without_what_every_event_has_cannot_be_read(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        QueueEvent.model_validate(
            {"id": 1, "received_at": "2026-07-20T23:25:11Z", "type": "action.merge"} | change
        )


def test_event_can_be_made_from_values() -> None:
    event = QueueEvent(
        id=1,
        received_at=datetime(2026, 7, 20, tzinfo=UTC),
        type="action.queue.leave",
        metadata=QueueLeave(merged=True),
    )

    assert event.metadata == QueueLeave(merged=True)


def test_codes_have_the_classes_of_the_facts_sheet() -> None:
    assert len(DEQUEUE_CODES) == 41
    counted = dict.fromkeys(CodeClass, 0)
    for row in DEQUEUE_CODES.values():
        counted[row.code_class] += 1
    assert counted == {
        CodeClass.MERGED: 3,
        CodeClass.FAILED: 3,
        CodeClass.TECHNICAL: 17,
        CodeClass.UNPROVEN: 2,
        CodeClass.REQUEUED: 12,
        CodeClass.HUMAN: 4,
    }
    assert class_of("CHECKS_FAILED") is CodeClass.FAILED
    assert class_of("PR_AHEAD_DEQUEUED") is CodeClass.REQUEUED
    assert class_of("A_CODE_OF_TOMORROW") is None
    assert class_of(None) is None
