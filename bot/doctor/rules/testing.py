"""Rules about checks that don't start, start late, hang, or are done."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from bot.doctor.attempts import of_branch
from bot.doctor.case import Case, is_blocked
from bot.doctor.diagnosis import Done, Hangs, NeverStart, NotStarted, StartLate
from bot.doctor.past import AT_LEAST, runs_of
from bot.doctor.rules.limits import IN_A_ROW, LAST_HOURS, SEVERAL
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.event_types import CHECKS_END, CHECKS_NOT_STARTED, CHECKS_START, LEAVE
from bot.merge_queue.queue import FAILED, Batch, BatchStatusCode, MergeabilityCheck

_IDLE = timedelta(minutes=15)
"""A batch may wait for more pull requests before its checks start."""


def never_start(case: Case) -> NeverStart | None:
    """Checks never start.

    Looks for: a queued pull request whose checks the service failed to start and hasn't started
    since; or a head in testing that has no check; or a queue in which nothing is tested though the
    log shows that nothing ended lately.
    Figures: SEVERAL tries; the limit of the time to the first check; a quarter of an hour.
    Mistaken for: a service that counts no checks, so the head's details or another batch must show
    that it does; a pause, so one that can't be ruled out silences it; checks that have started
    after all, as their batch shows.
    Says instead: nothing.
    """
    if case.may_be_paused or case.head is None:
        return None
    return _refused_start(case) or _without_check(case) or _without_batch(case)


def _refused_start(case: Case) -> NeverStart | None:
    log = case.facts.log
    queued = {pull_request.number for pull_request in case.queued} - _numbers_with_checks(case)
    tried: dict[int, list[EventRecord]] = {}
    for event in log.of(CHECKS_NOT_STARTED):
        if event.pull_request in queued and event.received_at >= case.at - LAST_HOURS:
            tried.setdefault(event.pull_request or 0, []).append(event)
    for event in (*log.of(CHECKS_START), *log.of(CHECKS_END)):
        attempts = tried.get(event.pull_request or 0)
        if attempts:
            later = [attempt for attempt in attempts if attempt.received_at > event.received_at]
            tried[event.pull_request or 0] = later
    number = max(tried, key=lambda number: len(tried[number]), default=0)
    attempts = tried.get(number, [])
    if len(attempts) < SEVERAL:
        return None
    said = attempts[-1].details.reason or ""
    since = attempts[0].received_at
    return NeverStart(NotStarted.REFUSED, number, since, len(attempts), said)


def _numbers_with_checks(case: Case) -> set[int]:
    """The pull requests whose checks have started after all, as the status shows."""
    started = [run for run in _running(case) if run.checks_summary.total]
    return {member.number for run in started for member in run.members}


def _without_check(case: Case) -> NeverStart | None:
    lead = case.lead
    if lead is None or case.head is None or lead.status.code != BatchStatusCode.RUNNING:
        return None
    is_counted = any(batch.checks_summary.total for batch in case.live)
    checks = _checks(case)
    has_none = not checks.checks if checks is not None else is_counted
    is_long = case.tested_for(lead) > case.past.first_check.limit
    if lead.checks_summary.total or not has_none or not is_long or lead.started_at is None:
        return None
    return NeverStart(NotStarted.NO_CHECK, case.head.pull_request.number, lead.started_at)


def _without_batch(case: Case) -> NeverStart | None:
    log = case.facts.log
    is_known = case.is_log_fresh and log.reads(CHECKS_START, CHECKS_END, LEAVE)
    if case.live or case.is_frozen or case.head is None or not is_known or not case.is_long:
        return None
    pull_request = case.head.pull_request
    ends = [log.of(type_)[-1].received_at for type_ in (CHECKS_END, LEAVE) if log.of(type_)]
    times = [pull_request.queued_at, case.facts.released_at, log.since, *ends]
    idle_since = max(at for at in times if at is not None)
    if is_blocked(pull_request) or case.at - idle_since <= _IDLE:
        return None
    return NeverStart(NotStarted.NO_BATCH, pull_request.number, idle_since)


def _checks(case: Case) -> MergeabilityCheck | None:
    details = case.facts.details
    return details.mergeability_check if details is not None else None


def start_late(case: Case) -> StartLate | None:
    """Checks start late: too few runners, or CI that takes up no work.

    Looks for: runs that waited long for their first check; or batches under test, none of which has
    a passed check although each has run longer than whole runs take.
    Figures: the last IN_A_ROW runs against the limit of the time to the first check; SEVERAL
    batches against the limit of a run.
    Mistaken for: one bad head. All batches count, and one alone is never enough.
    Says instead: `hangs`, if the head's details name the checks, or nothing.
    """
    return _started_late(case) or _without_result(case)


def _started_late(case: Case) -> StartLate | None:
    log = case.facts.log
    ends = [*of_branch(log.of(CHECKS_END)[-20 * IN_A_ROW :], case.branch)]
    runs = list(runs_of(ends, log.of(CHECKS_START)[-40 * IN_A_ROW :]))
    usual = case.past.first_check
    late = []
    for run in reversed(runs):
        if run.first_check is None or run.first_check <= max(usual.limit, AT_LEAST):
            break
        late.append(run)
    if len(late) < IN_A_ROW:
        return None
    if case.judged_at - late[0].ended_at > case.past.check_run.limit + _IDLE:
        return None
    waits = sorted(run.first_check for run in late if run.first_check is not None)
    waited = waits[len(waits) // 2]
    return StartLate(len(late), waited, usual.median, is_over=True, since=late[-1].started_at)


def _without_result(case: Case) -> StartLate | None:
    running = _running(case)
    checks = _checks(case)
    if case.may_be_paused or len(running) < SEVERAL:
        return None
    if checks is not None and len(checks.running) < len(checks.checks):
        return None
    limit = case.past.check_run.limit
    for batch in running:
        summary = batch.checks_summary
        if summary.passed or summary.total < SEVERAL or case.tested_for(batch) <= limit:
            return None
    waited = min(case.tested_for(batch) for batch in running)
    since = min(batch.started_at for batch in running if batch.started_at is not None)
    median = case.past.check_run.median
    return StartLate(len(running), waited, median, is_over=False, since=since)


def _running(case: Case) -> Sequence[Batch]:
    return [run for batch in case.live for run in batch.runs()]


def hangs(case: Case) -> Hangs | None:
    """A check runs far longer than usual.

    Looks for: a head under test whose details name checks without a result.
    Figures: the limit of a run.
    Mistaken for: a count of checks that no longer moves, so without these names it says nothing;
    missing runners, so some check must have ended, here or in another batch.
    Says instead: `start_late`, or nothing.
    """
    lead = case.lead
    checks = _checks(case)
    if case.may_be_paused or lead is None or case.head is None or checks is None:
        return None
    is_long = case.tested_for(lead) > case.past.check_run.limit
    if lead.status.code != BatchStatusCode.RUNNING or not is_long or not checks.running:
        return None
    has_ended = len(checks.running) < len(checks.checks)
    others = [batch for batch in _running(case) if batch.checks_summary.passed]
    if not has_ended and not others:
        return None
    times_out_at = case.facts.details.checks_timeout_at if case.facts.details else None
    since = lead.started_at or case.at
    number = case.head.pull_request.number
    return Hangs(number, tuple(checks.running), since, times_out_at)


def done(case: Case) -> Done | None:
    """The checks are done and nothing happens.

    Looks for: a head whose checks have all passed, by its state, its details or the event of their
    end. A condition that isn't met is named.
    Figures: the limit of the time from the end of checks to the merge.
    Mistaken for: checks that run or have failed; a pause, a freeze or an obstacle, which explain
    it. The service is never blamed for what CI or people do.
    Says instead: nothing here; `paused`, `frozen` and `held` say what they know.
    """
    lead = case.lead
    if case.is_stopped or lead is None or case.head is None:
        return None
    head = case.head.pull_request
    if head.obstacle is not None or not _is_done(case, lead):
        return None
    ended_at = _ended_at(case, lead, head.number)
    limit = case.past.after_checks.limit
    if ended_at is None:
        is_long = case.tested_for(lead) > case.past.check_run.limit + limit
    else:
        is_long = case.at - max(ended_at, case.facts.released_at or ended_at) > limit
    if not is_long:
        return None
    checks = _checks(case)
    unmet = tuple(checks.unmet) if checks is not None else ()
    return Done(head.number, ended_at, unmet)


def _is_done(case: Case, lead: Batch) -> bool:
    code = lead.status.code
    checks = _checks(case)
    if code not in {BatchStatusCode.RUNNING, BatchStatusCode.WAITING_FOR_MERGE}:
        return False
    if checks is not None and checks.checks:
        return not checks.running and not any(check.state in FAILED for check in checks.checks)
    if code == BatchStatusCode.WAITING_FOR_MERGE:
        return True
    return (
        case.head is not None and _ended_at(case, lead, case.head.pull_request.number) is not None
    )


def _ended_at(case: Case, lead: Batch, number: int) -> datetime | None:
    """When the checks of the batch under test passed, by the log."""
    begun_at = lead.started_at or case.at
    for attempt in reversed(case.attempts):
        if attempt.ended_at < begun_at:
            return None
        if number in attempt.members:
            return attempt.ended_at if attempt.has_passed else None
    return None
