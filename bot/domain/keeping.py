"""From an event as received to what is kept of it."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache, lru_cache, singledispatch

from pydantic import JsonValue

from bot.domain.event_metadata import (
    ApiActor,
    BatchBisectionEnd,
    BatchBisectionStart,
    BatchMetadata,
    CommandMetadata,
    ConflictDeferred,
    FreezeAttributes,
    FreezeCreate,
    FreezeDelete,
    FreezeUpdate,
    Metadata,
    PauseCreate,
    PauseDelete,
    PauseUpdate,
    QueueChange,
    QueueChecksChange,
    QueueChecksEnd,
    QueueChecksNotStarted,
    QueueEnter,
    QueueLeave,
    QueueMerged,
    QueueMetadata,
    ReportedCheck,
    UnknownMetadata,
)
from bot.domain.event_records import EventRecord
from bot.domain.events import QueueEvent
from bot.domain.repository import RepositoryName
from bot.domain.resource import LARGEST_NUMBER

CHECKS_KEPT = 5
TEXT_KEPT = 1000
NUMBERS_KEPT = 50

TIMES_WRITTEN = 1024
"""So many times are not written again: all events of a stay tell when it was queued."""


def keep(event: QueueEvent, repository: RepositoryName) -> EventRecord:
    """What is stored of `event`; facts that are absent are left out of `details`."""
    metadata = event.metadata
    facts = _reader(type(metadata))(metadata)
    details = {name: value for name, value in facts.items() if value is not None}
    details["trigger"] = _storable(event.trigger)
    session_id = getattr(metadata, "session_id", None)
    return EventRecord(
        repository,
        event.id,
        event.received_at,
        event.type[:TEXT_KEPT],
        event.pull_request,
        _text(event.base_ref),
        _text(session_id) if isinstance(session_id, str) else None,
        details,
    )


@cache
def _reader(metadata_type: type[Metadata]) -> Callable[[Metadata], Mapping[str, JsonValue]]:
    """What `_facts` comes to, which looks for it longer than most of them take."""
    return _facts.dispatch(metadata_type)


@singledispatch
def _facts(_metadata: Metadata) -> Mapping[str, JsonValue]:
    return {}


@_facts.register
def _(metadata: UnknownMetadata) -> Mapping[str, JsonValue]:
    """The few facts of the other types that have words: texts, numbers, and lists of these."""
    return {name: _plain(metadata.fields[name]) for name in OTHER_FACTS if name in metadata.fields}


@_facts.register
def _(metadata: ConflictDeferred) -> Mapping[str, JsonValue]:
    return {
        **_of_queue(metadata),
        "reason": _text(metadata.reason),
        "blocking": _numbers(metadata.blocking_pull_request_numbers) or None,
    }


@_facts.register
def _(metadata: QueueChange) -> Mapping[str, JsonValue]:
    return {**_of_queue(metadata), "size": metadata.size}


@_facts.register
def _(metadata: QueueChecksChange) -> Mapping[str, JsonValue]:
    return {**_of_queue(metadata), "running_checks": metadata.running_checks}


@_facts.register(QueueMetadata)
@_facts.register(QueueEnter)
@_facts.register(QueueMerged)
def _of_queue(metadata: QueueMetadata) -> Mapping[str, JsonValue]:
    return {
        "queue_name": _text(metadata.queue_name),
        "priority_rule": _text(metadata.priority_rule_name),
        "queued_at": _written(metadata.queued_at) if metadata.queued_at is not None else None,
    }


@_facts.register
def _(metadata: QueueLeave) -> Mapping[str, JsonValue]:
    failing = metadata.unsuccessful_checks or [
        check for check in metadata.checks if check.state in FAILING_STATES
    ]
    return {
        **_of_queue(metadata),
        "merged": metadata.merged,
        "code": _text(metadata.dequeue_code),
        "reason": _text(metadata.reason),
        "checks": _checks(failing),
        "checks_left_out": _left_out(failing),
        "batch": _batch(metadata),
    }


@_facts.register
def _(metadata: QueueChecksEnd) -> Mapping[str, JsonValue]:
    checked = metadata.speculative_check_pull_request
    return {
        **_of_queue(metadata),
        "aborted": metadata.aborted,
        "code": _text(metadata.abort_code),
        "reason": _text(metadata.abort_reason),
        "abort_status": _text(metadata.abort_status),
        "conclusion": _text(checked.checks_conclusion) if checked is not None else None,
        "checks": _checks(checked.unsuccessful_checks) if checked is not None else None,
        "checks_left_out": _left_out(checked.unsuccessful_checks) if checked is not None else None,
        "batch": _batch(metadata),
        "members": _numbers(checked.pull_request_numbers) if checked is not None else None,
    }


@_facts.register
def _(metadata: QueueChecksNotStarted) -> Mapping[str, JsonValue]:
    return {**_of_queue(metadata), "reason": _text(metadata.reason)}


@_facts.register
def _(metadata: BatchBisectionStart) -> Mapping[str, JsonValue]:
    return {
        "pull_requests": _numbers(metadata.original_batch_pr_numbers),
        "batch": _batch(metadata),
    }


@_facts.register
def _(metadata: BatchBisectionEnd) -> Mapping[str, JsonValue]:
    return {
        "pull_requests": _numbers(metadata.original_batch_pr_numbers),
        "culprit_found": metadata.culprit_found,
        "culprits": _numbers(metadata.culprit_pr_numbers),
        "unverified": _numbers(metadata.dropped_unverified_pr_numbers) or None,
        "remaining": _numbers(metadata.remaining_pr_numbers),
        "batch": _batch(metadata),
    }


@_facts.register
def _(metadata: PauseCreate) -> Mapping[str, JsonValue]:
    return {"reason": _text(metadata.reason), **_actor(metadata.created_by)}


@_facts.register
def _(metadata: PauseUpdate) -> Mapping[str, JsonValue]:
    return {"reason": _text(metadata.reason), **_actor(metadata.updated_by)}


@_facts.register
def _(metadata: PauseDelete) -> Mapping[str, JsonValue]:
    return _actor(metadata.deleted_by)


@_facts.register
def _(metadata: FreezeCreate) -> Mapping[str, JsonValue]:
    return {**_freeze(metadata.scheduled_freeze_attributes), **_actor(metadata.created_by)}


@_facts.register
def _(metadata: FreezeUpdate) -> Mapping[str, JsonValue]:
    return {**_freeze(metadata.scheduled_freeze_attributes_after), **_actor(metadata.updated_by)}


@_facts.register
def _(metadata: FreezeDelete) -> Mapping[str, JsonValue]:
    return {"reason": _text(metadata.reason), **_actor(metadata.deleted_by)}


@_facts.register
def _(metadata: CommandMetadata) -> Mapping[str, JsonValue]:
    return {"actor": _text(metadata.author.login) if metadata.author is not None else None}


OTHER_FACTS = (
    "added",
    "removed",
    "to",
    "conflicts",
    "message",
    "branch",
    "users",
    "draft",
    "workflow",
    "conclusion",
    "title",
    "reviewers",
    "team_reviewers",
    "review_type",
    "reviewer",
    "pull_request_number",
    "job_name",
    "rule_name",
    "new_name",
    "retry_attempt",
    "max_retry",
    "outcome",
    "product",
)
"""Of metadata that we have no model for (`bot.messages.events.other_events` words them)."""

FAILING_STATES = frozenset({"failure", "error", "timed_out", "cancelled", "action_required"})


def _freeze(attributes: FreezeAttributes | None) -> dict[str, JsonValue]:
    if attributes is None:
        return {}
    return {
        "reason": _text(attributes.reason),
        "start": _text(attributes.start),
        "end": _text(attributes.end),
        "timezone": _text(attributes.timezone),
    }


def _actor(actor: ApiActor | None) -> dict[str, JsonValue]:
    if actor is None:
        return {}
    return {"actor": _text(actor.name), "actor_type": _text(actor.type)}


def _batch(metadata: BatchMetadata) -> str | None:
    return _text(metadata.batch_id or metadata.train_car_id)


_written = lru_cache(TIMES_WRITTEN)(datetime.isoformat)


def _text(value: str | None) -> str | None:
    # Not left to `_storable` alone: most texts are absent, and the others nearly all as they are.
    if value is None or (len(value) <= TEXT_KEPT and "\x00" not in value):
        return value
    return _storable(value)


def _storable(value: str) -> str:
    """Bounded, and without the character that PostgreSQL cannot store."""
    if len(value) <= TEXT_KEPT and "\x00" not in value:
        return value
    return value.replace("\x00", "")[:TEXT_KEPT]


def _plain(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return _storable(value)
    if isinstance(value, list):
        some = value[:CHECKS_KEPT]
        return [_storable(one) for one in some if isinstance(one, str)]
    return value if isinstance(value, (bool, int)) and abs(value) <= LARGEST_NUMBER else None


def _numbers(values: tuple[int, ...]) -> list[JsonValue]:
    return list(values[:NUMBERS_KEPT])


def _checks(checks: Sequence[ReportedCheck]) -> JsonValue:
    kept = checks[:CHECKS_KEPT]
    return [
        {"name": _text(check.name), "url": _text(check.details_url or check.url)} for check in kept
    ]


def _left_out(checks: Sequence[ReportedCheck]) -> int | None:
    """How many are not among those kept; None where all are."""
    return max(len(checks) - CHECKS_KEPT, 0) or None
