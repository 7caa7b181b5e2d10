"""What can be read of a queue's condition: its head, its batches, its depth, its failures."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.alerts import AlertKind, Reading
from bot.domain.classification import EventKind
from bot.domain.event_records import EventRecord
from bot.domain.event_types import MERGED
from bot.domain.pause_records import PauseRecord
from bot.domain.queue import Batch, BatchStatusCode, QueuedPullRequest, QueueStatus, SubBatch

GONE = frozenset({BatchStatusCode.FAILED, BatchStatusCode.MERGED})
"""A service shows batches for a moment after their end."""

HELD = frozenset({BatchStatusCode.FROZEN, BatchStatusCode.WAITING_SCHEDULE})
"""Somebody wants these to wait: a scheduled freeze, or hours in which nothing is merged."""

CHECKED = frozenset({BatchStatusCode.PREPARING, BatchStatusCode.RUNNING, BatchStatusCode.BISECTING})


@dataclass(frozen=True, slots=True)
class FailureStreak:
    """How many pull requests left on failures since the last merge; `pull_request` left last."""

    failures: int = 0
    pull_request: int | None = None


def streak_after(
    before: FailureStreak, told: Iterable[tuple[EventRecord, EventKind]]
) -> FailureStreak:
    """`told` are events in order. A merge made by hand, outside the queue, proves nothing of it."""
    streak = before
    for record, kind in told:
        if record.type == MERGED:
            streak = FailureStreak()
        elif kind is EventKind.FAILURE:
            streak = FailureStreak(streak.failures + 1, record.pull_request)
    return streak


def readings(
    status: QueueStatus, streak: FailureStreak, pauses: Sequence[PauseRecord], now: datetime
) -> Mapping[AlertKind, Reading]:
    """What is there to be measured. `pauses`, as far as they lie in a time, are not counted in it.

    A head that somebody holds back tells nothing of the queue, so there is no reading of it then.
    """
    live = [batch for batch in status.batches if batch.status.code not in GONE]
    heads = [
        Reading(_seconds(one.queued_at, pauses, now), one.number) for one in _heads(status, live)
    ]
    checked = [
        Reading(_seconds(run.started_at, pauses, now), _first(run), batch.name)
        for batch in live
        for run in _runs(batch)
        if run.started_at is not None
    ]
    head = {AlertKind.HEAD: max(heads, key=_value, default=Reading())}
    return {
        **(head if heads or not status.queued else {}),
        AlertKind.BATCH: max(checked, key=_value, default=Reading()),
        AlertKind.DEPTH: Reading(len(status.queued)),
        AlertKind.FAILURES: Reading(streak.failures, streak.pull_request),
    }


def _value(one: Reading) -> int:
    return one.value


def _heads(status: QueueStatus, live: Sequence[Batch]) -> Iterable[QueuedPullRequest]:
    """The first of each batch that no other is in front of, one a base branch; else of the line."""
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


def _runs(batch: Batch) -> Sequence[SubBatch]:
    """What of a batch is checked now: its pieces under bisection, or all of it."""
    pieces = [one for one in batch.sub_batches if one.status.code in CHECKED and one.started_at]
    return pieces or ([batch] if batch.status.code in CHECKED else [])


def _first(run: SubBatch) -> int | None:
    return run.pull_requests[0].number if run.pull_requests else None


def _seconds(since: datetime | None, pauses: Sequence[PauseRecord], now: datetime) -> int:
    """How long it goes on, not counting pauses, of which none overlap but by a clock's error."""
    if since is None:
        return 0
    paused, until = timedelta(), since
    for one in sorted(pauses, key=lambda pause: pause.paused_at):
        begin, end = max(one.paused_at, until), min(one.ended_at or now, now)
        if end > begin:
            paused += end - begin
            until = end
    return max(int((now - since - paused).total_seconds()), 0)
