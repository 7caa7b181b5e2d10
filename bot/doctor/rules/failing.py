"""Rules about checks that fail, in every batch, at random, or for one pull request."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.doctor.attempts import Attempt, of_branch
from bot.doctor.case import Case, says_merged
from bot.doctor.diagnosis import ComesBack, ManyChecks, SameCheck
from bot.doctor.rules.limits import IN_A_ROW, LAST_HOURS
from bot.merge_queue.event_types import LEAVE
from bot.verdicts.verdict import STORM_CHECKS, STORM_SIZE, STORM_SPAN


def same_check(case: Case) -> SameCheck | None:
    """Every batch fails at the same check.

    Looks for: batches that failed since checks last passed, all at one check.
    Figures: IN_A_ROW of them, the last no longer ago than a run may take.
    Mistaken for: one bad pull request in all of them, or one at the head with batches that were
    tested on top of it at the same time. So they may have no pull request in common, and one must
    have started after another had failed.
    Says instead: nothing here; `comes_back` may know the pull request.
    """
    failing = case.failing
    if len(failing) < IN_A_ROW or not case.is_recent(failing[-1].ended_at):
        return None
    names = frozenset.intersection(*(attempt.names for attempt in failing))
    if not names or set.intersection(*(attempt.members for attempt in failing)):
        return None
    if not _is_repeated(failing):
        return None
    members = set[int]().union(*(attempt.members for attempt in failing))
    last = _last_pass(case)
    return SameCheck(
        names=tuple(sorted(names)),
        batches=len(failing),
        pull_requests=len(members),
        since=failing[0].ended_at,
        passed_at=last.at if last is not None else None,
        passed=last.numbers if last is not None else (),
        run=failing[-1].run,
    )


@dataclass(frozen=True, slots=True)
class _Pass:
    """When checks last passed, and with which pull requests."""

    at: datetime
    numbers: tuple[int, ...]


def _last_pass(case: Case) -> _Pass | None:
    passed = next((attempt for attempt in reversed(case.attempts) if attempt.has_passed), None)
    if passed is not None:
        return _Pass(passed.ended_at, tuple(sorted(passed.members)))
    if not case.merges:
        return None
    last = case.merges[-1]
    return _Pass(last.received_at, (last.pull_request,) if last.pull_request else ())


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

    Looks for: pull requests that failed within half an hour at several checks, as for the verdict
    on a pull request.
    Figures: more than STORM_SIZE at STORM_CHECKS or more, in IN_A_ROW batches or more, and more
    than passed in that time.
    Mistaken for: one broken check that makes others fail too. None may be in more than half of the
    failures.
    Says instead: nothing here; `same_check` may know the check.
    """
    failed = [attempt for attempt in case.attempts if not attempt.has_passed]
    if not failed or not case.is_recent(failed[-1].ended_at):
        return None
    begin = failed[-1].ended_at - STORM_SPAN
    near = [attempt for attempt in failed if attempt.ended_at >= begin]
    members = set[int]().union(*(attempt.members for attempt in near))
    passed = _passed_since(begin, case)
    counted = Counter(name for attempt in near for name in attempt.names)
    is_storm = len(members) > STORM_SIZE and len(members) > len(passed)
    if not is_storm or len(near) < IN_A_ROW or len(counted) < STORM_CHECKS:
        return None
    names = [name for name, _ in counted.most_common()]
    if counted[names[0]] > len(near) / 2:
        return None
    since = near[0].ended_at
    return ManyChecks(tuple(names), len(members), len(_passed_since(since, case)), since)


def _passed_since(begin: datetime, case: Case) -> set[int]:
    """The pull requests that passed their checks or merged; polls may read one of both."""
    passed = [attempt for attempt in case.attempts if attempt.has_passed]
    numbers = set[int]().union(*(run.members for run in passed if run.ended_at >= begin))
    merges = [merge for merge in case.merges if merge.received_at >= begin]
    return numbers | {merge.pull_request for merge in merges if merge.pull_request}


_THROWN_OUT = frozenset(
    {
        "CONFLICT_WITH_BASE_BRANCH",
        "CONFLICT_WITH_PULL_AHEAD",
        "BRANCH_UPDATE_FAILED",
        "PR_DEQUEUED",
        "UNPROCESSABLE_PULL_REQUEST",
    }
)
"""Why a pull request leaves by itself, besides its checks."""


def comes_back(case: Case) -> ComesBack | None:
    """One pull request comes back again and again.

    Looks for: one whose checks failed in several queue entries, the current one included, and
    for which most of the batches failed that did; or one that left as often for a conflict or its
    conditions, more often than all others together, while nothing merged.
    Figures: IN_A_ROW times within LAST_HOURS.
    Mistaken for: a bisection, which tests one pull request several times within one entry; a person
    who takes it out by hand; a bad one that holds up nobody, since the others merge; several that
    come back together, any of which may be the bad one.
    Says instead: nothing.
    """
    return _fails_again(case) or _is_thrown_out_again(case)


def _fails_again(case: Case) -> ComesBack | None:
    since = case.judged_at - LAST_HOURS
    failed = [a for a in case.attempts if not a.has_passed and a.ended_at >= since]
    if not failed:
        return None
    counted = Counter(number for attempt in failed for number in attempt.members)
    number, times = counted.most_common(1)[0]
    if list(counted.values()).count(times) > 1:
        return None
    own = [attempt for attempt in failed if number in attempt.members]
    entries = {key for attempt in own for key in attempt.entries if key[0] == number}
    is_queued = _is_queued(number, case)
    is_often = times >= IN_A_ROW and len(entries) + is_queued >= IN_A_ROW
    if not is_often or times <= len(failed) / 2:
        return None
    if not _holds_up(number, own[0].ended_at, failed[-1].ended_at, case):
        return None
    names = frozenset.intersection(*(attempt.names for attempt in own))
    return ComesBack(number, times, own[0].ended_at, tuple(sorted(names)), is_queued)


def _holds_up(number: int, since: datetime, failed_at: datetime, case: Case) -> bool:
    """Whether the queue waits for it now: at the head, or because nothing else merges."""
    lead = case.lead
    is_in_head = lead is not None and number in {member.number for member in lead.members}
    is_recent = case.is_recent(failed_at)
    if is_recent and (case.is_long or is_in_head):
        return True
    has_merged = case.merged_at is not None and case.merged_at > since
    return not has_merged and (is_in_head or (is_recent and not case.queued))


def _is_thrown_out_again(case: Case) -> ComesBack | None:
    begin = case.judged_at - LAST_HOURS
    since = max(case.merged_at or begin, begin)
    left = [
        leave
        for leave in of_branch(case.facts.log.of(LEAVE), case.branch)
        if leave.received_at > since and not says_merged(leave)
    ]
    thrown_out = [leave for leave in left if leave.details.code in _THROWN_OUT]
    counted = Counter(leave.pull_request for leave in thrown_out if leave.pull_request)
    if not counted:
        return None
    number, times = counted.most_common(1)[0]
    own = [leave for leave in left if leave.pull_request == number]
    last = own[-1]
    if times < IN_A_ROW or times <= len(left) / 2 or not case.is_long:
        return None
    is_queued = _is_queued(number, case)
    if not is_queued and not case.is_recent(last.received_at):
        return None
    return ComesBack(number, times, own[0].received_at, (), is_queued, last.details.code)


def _is_queued(number: int, case: Case) -> bool:
    return any(queued.number == number for queued in case.queued)
