"""Rules about what people and the service want of a queue, and about one that is fine."""

from datetime import timedelta

from bot.doctor.attempts import of_branch
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

    Looks for: a status that couldn't be read.
    Figures: when the service last gave a good answer.
    Mistaken for: a quiet queue, whose status can be read and is empty.
    Says instead: an invalid configuration, which the service also answers with a refusal, is
    `misconfigured`.
    """
    problem = case.facts.problem
    if case.status is not None or problem is None or problem.kind is NoAnswer.INVALID:
        return None
    return NoStatus(problem)


def paused(case: Case) -> Paused | None:
    """The queue is paused.

    Looks for: the pause in force, or a status that says so.
    Figures: none.
    Mistaken for: nothing; but where the service says neither, a pause may explain everything.
    Says instead: no claim, and the rules that a pause would explain say nothing.
    """
    return Paused(case.facts.pause) if case.is_paused else None


def frozen(case: Case) -> Frozen | None:
    """The queue is frozen, or outside the hours in which it merges.

    Looks for: a freeze in force without conditions, or of the head's branch; or leading batches
    that all wait for a freeze or for their schedule.
    Figures: none.
    Mistaken for: a freeze of other pull requests. As long as one leading batch goes on, only a
    freeze whose conditions the bot understands counts.
    Says instead: nothing.
    """
    if not case.is_frozen:
        return None
    codes = {batch.status.code for batch in case.leads}
    is_outside_hours = codes == {BatchStatusCode.WAITING_SCHEDULE}
    freezes = case.holding
    if not freezes and not is_outside_hours:
        freezes = [freeze for freeze in case.facts.freezes if freeze.concerns(case.branch)]
    return Frozen(tuple(freezes), is_outside_hours)


def misconfigured(case: Case) -> Misconfigured | None:
    """The repository's configuration is invalid.

    Looks for: the service's own word, also about a queue whose status can be read; or pull requests
    that left because their queue rule is gone or clashes with the branch protection.
    Figures: SEVERAL of them within an hour, since the last merge.
    Mistaken for: a configuration that changed under pull requests, which is no error; rules of
    another branch.
    Says instead: nothing; a changed configuration is no cause that lasts.
    """
    problem = case.facts.problem
    if problem is not None and problem.kind is NoAnswer.INVALID:
        return Misconfigured(None, problem.said, (), problem.last_answer_at)
    since = case.at - _LATELY
    left = [
        leave
        for leave in of_branch(case.facts.log.of(LEAVE), case.branch)
        if leave.details.code in _CONFIGURATION and leave.received_at >= since
        if case.merged_at is None or leave.received_at > case.merged_at
    ]
    numbers = dict.fromkeys(leave.pull_request for leave in left if leave.pull_request)
    if len(numbers) < SEVERAL:
        return None
    last = left[-1].details
    return Misconfigured(last.code, last.reason or "", tuple(numbers), left[0].received_at)


def empty(case: Case) -> Empty | None:
    """Nothing is queued.

    Looks for: a status without pull requests.
    Figures: none.
    Mistaken for: an answer with entries that can't be read; a queue that is paused, frozen or
    misconfigured, which is more than empty.
    Says instead: what it is besides empty, or that nobody can tell.
    """
    if case.status is None or case.queued or case.status.unreadable:
        return None
    is_more_than_empty = case.is_stopped or case.facts.problem is not None
    return None if is_more_than_empty else Empty()


def normal(case: Case) -> Normal | None:
    """It merges as usual, if slowly. Tried last, when no other verdict holds.

    Looks for: a merge, or something to merge, not long ago; only the time in which there was
    something to merge counts, so that a queue with little in it isn't stalled.
    Figures: the limit of the times between merges.
    Mistaken for: a queue whose log isn't read, which hides failures; merges into another branch;
    IN_A_ROW failures or slow merges, which aren't normal.
    Says instead: that nobody can tell.
    """
    is_known = case.is_log_fresh and case.facts.log.reads(LEAVE, CHECKS_END)
    if case.head is None or case.is_stopped or not is_known:
        return None
    if case.is_long or not case.is_wait_known:
        return None
    if len(case.failing) >= IN_A_ROW or case.is_slow or not case.is_one_branch:
        return None
    return Normal()
