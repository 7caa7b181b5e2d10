"""From facts to a verdict: why a pull request left the queue, and who can do what about it."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from bot.log.preceding import has_passed, is_aborted, is_put_back
from bot.merge_queue.event_records import EventDetails, EventRecord, FailedCheck
from bot.merge_queue.event_types import (
    BISECTION_END,
    CHECKS_END,
    CHECKS_NOT_STARTED,
    CHECKS_START,
    CONFLICT_DEFERRED,
    ENTER,
    LEAVE,
    MERGED,
    CodeClass,
    Turn,
    class_of,
    turn_of,
)

RECORD_SPAN = timedelta(days=1)
"""How far back other pull requests count for the record of a check."""

STORM_SPAN = timedelta(minutes=30)
"""Failures of others at most this much before or after belong to one storm."""

BISECTION_LATE = timedelta(minutes=5)
"""A bisection that explains a leave ends at most this long after it.

If nobody knows when the pull request entered, it ends at most this long before its first event.
"""

STORM_SIZE = 4
"""So many others have to fail in that time; with this one they are five."""

STORM_CHECKS = 3
"""Fewer different checks than this have a cause that one can look for."""

CLOSE_ACTION = "action.close"


class Cause(StrEnum):
    """Why a pull request left."""

    REMOVED = "removed"  #: a person or a rule took it out
    CHANGED = "changed"  #: somebody closed it, pushed to it or merged it by hand
    CONFLICT = "conflict"
    OTHER_OF_BATCH = "other_of_batch"  #: another pull request broke its batch
    NOT_STARTED = "not_started"  #: its checks never started
    STORM = "storm"  #: many different checks fail for many pull requests
    FAILS_FOR_OTHERS = "fails_for_others"  #: a check failed that failed for others too
    FAILED = "failed"  #: a check failed, as far as known for this pull request only
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    AS_SAID = "as_said"  #: by the service's code, or in its own words
    UNKNOWN = "unknown"


class Step(StrEnum):
    """What the person whose turn it is does next."""

    AS_CODE = "as_code"  #: what the service's code asks for
    QUEUE_AGAIN = "queue_again"
    FIX = "fix"
    LOOK = "look"  #: at the run, before anything is changed
    FIND_HANGING = "find_hanging"


class Hold(StrEnum):
    """Why the pull request had better not be queued again yet."""

    PAUSE = "pause"
    FREEZE = "freeze"
    STORM = "storm"


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a pull request that left, and of the others on its branch."""

    record: EventRecord  #: the leave, or the end of its checks, with the details of earlier events
    own: Sequence[EventRecord] = ()  #: its other events, oldest first
    others: Sequence[EventRecord] = ()  #: events of all pull requests of the repository
    is_paused: bool = False
    is_frozen: bool = False
    is_storm: bool = False  #: many pull requests fail, and it isn't over


@dataclass(frozen=True, slots=True)
class CheckRecord:
    """How often a check failed for other pull requests of the branch within a day."""

    name: str
    failed: int
    total: int  #: the pull requests whose checks failed or passed, or that merged


@dataclass(frozen=True, slots=True)
class Storm:
    """Many failures at once."""

    pull_requests: int  #: how many others failed
    checks: int  #: how many different checks failed for them
    since: datetime  #: the first of these failures


@dataclass(frozen=True, slots=True)
class BatchVerdict:
    """What a bisection found out about the pull request's batch."""

    members: tuple[int, ...] = ()
    broken_by: tuple[int, ...] = ()  #: others that failed alone, or that the service names
    is_culprit: bool = False  #: it broke the batch itself
    is_unverified: bool = False  #: blamed by elimination, never tested alone


@dataclass(frozen=True, slots=True)
class FailedChecks:
    """The failed checks of a pull request, by whether they can throw it out."""

    named: tuple[FailedCheck, ...] = ()  #: the cause: required ones or, where nobody knows, all
    left_out: int = 0  #: how many further ones failed
    are_required: bool = False  #: the service says that the named ones can throw it out
    not_required: tuple[FailedCheck, ...] = ()  #: these failed too, and can't
    record: CheckRecord | None = None  #: of the named check that failed for most others


@dataclass(frozen=True, slots=True)
class Findings:
    """What the facts show, whichever of it is the cause."""

    checks: FailedChecks
    batch: BatchVerdict
    storm: Storm | None
    #: why its checks could not start, in the service's words; None if they started
    start_problem: str | None
    blocking: tuple[int, ...]  #: the pull requests ahead that it conflicts with
    retries: int  #: how often its failed checks were run again
    is_closed: bool
    rule: str  #: the automation rule that took it out, empty if none did


@dataclass(frozen=True, slots=True)
class Next:
    """What to do about it."""

    turn: Turn
    step: Step
    hold: Hold | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why a pull request left the queue, on which evidence, and who can do what."""

    cause: Cause
    record: EventRecord
    found: Findings
    next: Next


_CHANGED = frozenset(
    {
        "PULL_REQUEST_UPDATED",
        "DRAFT_PULL_REQUEST_CHANGED",
        "BATCH_PULL_REQUEST_CLOSED",
        "PR_MANUALLY_MERGED",
        "BASE_BRANCH_CHANGED",
    }
)
_CONFLICTS = frozenset({"CONFLICT_WITH_BASE_BRANCH", "CONFLICT_WITH_PULL_AHEAD"})
_REMOVED = frozenset({"PR_MANUALLY_DEQUEUED", "PR_DEQUEUED", "PR_DEQUEUED_FROM_PARTITION"})
_NOT_STARTED = frozenset(
    {"DRAFT_PULL_REQUEST_CREATION_FAILED", "DRAFT_PULL_REQUEST_CREATION_BRANCH_NOT_INDEXED"}
)
_OF_CHECKS = frozenset({CodeClass.FAILED, CodeClass.UNPROVEN, None})
"""The classes of codes, or no known code, with which failed checks can be the cause."""

_UNPROVEN = frozenset({"BATCH_MAX_FAILURE_RESOLUTION_ATTEMPTS", "DROPPED_BY_BISECTION_ELIMINATION"})
"""Its batch failed, and nobody knows whether it would fail alone."""

_UNFINISHED = frozenset({"pending", "timed_out", "stale"})
_CANCELLED = frozenset({"cancelled"})

_STEPS = {
    Cause.OTHER_OF_BATCH: Step.QUEUE_AGAIN,
    Cause.NOT_STARTED: Step.QUEUE_AGAIN,
    Cause.STORM: Step.LOOK,
    Cause.FAILS_FOR_OTHERS: Step.LOOK,
    Cause.FAILED: Step.FIX,
    Cause.TIMED_OUT: Step.FIND_HANGING,
    Cause.CANCELLED: Step.QUEUE_AGAIN,
}


def judge(facts: Facts) -> Verdict:
    """Why it left. The same facts give the same verdict; missing ones make it say less."""
    record = _with_checks_of_its_end(facts)
    others = list(_of_others(facts))
    found = Findings(
        _failed_checks(record, others),
        _batch_verdict(facts),
        _storm(record, others),
        _start_problem(facts),
        _blocking(facts),
        _retries(facts),
        is_closed=any(event.type == CLOSE_ACTION for event in facts.own),
        rule=record.details.rule,
    )
    cause = _first_cause(record, found)
    step = _STEPS.get(cause, Step.AS_CODE)
    then = Next(turn_of(record.details.code), step, _hold(facts))
    return Verdict(cause, record, found, then)


def _with_checks_of_its_end(facts: Facts) -> EventRecord:
    """The record, with the failed checks of its last run if it names none itself."""
    record = facts.record
    if record.details.code != "CHECKS_FAILED" or record.details.checks:
        return record
    for event in reversed(facts.own):
        if event.type == CHECKS_START:
            break
        if event.type == CHECKS_END and not is_put_back(event):
            ended = event.details
            added = {"checks": ended.checks, "checks_left_out": ended.checks_left_out}
            return replace(record, details=record.details.model_copy(update=added))
    return record


def _first_cause(record: EventRecord, found: Findings) -> Cause:
    """The first cause that holds."""
    code = record.details.code
    has_reason = bool((record.details.reason or "").strip())
    cause = _cause_by_code(code, found)
    if cause is None and class_of(code) in _OF_CHECKS:
        cause = _cause_in_checks(code, found, has_reason=has_reason)
    if cause is not None:
        return cause
    return Cause.AS_SAID if code is not None or has_reason else Cause.UNKNOWN


def _cause_by_code(code: str | None, found: Findings) -> Cause | None:
    if code in _REMOVED or (found.rule and code is None):
        return Cause.REMOVED
    if code in _CHANGED or (found.is_closed and code is None):
        return Cause.CHANGED
    if code in _CONFLICTS:
        return Cause.CONFLICT
    return Cause.NOT_STARTED if code in _NOT_STARTED else None


def _cause_in_checks(code: str | None, found: Findings, *, has_reason: bool) -> Cause | None:
    checks = found.checks.named
    if found.batch.broken_by and not found.batch.is_culprit:
        return Cause.OTHER_OF_BATCH
    if found.start_problem is not None and not checks:
        return Cause.NOT_STARTED
    if found.storm is not None and found.storm.checks >= STORM_CHECKS:
        return Cause.STORM
    is_vague = class_of(code) is None and not found.checks.are_required
    if is_vague and (code is not None or has_reason):
        # The failed checks may have nothing to do with it.
        return None
    if code in _UNPROVEN and not found.batch.is_culprit:
        return None
    return _cause_in_states(code, found)


def _cause_in_states(code: str | None, found: Findings) -> Cause | None:
    checks = found.checks
    states = {check.state for check in checks.named}
    if code == "CHECKS_TIMEOUT" or (states and states <= _UNFINISHED):
        return Cause.TIMED_OUT
    if code == "CHECKS_INTERRUPTED" or (states and states <= _CANCELLED):
        return Cause.CANCELLED
    if checks.record is not None and checks.record.failed:
        return Cause.FAILS_FOR_OTHERS
    return Cause.FAILED if checks.named or code == "CHECKS_FAILED" else None


def _failed_checks(record: EventRecord, others: "Sequence[_Outcome]") -> FailedChecks:
    details = record.details
    # Only a timeout is about checks that hadn't ended.
    ended = [
        check
        for check in details.checks
        if check.state != "pending" or details.code == "CHECKS_TIMEOUT"
    ]
    not_required = tuple(check for check in ended if check.is_required is False)
    if class_of(details.code) not in _OF_CHECKS:
        return FailedChecks(not_required=not_required)
    is_known = any(check.is_required is not None for check in details.checks)
    required = [check for check in ended if check.is_required is not False]
    named = _that_ended_so(details.code, required)
    left_out = details.checks_left_out if named else 0
    return FailedChecks(named, left_out, is_known, not_required, _record_of(named, others))


def _that_ended_so(code: str | None, checks: Sequence[FailedCheck]) -> tuple[FailedCheck, ...]:
    """The failed checks that the code is about.

    One that was cancelled beside one that failed was hardly the cause: the failure comes first.
    """
    states = {"CHECKS_TIMEOUT": _UNFINISHED, "CHECKS_INTERRUPTED": _CANCELLED}.get(code or "")
    if states is not None:
        ended_so = [check for check in checks if check.state in states]
    else:
        ended_so = [check for check in checks if check.state not in _CANCELLED]
    return tuple(ended_so or checks)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """How it went with another pull request of the branch."""

    event: EventRecord
    failed: frozenset[str]  #: the names of its failed checks; empty if it passed or merged


def _of_others(facts: Facts) -> Iterator[_Outcome]:
    """Merges, passed checks, and failures of pull requests that were checked alone or left.

    What has passed may not merge yet: a freeze may keep it from that.

    A batch that leaves counts once, and that of the pull request not at all: one failure of its
    checks is behind all of them.
    """
    about = facts.record
    seen = {_last_batch(facts)}
    for event in facts.others:
        if event.pull_request in {None, about.pull_request} or event.base_ref != about.base_ref:
            continue
        distance = event.received_at - about.received_at
        if not -RECORD_SPAN <= distance <= STORM_SPAN:
            continue
        batch = event.details.batch
        if event.type == MERGED or has_passed(event):
            yield _Outcome(event, frozenset())
        elif _is_failure_of_one(event) and (batch is None or batch not in seen):
            names = _failed_names(event)
            if names:
                seen.add(batch)
                yield _Outcome(event, names)


def _last_batch(facts: Facts) -> str | None:
    """The batch that it left with, if anything says so."""
    events = [*facts.own, facts.record]
    return next((event.details.batch for event in reversed(events) if event.details.batch), None)


def _is_failure_of_one(event: EventRecord) -> bool:
    """Whether its checks failed, which says something about this one pull request or its batch."""
    if event.type == LEAVE:
        has_ended = event.details.merged is not True
    else:
        is_alone = len(event.details.members) <= 1
        has_ended = event.type == CHECKS_END and is_alone and is_aborted(event)
    meaning = class_of(event.details.code)
    has_failed = meaning is CodeClass.FAILED or (meaning is None and bool(_failed_names(event)))
    return has_ended and has_failed and not is_put_back(event)


def _failed_names(event: EventRecord) -> frozenset[str]:
    return frozenset(check.name for check in event.details.blamed_checks if check.name)


def _record_of(checks: Iterable[FailedCheck], others: Sequence[_Outcome]) -> CheckRecord | None:
    """The record of the check that failed for most others; None if there are no others."""
    everybody = {outcome.event.pull_request for outcome in others}
    if not everybody:
        return None
    records = [
        CheckRecord(name, len(_failing(others, name)), len(everybody))
        for name in (check.name for check in checks)
        if name
    ]
    return max(records, key=lambda record: record.failed, default=None)


def _failing(others: Iterable[_Outcome], name: str) -> Collection[int | None]:
    return {outcome.event.pull_request for outcome in others if name in outcome.failed}


def _storm(about: EventRecord, others: Iterable[_Outcome]) -> Storm | None:
    """Whether most pull requests fail around that time."""
    near = [
        outcome
        for outcome in others
        if abs(outcome.event.received_at - about.received_at) <= STORM_SPAN
    ]
    failing = {outcome.event.pull_request for outcome in near if outcome.failed}
    merging = {outcome.event.pull_request for outcome in near} - failing
    if len(failing) < STORM_SIZE or len(failing) <= len(merging):
        return None
    names = frozenset[str]().union(*(outcome.failed for outcome in near))
    since = min(outcome.event.received_at for outcome in near if outcome.failed)
    return Storm(len(failing), len(names), since)


def merges_outnumber(facts: Facts) -> bool:
    """Whether around that time more pull requests of the branch merged than failed."""
    near = [
        event
        for event in facts.others
        if event.base_ref == facts.record.base_ref
        if abs(event.received_at - facts.record.received_at) <= STORM_SPAN
    ]
    failed = [event for event in near if _is_failure_of_one(event)]
    failing = {event.details.batch or event.pull_request for event in failed}
    merged = {event.pull_request for event in near if event.type == MERGED}
    return len(merged - {event.pull_request for event in failed}) > len(failing)


def _batch_verdict(facts: Facts) -> BatchVerdict:
    """What the bisection of its batch says, or what failed alone in it."""
    number = facts.record.pull_request
    ends = [event for event in facts.own if event.type == CHECKS_END]
    bisection = _bisection(facts)
    members = set(bisection.pull_requests) or _members(facts.record, ends)
    unverified = set(bisection.unverified)
    culprits = set(bisection.culprits) - unverified
    has_failed_alone = number in _failed_alone(ends)
    if not culprits and not has_failed_alone:
        # Without a word of the service, those that failed alone broke it.
        of_batch = [event for event in facts.others if event.details.batch in _batches(facts)]
        culprits = (_failed_alone(of_batch) & members) - unverified
    return BatchVerdict(
        tuple(sorted(members)),
        tuple(sorted(culprits - {number})),
        is_culprit=number in culprits or (has_failed_alone and bool(members)),
        is_unverified=number in unverified,
    )


def _bisection(facts: Facts) -> EventDetails:
    """What the bisection found that it left with, if there was one: the last since it entered.

    One that says that it stays in the queue isn't why it left.
    """
    record = facts.record
    begin = _entered_at(facts)
    if begin is None:
        first = min([record, *facts.own], key=lambda event: event.received_at)
        begin = first.received_at - BISECTION_LATE
    end = record.received_at + BISECTION_LATE
    found = [
        event
        for event in facts.others
        if event.type == BISECTION_END and begin <= event.received_at <= end
        if record.pull_request in event.details.pull_requests
        if record.pull_request not in event.details.remaining
    ]
    return found[-1].details if found else EventDetails()


def _entered_at(facts: Facts) -> datetime | None:
    """When it entered the queue; None if nobody knows."""
    entered = [event.received_at for event in facts.own if event.type == ENTER]
    queued_at = facts.record.details.queued_at
    if queued_at is not None:
        entered.append(queued_at)
    return max(entered, default=None)


def _members(record: EventRecord, ends: Sequence[EventRecord]) -> set[int]:
    """Its last batch, empty if it was alone in it: an end may be that of a piece of the batch."""
    members = set(record.details.members)
    for end in reversed(ends):
        own = set(end.details.members)
        if is_put_back(end) or not own >= members:
            break
        members = own
    return members if record.pull_request is not None and len(members) > 1 else set()


def _failed_alone(events: Iterable[EventRecord]) -> set[int]:
    return {
        event.pull_request
        for event in events
        if event.type == CHECKS_END
        and event.pull_request is not None
        and event.details.members == (event.pull_request,)
        and is_aborted(event)
        and not is_put_back(event)
    }


def _batches(facts: Facts) -> Collection[str]:
    events = [facts.record, *facts.own]
    return {event.details.batch for event in events if event.details.batch}


def _start_problem(facts: Facts) -> str | None:
    """Why the last attempt to start its checks failed, if none succeeded since."""
    for event in reversed(facts.own):
        if event.type == CHECKS_NOT_STARTED:
            return event.details.reason or ""
        if event.type in {CHECKS_START, CHECKS_END}:
            break
    details = facts.record.details
    return details.reason or "" if details.code in _NOT_STARTED else None


def _blocking(facts: Facts) -> tuple[int, ...]:
    deferred = [event for event in facts.own if event.type == CONFLICT_DEFERRED]
    return deferred[-1].details.blocking if deferred else ()


def _retries(facts: Facts) -> int:
    """The service counts the runs after the first one."""
    events = [*facts.own, facts.record]
    attempts = [event.details.retry_attempt for event in events if event.type == CHECKS_END]
    return max((attempt for attempt in attempts if attempt is not None), default=0)


def _hold(facts: Facts) -> Hold | None:
    if facts.is_paused:
        return Hold.PAUSE
    if facts.is_frozen:
        return Hold.FREEZE
    return Hold.STORM if facts.is_storm else None
