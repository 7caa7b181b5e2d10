"""When the bot pauses a queue by itself: pull requests in a row failed on the same check."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.audit import Action, Actor, ActResult, AuditRecord, Evidence
from bot.domain.classification import EventKind
from bot.domain.event_records import EventRecord
from bot.domain.event_types import MERGED
from bot.domain.pause_records import PauseRecord
from bot.domain.permissions import RULE

AUTO_PAUSE = Actor(f"{RULE}auto-pause", "auto-pause")
"""Acts in the audit, in reasons and on cards."""

ONCE_IN = timedelta(hours=1)
"""The rule pauses a queue at most once in this time, also when its request failed."""

LOOKBACK = timedelta(hours=6)
"""Failures further apart are no row."""

STILL_NEWS = timedelta(minutes=10)
"""A row that ended longer ago, as before an outage of the bot, is no reason to pause now."""

_VERDICTS = frozenset({"CHECKS_FAILED", "CHECKS_TIMEOUT"})
"""The codes of pull requests that were found to fail themselves, as no others of their batch."""


@dataclass(frozen=True, slots=True)
class AutoPause:
    """Pause for `length` once so many pull requests in a row failed on one check."""

    failures: int
    length: timedelta


def may_pause(pauses: Iterable[PauseRecord], acts: Iterable[AuditRecord]) -> bool:
    """Whether no pause is in force, and none of the `acts` of the last hour is the rule's."""
    begun = (one for one in acts if one.result is ActResult.STARTED)
    own = [one for one in begun if one.actor.user_id == AUTO_PAUSE.user_id]
    was_tried = any(one.action is Action.PAUSE for one in own)
    return not any(one.is_open for one in pauses) and not was_tried


def counted_from(
    pauses: Iterable[PauseRecord], now: datetime, clock_ahead: timedelta = timedelta()
) -> datetime:
    """The time from which failures count: those before the end of a pause had their pause.

    `clock_ahead`: how far the service's clock is ahead of ours; an end may be by either.
    """
    ends = [one.ended_at for one in pauses if one.ended_at is not None]
    return max([now - LOOKBACK, *(one + max(clock_ahead, timedelta()) for one in ends)])


def failures_in_a_row(
    events: Iterable[tuple[EventRecord, EventKind]], rule: AutoPause, now: datetime
) -> Evidence | None:
    """The row that still lasts on one of the base branches, if it is long enough.

    `events`: complete leaves and merges with their kinds, oldest first.
    """
    by_branch: dict[str | None, list[tuple[EventRecord, EventKind]]] = defaultdict(list)
    for record, kind in events:
        by_branch[record.base_ref].append((record, kind))
    for branch, own in by_branch.items():
        row, checks = _row(own)
        if len(row) >= rule.failures and now - row[0].received_at <= STILL_NEWS:
            numbers = tuple(one.pull_request or 0 for one in reversed(row))
            return Evidence(checks[0], branch, numbers)
    return None


def _row(
    events: Sequence[tuple[EventRecord, EventKind]],
) -> tuple[list[EventRecord], Sequence[str]]:
    """The failures since the last merge that share a check, newest first, and their checks.

    A pull request that failed again, and one of the same batch, add nothing.
    """
    row: list[EventRecord] = []
    common: Sequence[str] = ()
    for record, kind in reversed(events):
        if record.type == MERGED:
            break
        failed, code = [one.name for one in record.details.checks if one.name], record.details.code
        # CI failed it; a service may send no code, but the checks.
        is_verdict = code in _VERDICTS or (code is None and bool(failed))
        if kind is not EventKind.FAILURE or not is_verdict:
            continue
        if any(_are_one(record, one) for one in row):
            continue
        shared = [one for one in common if one in failed] if row else failed
        if not shared:
            break
        row.append(record)
        common = shared
    return row, common


def _are_one(one: EventRecord, other: EventRecord) -> bool:
    batch = one.details.batch
    is_same_batch = batch is not None and batch == other.details.batch
    return one.pull_request == other.pull_request or is_same_batch
