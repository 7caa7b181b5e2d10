"""When a queue's condition becomes worth an alert, and when the alert is over."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from bot.domain.repository import RepositoryName


class AlertKind(StrEnum):
    """What an alert is about.

    `HEAD`: how long the head of the queue has waited, in seconds. `BATCH`: how long a batch has
    been checked, in seconds. `DEPTH`: how many pull requests are in the queue. `FAILURES`: how
    many in a row left it on failures.
    """

    HEAD = "head"
    BATCH = "batch"
    DEPTH = "depth"
    FAILURES = "failures"


@dataclass(frozen=True, slots=True)
class Reading:
    """How much there is of what one kind of alert measures, and of whom it was measured."""

    value: int = 0
    pull_request: int | None = None
    batch: str | None = None


@dataclass(frozen=True, slots=True)
class Alert:
    """One alert about one queue, from when it was told to when its end was.

    `value` is what was read when it began, against the `threshold` of then. `alert_id` is given by
    the store, 0 before. `ended_at` is None while it lasts.
    """

    repository: RepositoryName
    kind: AlertKind
    value: int
    threshold: int
    began_at: datetime
    pull_request: int | None = None
    batch: str | None = None
    ended_at: datetime | None = None
    alert_id: int = 0


@dataclass(frozen=True, slots=True)
class AlertChange:
    """What has to be told, and alerts that end unsaid because their kind was switched off."""

    begun: tuple[Alert, ...] = ()
    ended: tuple[Alert, ...] = ()
    dropped: tuple[Alert, ...] = ()

    @property
    def is_none(self) -> bool:
        return not (self.begun or self.ended or self.dropped)


def is_crossed(kind: AlertKind, value: int, threshold: int) -> bool:
    """Whether an alert begins: for failures at the threshold, for all else above it."""
    return value >= threshold if kind is AlertKind.FAILURES else value > threshold


def is_clear(value: int, threshold: int) -> bool:
    """Whether an alert ends: at three quarters, so that what flaps is told once."""
    return value <= threshold * 3 // 4


def changes(
    readings: Mapping[AlertKind, Reading],
    active: Iterable[Alert],
    thresholds: Mapping[AlertKind, int],
    repository: RepositoryName,
    now: datetime,
    *,
    is_paused: bool = False,
) -> AlertChange:
    """`active` was told before; a kind without a threshold, all at least 1, is switched off.

    Of a kind that could not be read nothing is said. A paused queue stands still because somebody
    wants it to: nothing begins and nothing ends.
    """
    if is_paused:
        return AlertChange()
    active = tuple(active)
    known = {one.kind for one in active}
    begun = tuple(
        _begun(kind, readings[kind], threshold, repository, now)
        for kind, threshold in thresholds.items()
        if kind in readings
        and kind not in known
        and is_crossed(kind, readings[kind].value, threshold)
    )
    ended = tuple(
        replace(one, ended_at=now)
        for one in active
        if one.kind in thresholds
        and one.kind in readings
        and is_clear(readings[one.kind].value, thresholds[one.kind])
    )
    dropped = tuple(replace(one, ended_at=now) for one in active if one.kind not in thresholds)
    return AlertChange(begun, ended, dropped)


def _begun(
    kind: AlertKind, read: Reading, threshold: int, repository: RepositoryName, now: datetime
) -> Alert:
    return Alert(repository, kind, read.value, threshold, now, read.pull_request, read.batch)
