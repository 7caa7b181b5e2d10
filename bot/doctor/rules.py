"""The rules, one for each verdict: each says what it needs to see before it blames anybody.

A rule that isn't sure says nothing. If all of them say nothing, the verdict is "I can't tell".
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from bot.doctor.attempts import Attempt, of_branch
from bot.doctor.case import Case, is_blocked
from bot.doctor.diagnosis import (
    ComesBack,
    Done,
    Empty,
    Finding,
    Frozen,
    Hangs,
    Held,
    ManyChecks,
    Misconfigured,
    NeverStart,
    Normal,
    NoStatus,
    NotStarted,
    Paused,
    Restart,
    Restarted,
    SameCheck,
    StartLate,
)
from bot.doctor.facts import NoAnswer
from bot.doctor.past import AT_LEAST, runs_of
from bot.log.preceding import is_put_back
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.event_types import (
    CHECKS_END,
    CHECKS_NOT_STARTED,
    CHECKS_START,
    LEAVE,
)
from bot.merge_queue.queue import (
    FAILED,
    Batch,
    BatchStatusCode,
    MergeabilityCheck,
    QueuedPullRequest,
)
from bot.verdicts.verdict import STORM_CHECKS, STORM_SIZE, STORM_SPAN

IN_A_ROW = 3
"""So many failed batches, restarts or late starts are no accident."""

SEVERAL = 2
"""With one alone, the pull request, the batch or the check itself may be the cause."""

_CONFIGURATION = frozenset({"QUEUE_RULE_MISSING", "INCOMPATIBILITY_WITH_BRANCH_PROTECTIONS"})
_LATELY = timedelta(hours=1)
_LAST_HOURS = timedelta(hours=6)
_IDLE = timedelta(minutes=15)
"""A batch may wait for more pull requests before its checks start."""


def no_answer(case: Case) -> NoStatus | None:
    """The service is silent or refuses.

    Looks for a status that couldn't be read. It could be mistaken for a quiet queue, whose status
    can be read and is empty. An invalid configuration is a verdict of its own.
    """
    problem = case.facts.problem
    if case.status is not None or problem is None or problem.kind is NoAnswer.INVALID:
        return None
    return NoStatus(problem)


def paused(case: Case) -> Paused | None:
    """The queue is paused.

    Looks for the pause in force, or for a status that says so. Where the service says neither, no
    rule claims that it is paused, and the rules that a pause would explain say nothing.
    """
    return Paused(case.facts.pause) if case.is_paused else None


def frozen(case: Case) -> Frozen | None:
    """The queue is frozen, or outside the hours in which it merges.

    Looks for a freeze in force without conditions, or of the head's branch; or all leading batches
    wait for a freeze or their schedule. A freeze of other pull requests could be mistaken for it:
    as long as one leading batch goes on, only a freeze whose conditions the bot understands counts.
    """
    if not case.is_frozen:
        return None
    codes = {batch.status.code for batch in case.leads}
    is_outside_hours = codes == {BatchStatusCode.WAITING_SCHEDULE}
    freezes = case.holding or (() if is_outside_hours else case.facts.freezes)
    return Frozen(tuple(freezes), is_outside_hours)


def misconfigured(case: Case) -> Misconfigured | None:
    """The repository's configuration is invalid.

    Looks for the service's own word, also about a queue whose status can be read; or two pull
    requests or more that left within an hour, since the last merge, because their queue rule is
    gone or clashes with the branch protection. A configuration that changed under pull requests
    looks alike, but is no error, and doesn't count.
    """
    problem = case.facts.problem
    if problem is not None and problem.kind is NoAnswer.INVALID:
        return Misconfigured(None, problem.said, (), problem.last_answer_at)
    since = case.at - _LATELY
    left = [
        leave
        for leave in case.facts.log.of(LEAVE)
        if leave.details.code in _CONFIGURATION and leave.received_at >= since
        if case.merged_at is None or leave.received_at > case.merged_at
    ]
    numbers = dict.fromkeys(leave.pull_request or 0 for leave in left)
    if len(numbers) < SEVERAL:
        return None
    last = left[-1].details
    return Misconfigured(last.code, last.reason or "", tuple(numbers), left[0].received_at)


def empty(case: Case) -> Empty | None:
    """Nothing is queued.

    Looks at the status alone. An answer with entries that can't be read could be mistaken for an
    empty queue, and a paused or frozen one is more than empty: then it says nothing.
    """
    if case.status is None or case.queued or case.status.unreadable or case.is_stopped:
        return None
    return Empty()


def same_check(case: Case) -> SameCheck | None:
    """Every batch fails at the same check.

    Looks for three batches or more that failed since checks last passed, all at one check. One bad
    pull request in all of them looks alike, and so does one at the head with batches that were
    tested on top of it at the same time. So the batches may have no pull request in common, and
    one of them must have started after another had failed.
    """
    failing = case.failing
    if len(failing) < IN_A_ROW or not case.is_recent(failing[-1]):
        return None
    names = frozenset.intersection(*(attempt.names for attempt in failing))
    if not names or set.intersection(*(attempt.members for attempt in failing)):
        return None
    if not _is_repeated(failing):
        return None
    passed = next((a for a in reversed(case.attempts) if a.has_passed), None)
    number = min(passed.members, default=None) if passed is not None else None
    passed_at = passed.ended_at if passed is not None else None
    if passed_at is None and case.merges:
        passed_at = case.merges[-1].received_at
        number = case.merges[-1].pull_request
    members = set[int]().union(*(attempt.members for attempt in failing))
    return SameCheck(
        tuple(sorted(names)),
        len(failing),
        len(members),
        failing[0].ended_at,
        passed_at,
        number,
        failing[-1].run,
    )


def _is_repeated(failing: Sequence[Attempt]) -> bool:
    """Whether a batch failed that began after the first failure and without its pull requests."""
    first = failing[0]
    return any(
        attempt.started_at is not None
        and attempt.started_at >= first.ended_at
        and attempt.members.isdisjoint(first.members)
        for attempt in failing
    )


def many_checks(case: Case) -> ManyChecks | None:
    """Many checks fail at random.

    Looks for five pull requests or more that failed within half an hour at three checks or more,
    more than merged in that time, as for the verdict on a pull request. One broken check looks
    alike when it makes others fail too, so none may be in more than half of the failures.
    """
    failed = [attempt for attempt in case.attempts if not attempt.has_passed]
    if not failed or not case.is_recent(failed[-1]):
        return None
    begin = failed[-1].ended_at - STORM_SPAN
    near = [attempt for attempt in failed if attempt.ended_at >= begin]
    members = set[int]().union(*(attempt.members for attempt in near))
    merged = [merge for merge in case.merges if merge.received_at >= begin]
    counted = Counter(name for attempt in near for name in attempt.names)
    is_storm = len(members) > STORM_SIZE and len(members) > len(merged)
    if not is_storm or len(counted) < STORM_CHECKS:
        return None
    names = [name for name, _ in counted.most_common()]
    if counted[names[0]] > len(near) / 2:
        return None
    return ManyChecks(tuple(names), len(members), len(merged), near[0].ended_at)


def comes_back(case: Case) -> ComesBack | None:
    """One pull request comes back again and again.

    Looks for one whose checks failed three times in the last six hours, in three stays in the
    queue, the current one included, and for which most of the batches failed that did. A bisection
    looks alike, which tests one pull request several times within one stay.
    """
    since = case.judged_at - _LAST_HOURS
    failed = [a for a in case.attempts if not a.has_passed and a.ended_at >= since]
    if not failed or not case.is_recent(failed[-1]):
        return None
    counted = Counter(number for attempt in failed for number in attempt.members)
    number, times = counted.most_common(1)[0]
    own = [attempt for attempt in failed if number in attempt.members]
    stays = {stay for attempt in own for stay in attempt.stays if stay[0] == number}
    is_queued = any(queued.number == number for queued in case.queued)
    is_in_head = case.lead is not None and number in {m.number for m in case.lead.members}
    is_often = times >= IN_A_ROW and len(stays) + is_queued >= IN_A_ROW
    if not is_often or times <= len(failed) / 2 or not (case.is_long or is_in_head):
        return None
    names = frozenset.intersection(*(attempt.names for attempt in own))
    return ComesBack(number, times, own[0].ended_at, tuple(sorted(names)), is_queued)


def held(case: Case) -> Held | None:
    """One pull request that can't advance blocks others.

    Looks for a queue in which everything that could merge next waits for something besides the
    queue: a conflict, a dependency, a removal. One that is held while others merge past it looks
    alike: as long as a leading batch is free, or, without batches, a waiting pull request, it
    doesn't count.
    """
    if case.is_stopped or case.head is None or not case.is_long:
        return None
    firsts = [member for batch in case.leads for member in batch.members[:1]]
    candidates = firsts or case.queued
    if not all(is_blocked(queued) for queued in candidates):
        return None
    blocked = {queued.number: _blocked_by(queued, case) for queued in candidates}
    held_back = max(candidates, key=lambda queued: len(blocked[queued.number]))
    if held_back.obstacle is None:
        return None
    return Held(held_back.number, held_back.obstacle, tuple(blocked[held_back.number]))


def _blocked_by(held_back: QueuedPullRequest, case: Case) -> Sequence[int]:
    """Those that wait for it by name, those of its batch, and of batches built on that."""
    waiting = {held_back.number}
    batches: set[str] = set()
    for batch in case.live:
        members = [member.number for member in batch.members]
        if held_back.number in members or not batches.isdisjoint(batch.parent_ids):
            batches.add(batch.id)
            waiting.update(members)
    for queued in case.queued:
        obstacle = queued.obstacle
        if obstacle is not None and not waiting.isdisjoint(obstacle.numbers):
            waiting.add(queued.number)
    return [q.number for q in case.queued if q.number in waiting - {held_back.number}]


def never_start(case: Case) -> NeverStart | None:
    """Checks never start.

    Looks for a queued pull request whose checks the service failed to start twice and hasn't
    started since; for a head that has been tested for longer than the first check usually takes to
    run, and has none; for a queue in which nothing is tested though the log shows that nothing
    ended lately. A service that counts no checks looks alike, so the head's details or another
    batch must show that it does; a pause looks alike, so one that can't be ruled out silences it.
    """
    if case.may_be_paused or case.head is None:
        return None
    return _refused_start(case) or _without_check(case) or _without_batch(case)


def _refused_start(case: Case) -> NeverStart | None:
    log = case.facts.log
    queued = {pull_request.number for pull_request in case.queued}
    tried: dict[int, list[EventRecord]] = {}
    for event in log.of(CHECKS_NOT_STARTED):
        if event.pull_request in queued and event.received_at >= case.at - _LAST_HOURS:
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

    Looks for the last three runs or more, each of which waited for its first check longer than
    nine of ten do; or for two batches or more under test, none with a passed check although each
    has run longer than whole runs take. One bad head looks like the latter, so all batches count,
    and one batch alone is never enough.
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

    Looks for a head that has been tested for longer than nine of ten runs take, whose details name
    the checks without a result. A count of checks that no longer moves looks alike, so without
    these names it says nothing. Runners that are missing look alike too, so some check must have
    ended, here or in another batch.
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

    Looks for a head whose checks have all passed, by its state, its details or the event of their
    end, for longer than pull requests usually wait then. What runs or has failed isn't done, and a
    pause, a freeze or an obstacle would explain it: then it says nothing, so that the service is
    never blamed for what CI or people do. A condition that isn't met is named.
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


_RESTARTS: Mapping[str, Restart] = {
    "MERGE_QUEUE_RESET": Restart.MERGE,
    "PR_WITH_HIGHER_PRIORITY_QUEUED": Restart.PRIORITY,
    "BATCH_AHEAD_BRANCH_EDITED": Restart.PUSH,
}
_LEAVES: Mapping[str, Restart] = {
    "PULL_REQUEST_UPDATED": Restart.PUSH,
    "DRAFT_PULL_REQUEST_CHANGED": Restart.PUSH,
    "PR_MANUALLY_DEQUEUED": Restart.REMOVAL,
    "PR_DEQUEUED": Restart.REMOVAL,
    "PR_MANUALLY_MERGED": Restart.MERGE,
}
"""Why the pull request ahead left, for checks that restart because of that."""

_TOGETHER = timedelta(minutes=1)


def restarted(case: Case) -> Restarted | None:
    """Checks start over again and again: pushes, removals, priorities, merges around the queue.

    Looks for three restarts or more since the last merge. What restarts within a minute is one,
    however many batches. A pull request that is thrown out looks alike, but its checks don't start
    over; and where those ahead left because they failed, the failures are the cause.
    """
    since = max(case.merged_at or case.at - _LAST_HOURS, case.at - _LAST_HOURS)
    ends = [
        end
        for end in of_branch(case.facts.log.of(CHECKS_END), case.branch)
        if end.received_at > since and is_put_back(end)
    ]
    rounds = list(_rounds(ends))
    causes = Counter(cause for each in rounds if (cause := _cause_of(each, case)) is not None)
    times = causes.total()
    if case.may_be_paused or times < IN_A_ROW or times <= len(rounds) / 2:
        return None
    return Restarted(times, tuple(causes.most_common()), rounds[0][0].received_at)


def _rounds(ends: Sequence[EventRecord]) -> Iterator[Sequence[EventRecord]]:
    together: list[EventRecord] = []
    for end in ends:
        if together and end.received_at - together[-1].received_at > _TOGETHER:
            yield together
            together = []
        together.append(end)
    if together:
        yield together


def _cause_of(together: Sequence[EventRecord], case: Case) -> Restart | None:
    codes = [end.details.code or "" for end in together]
    known = next((_RESTARTS[code] for code in codes if code in _RESTARTS), None)
    if known is not None or "PR_AHEAD_DEQUEUED" not in codes:
        return known
    begin = together[0].received_at - _TOGETHER
    end = together[-1].received_at + _TOGETHER
    left = [leave for leave in case.facts.log.of(LEAVE) if begin <= leave.received_at <= end]
    causes = {_LEAVES.get(leave.details.code or "") for leave in left}
    return causes.pop() if len(causes) == 1 else None


def normal(case: Case) -> Normal | None:
    """It merges as usual, if slowly.

    Looks for a merge, or something to merge, no longer ago than nine of ten merges took. A queue
    in which little is queued looks like a stalled one: only the time in which there was something
    to merge counts. A log that isn't read hides failures, merges of another branch hide that
    nothing merges into this one, and three failures or three slow merges in a row are not normal:
    then it says nothing. It is tried last, so that no other verdict holds.
    """
    is_known = case.is_log_fresh and case.facts.log.reads(LEAVE, CHECKS_END)
    if case.head is None or case.is_stopped or not is_known:
        return None
    if case.is_long or not case.is_wait_known:
        return None
    if len(case.failing) >= IN_A_ROW or case.is_slow or not case.is_one_branch:
        return None
    pace = _pace(case)
    estimate = pace * len(case.queued) if pace is not None else None
    return Normal(pace, estimate)


_PACE_SPAN = timedelta(hours=3)
_PACE_LEAST = 5


def _pace(case: Case) -> timedelta | None:
    """The time for one pull request over the last hours."""
    times = [m.received_at for m in case.merges if m.received_at >= case.at - _PACE_SPAN]
    if len(times) < _PACE_LEAST:
        return None
    return (times[-1] - times[0]) / (len(times) - 1)


Rule = Callable[[Case], Finding | None]

VERDICT_RULES: Sequence[Rule] = (
    no_answer,
    paused,
    frozen,
    misconfigured,
    empty,
    same_check,
    many_checks,
    comes_back,
    held,
    never_start,
    start_late,
    hangs,
    done,
    restarted,
)
