"""Attempts: runs of a batch's checks that came to a result, read from the log."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot.doctor.facts import Log
from bot.log.preceding import has_passed
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.event_types import CHECKS_END, CHECKS_START, LEAVE, CodeClass, class_of

EntryKey = tuple[int, str]
"""A pull request and what identifies its queue entry."""


@dataclass(slots=True)
class Attempt:
    """One run of a batch's checks that passed or failed."""

    ended_at: datetime
    has_passed: bool
    names: frozenset[str]  #: the checks that failed; empty if the service names none
    run: str  #: the address of a failed one; empty if the service gives none
    members: set[int] = field(default_factory=set)
    entries: set[EntryKey] = field(default_factory=set)  #: the queue entries of these pull requests
    started_at: datetime | None = None  #: None if the log doesn't say


def attempts(log: Log, branch: str | None) -> Sequence[Attempt]:
    """Those of the branch, oldest first; of all branches for None."""
    ends = [end for end in log.of(CHECKS_END) if _is_of(end, branch)]
    found: dict[str, Attempt] = {}
    for event in ends:
        if has_passed(event) or _has_failed(event):
            _count_attempt(found, event, has_passed=has_passed(event))
    ended = {entry_key_of(end) for end in ends}
    for leave in log.of(LEAVE):
        # A channel may read no ends of checks.
        if _is_of(leave, branch) and _has_failed(leave) and entry_key_of(leave) not in ended:
            _count_attempt(found, leave, has_passed=False)
    starts = {
        _key(start): start.received_at
        for start in log.of(CHECKS_START)
        if start.details.batch is not None
    }
    for key, attempt in found.items():
        attempt.started_at = starts.get(key, attempt.started_at)
    return sorted(found.values(), key=lambda attempt: attempt.ended_at)


def _is_of(event: EventRecord, branch: str | None) -> bool:
    return branch is None or event.base_ref in {branch, None}


def of_branch(events: Iterable[EventRecord], branch: str | None) -> Iterator[EventRecord]:
    return (event for event in events if _is_of(event, branch))


def entry_key_of(event: EventRecord) -> EntryKey:
    """Older services name no session; the time of entering identifies it as well."""
    return event.pull_request or 0, event.session_id or str(event.details.queued_at)


def _key(event: EventRecord) -> str:
    return event.details.batch or str(entry_key_of(event))


def _count_attempt(found: dict[str, Attempt], event: EventRecord, *, has_passed: bool) -> None:
    details = event.details
    attempt = found.get(_key(event))
    if attempt is None:
        checks = details.blamed_checks
        names = frozenset(check.name for check in checks if check.name)
        run = next((check.url for check in checks if check.url), "")
        attempt = Attempt(event.received_at, has_passed, names, run)
        attempt.started_at = details.checks_started_at
        found[_key(event)] = attempt
    attempt.members.update(details.members)
    if event.pull_request is not None:
        attempt.members.add(event.pull_request)
        attempt.entries.add(entry_key_of(event))


def _has_failed(event: EventRecord) -> bool:
    """Whether CI gave a verdict against its batch, whatever becomes of it then."""
    return class_of(event.details.code) is CodeClass.FAILED
