"""Queue health: what is measured of a queue, and when an alert begins or ends."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from bot.domain.classification import EventKind
from bot.domain.event_records import EventRecord
from bot.domain.event_types import MERGED
from bot.domain.pause_records import PauseRecord
from bot.domain.queue import Batch, BatchStatusCode, QueuedPullRequest, QueueStatus
from bot.domain.repository import RepositoryName

GONE = frozenset({BatchStatusCode.FAILED, BatchStatusCode.MERGED})
"""A service shows batches for a moment after their end."""

HELD = frozenset({BatchStatusCode.FROZEN, BatchStatusCode.WAITING_SCHEDULE})
"""Somebody wants these to wait: a scheduled freeze, or hours in which nothing is merged."""

CHECKED = frozenset({BatchStatusCode.PREPARING, BatchStatusCode.RUNNING, BatchStatusCode.BISECTING})


class AlertKind(StrEnum):
    """What an alert is about.

    `HEAD`: how long the head of the queue has waited, in seconds.
    `BATCH`: how long a batch has been checked, in seconds.
    `DEPTH`: how many pull requests are in the queue.
    `FAILURES`: how many in a row left it on failures.
    """

    HEAD = "head"
    BATCH = "batch"
    DEPTH = "depth"
    FAILURES = "failures"


@dataclass(frozen=True, slots=True)
class Reading:
    """One measured value, and where it was measured."""

    value: int = 0
    pull_request: int | None = None
    batch: str | None = None


@dataclass(frozen=True, slots=True)
class Alert:
    """One alert about one queue, from its notification to that of its end.

    `value`: the reading when it began, compared with the `threshold` at that time.
    `alert_id`: assigned by the store, 0 before.
    `ended_at`: None while it lasts.
    `mention`: the user group to mention, if any.
    """

    repository: RepositoryName
    kind: AlertKind
    value: int
    threshold: int
    began_at: datetime
    pull_request: int | None = None
    batch: str | None = None
    ended_at: datetime | None = None
    mention: str | None = None
    alert_id: int = 0


def changes(
    readings: Mapping[AlertKind, Reading],
    active: Iterable[Alert],
    thresholds: Mapping[AlertKind, int],
    repository: RepositoryName,
    now: datetime,
    *,
    is_paused: bool = False,
) -> Sequence[Alert]:
    """The alerts that begin, and those of the `active` ones that end.

    For failures one begins at the threshold, for the others above it. It ends at three quarters of
    it, so that it doesn't flap. A kind without a threshold (at least 1) is switched off. A kind
    without a reading stays as it is. While the queue is paused on purpose, nothing begins or ends.
    """
    if is_paused:
        return []
    known = {one.kind: one for one in active}
    changed = [replace(one, ended_at=now) for one in known.values() if one.kind not in thresholds]
    for kind, threshold in thresholds.items():
        read, alert = readings.get(kind), known.get(kind)
        if read is None:
            continue
        if alert is not None:
            if read.value <= threshold * 3 // 4:
                changed.append(replace(alert, ended_at=now))
        elif read.value > threshold or (read.value == threshold and kind is AlertKind.FAILURES):
            where = read.pull_request, read.batch
            changed.append(Alert(repository, kind, read.value, threshold, now, *where))
    return changed


@dataclass(frozen=True, slots=True)
class FailureStreak:
    """How many left on failures since the last merge; `pull_request` is the last of them."""

    failures: int = 0
    pull_request: int | None = None


def streak_after(
    before: FailureStreak, events: Iterable[tuple[EventRecord, EventKind]]
) -> FailureStreak:
    """The streak after `events`, in order. A manual merge outside the queue doesn't end it."""
    streak = before
    for record, kind in events:
        if record.type == MERGED:
            streak = FailureStreak()
        elif kind is EventKind.FAILURE:
            streak = FailureStreak(streak.failures + 1, record.pull_request)
    return streak


def readings(
    status: QueueStatus, streak: FailureStreak, pauses: Sequence[PauseRecord], now: datetime
) -> Mapping[AlertKind, Reading]:
    """The available measurements. Time during `pauses` doesn't count.

    A pull request held back by somebody says nothing about the queue, so it gives no reading.
    """
    live = [batch for batch in status.batches if batch.status.code not in GONE]
    heads = [
        Reading(_seconds(one.queued_at, pauses, now), one.number) for one in _heads(status, live)
    ]
    checked = []
    for batch in live:
        pieces = [one for one in batch.sub_batches if one.status.code in CHECKED and one.started_at]
        for run in pieces or ([batch] if batch.status.code in CHECKED else []):
            if run.started_at is not None:
                first = run.pull_requests[0].number if run.pull_requests else None
                lasted = _seconds(run.started_at, pauses, now)
                checked.append(Reading(lasted, first, batch.name))
    found = {
        AlertKind.BATCH: max(checked, key=lambda one: one.value, default=Reading()),
        AlertKind.DEPTH: Reading(len(status.queued)),
        AlertKind.FAILURES: Reading(streak.failures, streak.pull_request),
    }
    if heads or not status.queued:
        found[AlertKind.HEAD] = max(heads, key=lambda one: one.value, default=Reading())
    return found


def _heads(status: QueueStatus, live: Sequence[Batch]) -> Iterable[QueuedPullRequest]:
    """The first pull request of each leading batch, one per base branch; else the first waiting."""
    if not live:
        yield from [one for one in status.waiting_pull_requests if not one.is_frozen][:1]
        return
    ids = {batch.id for batch in live}
    for batch in live:
        is_held = batch.status.code in HELD
        if not is_held and not ids.intersection(batch.parent_ids) and batch.pull_requests:
            head = batch.pull_requests[0]
            if not head.is_frozen:
                yield head


def _seconds(since: datetime, pauses: Sequence[PauseRecord], now: datetime) -> int:
    """How long it has lasted, without pauses; pauses overlap only by a clock's error."""
    paused, until = timedelta(), since
    for one in sorted(pauses, key=lambda pause: pause.paused_at):
        begin, end = max(one.paused_at, until), min(one.ended_at or now, now)
        if end > begin:
            paused += end - begin
            until = end
    return max(int((now - since - paused).total_seconds()), 0)
