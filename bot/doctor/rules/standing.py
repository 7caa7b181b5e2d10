"""Rules about what people and the service want of a queue, and about one that is fine."""

from datetime import timedelta

from bot.doctor.case import Case
from bot.doctor.diagnosis import Empty, Frozen, Misconfigured, Normal, NoStatus, Paused
from bot.doctor.facts import NoAnswer
from bot.doctor.rules.limits import IN_A_ROW, SEVERAL
from bot.merge_queue.event_types import CHECKS_END, LEAVE
from bot.merge_queue.queue import BatchStatusCode

_CONFIGURATION = frozenset({"QUEUE_RULE_MISSING", "INCOMPATIBILITY_WITH_BRANCH_PROTECTIONS"})

_LATELY = timedelta(hours=1)


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
