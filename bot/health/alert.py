"""Queue health: what is measured of a queue, and when an alert begins or ends."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from bot.doctor.diagnosis import QueueCause
from bot.kernel.repository import RepositoryName
from bot.log.classification import EventKind
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.event_types import MERGED
from bot.merge_queue.queue import Batch, BatchStatusCode, QueuedPullRequest, QueueStatus
from bot.pauses.by_rule import is_verdict
from bot.pauses.pause import PauseRecord

MADE_TO_WAIT = frozenset({BatchStatusCode.FROZEN, BatchStatusCode.WAITING_SCHEDULE})
"""Somebody wants these to wait: a scheduled freeze, or hours in which nothing is merged."""

CHECKED = frozenset({BatchStatusCode.PREPARING, BatchStatusCode.RUNNING, BatchStatusCode.BISECTING})


class AlertKind(StrEnum):
    """What an alert is about."""

    HEAD = "head"  #: how long the head of the queue has waited, in seconds
    BATCH = "batch"  #: how long a batch has been checked, in seconds
    DEPTH = "depth"  #: how many pull requests are in the queue
    FAILURES = "failures"  #: how many in a row left it on failures
    CAUSE = "cause"  #: how long one cause has kept it from merging, in seconds


@dataclass(frozen=True, slots=True)
class AlertRules:
    """What the settings rule about alerts of a repository."""

    thresholds: Mapping[AlertKind, int] = field(default_factory=dict)
    """Those of the active alerts; times in seconds."""

    mention: str | None = None
    """The user group to mention when an alert begins, or the bot pauses by itself."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """One measured value, and where it was measured."""

    value: int = 0
    pull_request: int | None = None
    batch: str | None = None


@dataclass(frozen=True, slots=True)
class Alert:
    """One alert about one queue, from its notification to that of its end."""

    repository: RepositoryName
    kind: AlertKind
    value: int  #: the reading when it began, compared with the `threshold` at that time
    threshold: int
    began_at: datetime
    pull_request: int | None = None
    batch: str | None = None
    ended_at: datetime | None = None  #: None while it lasts
    mention: str | None = None  #: the user group to mention, if any
    cause: QueueCause | None = None  #: why nothing merges, as it shows now; None if nobody can tell
    alert_id: int = 0  #: assigned by the store, 0 before


def changed_alerts(
    readings: Mapping[AlertKind, Measurement],
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
    without a reading stays as it is. One cause begins one alert: see `_is_told`. While the queue is
    paused on purpose, nothing begins or ends.
    """
    if is_paused:
        return []
    known = {alert.kind: alert for alert in active}
    lasting = set(known)
    changed = [
        replace(alert, ended_at=now) for alert in known.values() if alert.kind not in thresholds
    ]
    for kind, threshold in thresholds.items():
        read = readings.get(kind)
        if read is None:
            continue
        alert = known.get(kind)
        if alert is not None:
            if read.value <= threshold * 3 // 4:
                changed.append(replace(alert, ended_at=now))
            continue
        least = threshold if kind is AlertKind.FAILURES else threshold + 1
        if read.value >= least and not _is_told(kind, lasting):
            lasting.add(kind)
            begun = Alert(
                repository, kind, read.value, threshold, now, read.pull_request, read.batch
            )
            changed.append(begun)
    return changed


def _is_told(kind: AlertKind, lasting: Collection[AlertKind]) -> bool:
    """Whether an alert that lasts tells the same: each of them names the cause."""
    if kind is AlertKind.CAUSE:
        return bool(lasting)
    return kind is not AlertKind.DEPTH and AlertKind.CAUSE in lasting


COUNTED = 1_000
"""Pull requests of one streak that are told apart; no threshold needs more."""


@dataclass(frozen=True, slots=True)
class FailureStreak:
    """The pull requests that failed since the last merge, each once, the last to fail last."""

    pull_requests: tuple[int, ...] = ()

    @property
    def failures(self) -> int:
        return len(self.pull_requests)

    @property
    def pull_request(self) -> int | None:
        return self.pull_requests[-1] if self.pull_requests else None

    def with_failure(self, number: int) -> "FailureStreak":
        others = [other for other in self.pull_requests if other != number]
        return FailureStreak((*others, number)[-COUNTED:])


def streak_after(
    before: FailureStreak, events: Iterable[tuple[EventRecord, EventKind]]
) -> FailureStreak:
    """The streak after complete `events`, in order; only verdicts of checks count.

    A conflict, say, is nothing that a broken base branch or CI could have caused. A manual merge
    outside the queue doesn't end it.
    """
    streak = before
    for record, kind in events:
        if record.type == MERGED:
            streak = FailureStreak()
        elif is_verdict(record, kind) and record.pull_request is not None:
            streak = streak.with_failure(record.pull_request)
    return streak


def measurements(
    status: QueueStatus, streak: FailureStreak, pauses: Sequence[PauseRecord], now: datetime
) -> Mapping[AlertKind, Measurement]:
    """The available measurements. Time during `pauses` doesn't count.

    A pull request that somebody keeps back says nothing about the queue, so it gives no reading.
    """
    live = status.live
    heads: list[Measurement] = []
    for head in _heads(status, live):
        waited = _seconds(head.queued_at, pauses, now)
        heads.append(Measurement(waited, head.number))
    checked: list[Measurement] = []
    for batch in live:
        for run in _smallest_runs(batch):
            lasted = _seconds(run.started_at, pauses, now)
            members = run.batch.members
            first = members[0].number if members else None
            checked.append(Measurement(lasted, first, batch.name))
    found = {
        AlertKind.BATCH: _largest(checked),
        AlertKind.DEPTH: Measurement(len(status.queued)),
        AlertKind.FAILURES: Measurement(streak.failures, streak.pull_request),
    }
    if heads or not status.queued:
        found[AlertKind.HEAD] = _largest(heads)
    return found


def _largest(readings: Sequence[Measurement]) -> Measurement:
    return max(readings, key=lambda reading: reading.value, default=Measurement())


class _Run(NamedTuple):
    """A batch, or a part of one, that is being checked."""

    batch: Batch
    started_at: datetime


def _smallest_runs(batch: Batch) -> Sequence[_Run]:
    """The smallest parts that are being checked."""
    parts = [run for part in batch.sub_batches for run in _smallest_runs(part)]
    if parts or batch.started_at is None or batch.status.code not in CHECKED:
        return parts
    return [_Run(batch, batch.started_at)]


def _heads(status: QueueStatus, live: Sequence[Batch]) -> Iterable[QueuedPullRequest]:
    """The first pull request of each leading batch, one per base branch; else the first waiting."""
    if not live:
        yield from [queued for queued in status.waiting_pull_requests if not queued.is_frozen][:1]
        return
    ids = {batch.id for batch in live}
    for batch in live:
        if batch.status.code in MADE_TO_WAIT or ids.intersection(batch.parent_ids):
            continue
        carried = batch.smallest_parts()
        head = next((member for member in batch.members if member.number in carried), None)
        if head is not None and not head.is_frozen:
            yield head


def _seconds(since: datetime, pauses: Sequence[PauseRecord], now: datetime) -> int:
    """How long it has lasted, without pauses; pauses overlap only by a clock's error."""
    paused = timedelta()
    until = since
    for pause in sorted(pauses, key=lambda pause: pause.since):
        begin = max(pause.since, until)
        end = min(pause.ended_at or now, now)
        if end > begin:
            paused += end - begin
            until = end
    return max(int((now - since - paused).total_seconds()), 0)
