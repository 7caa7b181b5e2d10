"""Adds details from earlier events to a leave: the code of its checks, and who requested it."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta

from bot.merge_queue.event_records import EventDetails, EventRecord
from bot.merge_queue.event_types import (
    CHECKS_END,
    CHECKS_START,
    DEQUEUE_COMMAND,
    ENTER,
    LEAVE,
    REMOVED_HERE,
    CodeClass,
    class_of,
)

REMOVED = "PR_MANUALLY_DEQUEUED"
REEMBARKED = "REEMBARKED"

LONGEST_QUEUE_TIME = timedelta(days=7)
"""How far back the events of a queue entry are searched."""

REMOVALS = frozenset({DEQUEUE_COMMAND, REMOVED_HERE})
STATE_TYPES = frozenset({ENTER, CHECKS_START, CHECKS_END, LEAVE}) | REMOVALS
"""The types of events that may explain a later leave."""


def is_uninformative(record: EventRecord) -> bool:
    """Whether a leave lacks its reason, or its author."""
    details = record.details
    if record.type != LEAVE or details.merged is True:
        return False
    if details.code == REMOVED:
        return not details.trigger.startswith("@")
    return details.code is None


def with_preceding_events(record: EventRecord, around: Sequence[EventRecord]) -> EventRecord:
    """The leave, completed from the events of its queue entry: `code`, `checks` and `actor`.

    `around` are events of the repository, oldest first. Those of other pull requests and later
    ones are ignored. Any other event is returned unchanged.
    """
    if not is_uninformative(record):
        return record
    details = record.details
    is_earlier_run = False
    for other in reversed(_before(record, around)):
        # A removal through this bot is known to have caused this leave, however slowly.
        if is_earlier_run and other.type != REMOVED_HERE:
            continue
        if other.type in REMOVALS and details.code in {None, REMOVED}:
            actor = details.actor or _who_removed(other)
            details = details.model_copy(update={"code": REMOVED, "actor": actor})
            break
        if other.type == CHECKS_START:
            is_earlier_run = True
        if details.code is None and other.type == CHECKS_END:
            details = _with_checks(details, other)
    return replace(record, details=details)


def _who_removed(removal: EventRecord) -> str | None:
    """A login of the code host with an @, which Slack doesn't treat as a mention; or a name."""
    by = removal.details.actor
    if by and removal.type == DEQUEUE_COMMAND:
        return f"@{by}"
    return by


def _before(record: EventRecord, around: Sequence[EventRecord]) -> Sequence[EventRecord]:
    """The events of the same queue entry before the leave, without its own beginning or end."""
    own = [
        other
        for other in around
        if other.pull_request == record.pull_request and other.type in STATE_TYPES
    ]
    entry = of_same_entry(record, own)
    return [other for other in entry if other.type not in {ENTER, LEAVE}]


def of_same_entry(record: EventRecord, own: Iterable[EventRecord]) -> list[EventRecord]:
    """The events of the record's queue entry before it, oldest first.

    `own` are the events of one pull request, oldest first, which is queued once at a time: between
    two queue entries the log has a LEAVE and an ENTER. If neither is stored, those of both count.
    The log may tell late of an earlier entry, so what names its session is of that one.
    """
    end = (record.received_at, record.event_id)
    entry: list[EventRecord] = []
    for event in own:
        if (event.received_at, event.event_id) >= end:
            break
        if event.type in {ENTER, LEAVE}:
            entry = [known for known in entry if _is_of_session(known, record)]
        if may_share_a_session(event, record):
            entry.append(event)
    return entry


def _is_of_session(event: EventRecord, record: EventRecord) -> bool:
    return record.session_id is not None and event.session_id == record.session_id


def may_share_a_session(first: EventRecord, second: EventRecord) -> bool:
    """Whether both may be of one time in the queue; an older service names no session."""
    if first.session_id is None or second.session_id is None:
        return True
    return first.session_id == second.session_id


STOPPED_BY_PAUSE = "PR_CHECKS_STOPPED_BECAUSE_MERGE_QUEUE_PAUSE"


def is_aborted(ended: EventRecord) -> bool:
    """Whether checks ended early; without that field, only early ends have a code."""
    aborted = ended.details.aborted
    return aborted is True or (aborted is None and bool(ended.details.code))


def has_passed(ended: EventRecord) -> bool:
    """Whether checks came to their end, and passed; an event without details says neither."""
    details = ended.details
    if ended.type != CHECKS_END or details.code or is_aborted(ended):
        return False
    is_end_known = details.conclusion is None and details.aborted is False
    return is_end_known or details.conclusion == "success"


def is_put_back(ended: EventRecord) -> bool:
    """Whether checks ended only to start over, so that the pull request stays in the queue.

    The status decides, whatever the code; without a status the code does.
    """
    if ended.details.abort_status is not None:
        return ended.details.abort_status == REEMBARKED
    return class_of(ended.details.code) is CodeClass.REQUEUED and is_aborted(ended)


def is_stopped_by_pause(ended: EventRecord) -> bool:
    """Whether a pause stopped the checks, which will start over after it."""
    return is_put_back(ended) and ended.details.code == STOPPED_BY_PAUSE


def stopped_batches(events: Iterable[EventRecord]) -> frozenset[str]:
    """The batches whose checks a pause stopped, each by its pull request numbers."""
    batches: set[str] = set()
    for event in events:
        if event.type == CHECKS_END and is_stopped_by_pause(event):
            numbers = event.details.members or (event.pull_request or 0,)
            batches.add(" ".join(map(str, sorted(numbers))))
    return frozenset(batches)


def _with_checks(details: EventDetails, ended: EventRecord) -> EventDetails:
    """Add details from the end of its checks, unless those start over."""
    if is_put_back(ended):
        return details
    added: dict[str, object] = {}
    if not details.checks:
        added = {"checks": ended.details.checks, "checks_left_out": ended.details.checks_left_out}
    if is_aborted(ended):
        added["code"] = ended.details.code or None
    return details.model_copy(update=added)
