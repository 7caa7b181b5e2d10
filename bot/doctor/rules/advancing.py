"""Rules about pull requests that can't advance, and checks that start over."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta

from bot.doctor.attempts import of_branch
from bot.doctor.case import Case, is_blocked
from bot.doctor.diagnosis import Held, Restart, Restarted
from bot.doctor.rules.limits import IN_A_ROW, LAST_HOURS
from bot.log.preceding import is_put_back
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.event_types import CHECKS_END, LEAVE
from bot.merge_queue.queue import QueuedPullRequest


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
    since = max(case.merged_at or case.at - LAST_HOURS, case.at - LAST_HOURS)
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
