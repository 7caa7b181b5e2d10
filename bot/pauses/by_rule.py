"""When the bot pauses a queue by itself: pull requests in a row failed on the same check."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.acts.permission import RULE
from bot.acts.record import Action, ActResult, AuditRecord, Evidence
from bot.kernel.actor import Actor
from bot.log.classification import EventKind
from bot.log.preceding import has_passed
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.event_types import MERGED
from bot.pauses.pause import PauseRecord

AUTO_PAUSE = Actor(f"{RULE}auto-pause", "auto-pause")
"""Acts in the audit, in reasons and on cards."""

ONCE_IN = timedelta(hours=1)
"""The rule pauses a queue at most once in this time; attempts that failed don't count."""

FIRST_WAIT = timedelta(seconds=2)
LONGEST_RULE_WAIT = timedelta(minutes=5)
"""Between two attempts after the second failure: the wait doubles from the first to the longest."""

TOLD_AT = 2
"""The failure with which channels are notified: the first attempt is repeated at once."""

FAILURES_LOOKBACK = timedelta(hours=6)
"""Failures further apart are no row."""

NEW_FAILURE = timedelta(minutes=10)
"""A row that ended longer ago, as before an outage of the bot, is no reason to pause now."""

_VERDICTS = frozenset({"CHECKS_FAILED", "CHECKS_TIMEOUT"})
"""The codes of pull requests that were found to fail themselves, as no others of their batch."""


@dataclass(frozen=True, slots=True)
class AutoPause:
    """Pause for `length` once so many pull requests in a row failed on one check."""

    failures: int
    length: timedelta


@dataclass(frozen=True, slots=True)
class PauseRules:
    """What the settings rule about pauses of a repository."""

    first_reminder: timedelta = timedelta()  #: after a pause's beginning; zero for no reminders
    #: the user group to mention once nobody answers the reminders; None for nobody
    escalates_to: str | None = None
    second_person: bool = False  #: whether it takes two people to resume somebody else's pause
    auto_pause: AutoPause | None = None  #: when the bot pauses by itself; None for never


def may_pause(pauses: Iterable[PauseRecord], acts: Iterable[AuditRecord]) -> bool:
    """Whether no pause is in force, and the rule made none by the `acts` of the last hour."""
    done = (act for act in acts if act.result is ActResult.DONE and act.action is Action.PAUSE)
    has_paused = any(act.actor.user_id == AUTO_PAUSE.user_id for act in done)
    return not any(pause.is_open for pause in pauses) and not has_paused


def wait_after(failures: int) -> timedelta:
    """How long to wait after so many attempts in a row that failed; the second comes at once."""
    if failures <= 1:
        return timedelta()
    return min(FIRST_WAIT * (1 << min(failures - 2, 16)), LONGEST_RULE_WAIT)


def failures_count_from(
    pauses: Iterable[PauseRecord], now: datetime, clock_ahead: timedelta = timedelta()
) -> datetime:
    """The time from which failures count: those before the end of a pause had their pause.

    `clock_ahead`: how far the service's clock is ahead of ours; an end may be by either.
    """
    ends = [pause.ended_at for pause in pauses if pause.ended_at is not None]
    return max([now - FAILURES_LOOKBACK, *(end + max(clock_ahead, timedelta()) for end in ends)])


def failures_in_a_row(
    events: Iterable[tuple[EventRecord, EventKind]], rule: AutoPause, now: datetime
) -> Evidence | None:
    """The row that still lasts on one of the base branches, if it is long enough.

    `events`: complete leaves, merges and ends of checks with their kinds, oldest first. In a freeze
    nothing merges, and yet what passes ends a row.
    """
    by_branch: dict[str | None, list[tuple[EventRecord, EventKind]]] = defaultdict(list)
    for record, kind in events:
        by_branch[record.base_ref].append((record, kind))
    for branch, own in by_branch.items():
        row, checks = _failures_in_a_row(own)
        if len(row) >= rule.failures and now - row[0].received_at <= NEW_FAILURE:
            numbers = tuple(leave.pull_request or 0 for leave in reversed(row))
            return Evidence(checks[0], branch, numbers)
    return None


def _failures_in_a_row(
    events: Sequence[tuple[EventRecord, EventKind]],
) -> tuple[list[EventRecord], Sequence[str]]:
    """The failures since checks last passed that share a check, newest first, and their checks.

    A pull request that failed again, and one of the same batch, add nothing.
    """
    row: list[EventRecord] = []
    common: Sequence[str] = ()
    for record, kind in reversed(events):
        if record.type == MERGED or has_passed(record):
            break
        if not is_verdict(record, kind):
            continue
        failed = _names_of_failed_checks(record)
        if any(_are_one(record, leave) for leave in row):
            continue
        shared = [check for check in common if check in failed] if row else failed
        if not shared:
            break
        row.append(record)
        common = shared
    return row, common


def is_verdict(record: EventRecord, kind: EventKind) -> bool:
    """Whether CI failed this pull request; a service may send no code, but the checks."""
    details = record.details
    is_said_by_checks = (
        details.code is None and not details.rule and bool(_names_of_failed_checks(record))
    )
    return kind is EventKind.FAILURE and (details.code in _VERDICTS or is_said_by_checks)


def _names_of_failed_checks(record: EventRecord) -> list[str]:
    return [check.name for check in record.details.blamed_checks if check.name]


def _are_one(first: EventRecord, second: EventRecord) -> bool:
    batch = first.details.batch
    is_same_batch = batch is not None and batch == second.details.batch
    return first.pull_request == second.pull_request or is_same_batch
