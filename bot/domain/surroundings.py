"""What the events before a leave tell of it: the code of its checks, and who asked for it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from pydantic import JsonValue

from bot.domain.dequeue_codes import CodeClass, class_of
from bot.domain.event_records import EventRecord
from bot.domain.event_types import CHECKS_END, CHECKS_START, DEQUEUE_COMMAND, ENTER, LEAVE

REMOVED = "PR_MANUALLY_DEQUEUED"
REEMBARKED = "REEMBARKED"

LONGEST_STAY = timedelta(days=7)
"""How far back the events of one stay in the queue are looked for."""

TELLING = frozenset({ENTER, CHECKS_START, CHECKS_END, DEQUEUE_COMMAND, LEAVE})
"""The types of events that tell something of a later leave."""


def says_too_little(record: EventRecord) -> bool:
    """Whether a leave needs others to tell why, or by whom."""
    if record.type != LEAVE or record.details.get("merged") is True:
        return False
    code = record.details.get("code")
    if code == REMOVED:
        trigger = record.details.get("trigger")
        return not (isinstance(trigger, str) and trigger.startswith("@"))
    return code is None


def in_surroundings(record: EventRecord, around: Sequence[EventRecord]) -> EventRecord:
    """The leave with what the events of its stay tell: `code`, `checks`, and `actor`.

    `around` are events of the repository, oldest first; those of others, and later ones, are
    passed over. Any other event comes back as it is.
    """
    if not says_too_little(record):
        return record
    told: dict[str, JsonValue] = {}
    for other in reversed(_before(record, around)):
        code = told.get("code", record.details.get("code"))
        if other.type == DEQUEUE_COMMAND and code in {None, REMOVED}:
            told |= {"code": REMOVED, "actor": other.details.get("actor")}
            break
        if other.type == CHECKS_START:
            break
        if code is None and other.type == CHECKS_END:
            told |= _of_checks(other)
    own = {name: value for name, value in record.details.items() if value}
    if "checks" in own:
        told.pop("checks_left_out", None)
    return replace(record, details={**record.details, **told, **own}) if told else record


def _before(record: EventRecord, around: Sequence[EventRecord]) -> Sequence[EventRecord]:
    """The events of its stay: since it entered or was last left, of its own session."""
    place = (record.received_at, record.event_id)
    stay: list[EventRecord] = []
    for other in around:
        if other.pull_request != record.pull_request or other.type not in TELLING:
            continue
        if (other.received_at, other.event_id) >= place:
            continue
        if other.type in {ENTER, LEAVE}:
            stay.clear()
        elif None in {other.session_id, record.session_id} or (
            other.session_id == record.session_id
        ):
            stay.append(other)
    return stay


STOPPED_BY_PAUSE = "PR_CHECKS_STOPPED_BECAUSE_MERGE_QUEUE_PAUSE"


def is_aborted(ended: EventRecord) -> bool:
    """Whether checks were ended early; those that do not say so have a code only if they were."""
    aborted = ended.details.get("aborted")
    return aborted is True or (aborted is None and bool(ended.details.get("code")))


def is_put_back(ended: EventRecord) -> bool:
    """Whether checks were ended to start again, so that the pull request stays in the queue.

    The status says so, whatever the code; checks that tell no status are judged by their code.
    """
    status, code = ended.details.get("abort_status"), ended.details.get("code")
    if status is not None:
        return status == REEMBARKED
    is_known = isinstance(code, str) and class_of(code) is CodeClass.REQUEUED
    return is_known and is_aborted(ended)


def is_stopped_by_pause(ended: EventRecord) -> bool:
    """Whether it is the end of checks that a pause stopped, to start again after it."""
    return is_put_back(ended) and ended.details.get("code") == STOPPED_BY_PAUSE


def _of_checks(ended: EventRecord) -> dict[str, JsonValue]:
    """Checks that were stopped to start again are no reason to leave."""
    if is_put_back(ended):
        return {}
    names = ("checks", "checks_left_out", *(("code",) if is_aborted(ended) else ()))
    return {name: ended.details[name] for name in names if ended.details.get(name)}
