"""Rules about pull requests that can't advance, and checks that start over."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.doctor.attempts import of_branch
from bot.doctor.case import BY_HAND, Case, is_blocked, says_merged
from bot.doctor.diagnosis import Restart, RestartCause, Restarted, StuckBehindOne
from bot.doctor.rules.limits import IN_A_ROW, LAST_HOURS
from bot.log.preceding import is_put_back, with_preceding_events
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.event_types import CHECKS_END, ENTER, LEAVE
from bot.merge_queue.queue import QueuedPullRequest


def held(case: Case) -> StuckBehindOne | None:
    """One pull request that can't advance blocks others.

    Looks for: a queue in which all that could merge next waits for something besides the queue: a
    conflict, a dependency, a removal.
    Figures: the limit of the times between merges.
    Mistaken for: one that is held while others merge past it. As long as a leading batch is free,
    or, without batches, a waiting pull request, it doesn't count.
    Says instead: nothing.
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
    return StuckBehindOne(held_back.number, held_back.obstacle, tuple(blocked[held_back.number]))


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
_AHEAD_LEFT = "PR_AHEAD_DEQUEUED"
_LEAVES: Mapping[str, Restart] = {
    "PULL_REQUEST_UPDATED": Restart.PUSH,
    "DRAFT_PULL_REQUEST_CHANGED": Restart.PUSH,
    "PR_MANUALLY_DEQUEUED": Restart.REMOVAL,
    "PR_DEQUEUED": Restart.REMOVAL,
    BY_HAND: Restart.MERGE,
}
"""Why the pull request ahead left, for checks that restart because of that."""

_TOGETHER = timedelta(minutes=1)

_REQUEUED_WITHIN = timedelta(minutes=15)
"""Who takes a pull request out and queues it again so soon means to requeue it."""


def restarted(case: Case) -> Restarted | None:
    """Checks start over again and again, although they hadn't failed.

    Looks for: restarts since the last merge, each with evidence of its cause. A push: the leave of
    the pull request ahead that it threw out, or an edited batch. A requeue: a pull request taken
    out, and queued again within _REQUEUED_WITHIN. A removal or a priority: one taken out for
    longer, or one that came first. A merge or push around the queue: the reset of the queue.
    Figures: IN_A_ROW; what restarts within a minute is one, however many batches.
    Mistaken for: pull requests that are thrown out, whose checks don't start over; failures ahead,
    which are the cause themselves; a pause, which also stops checks. A restart without evidence of
    exactly one cause has none.
    Says instead: nothing, if half of the restarts have no cause.
    """
    since = max(case.merged_at or case.at - LAST_HOURS, case.at - LAST_HOURS)
    changes = _changes_of_queue(case)
    ends = [end for end in changes.ends if end.received_at > since and is_put_back(end)]
    rounds = list(_rounds(ends))
    known = [caused for together in rounds if (caused := _caused(together, changes)) is not None]
    times = len(known)
    if case.may_be_paused or times < IN_A_ROW or times <= len(rounds) / 2:
        return None
    said = known[-1].said
    return Restarted(times, tuple(_causes(known)), known[0].at, said)


@dataclass(frozen=True, slots=True)
class _Caused:
    """One restart with its cause."""

    at: datetime
    kind: Restart
    numbers: Sequence[int]  #: the pull requests that it rests on, if the log names any
    said: str  #: the service's words


def _causes(restarts: Sequence[_Caused]) -> Iterator[RestartCause]:
    """The most frequent first."""
    counted = Counter(restart.kind for restart in restarts)
    for kind, times in counted.most_common():
        named = [number for each in restarts if each.kind is kind for number in each.numbers]
        yield RestartCause(kind, times, tuple(dict.fromkeys(named)))


def _rounds(ends: Sequence[EventRecord]) -> Iterator[Sequence[EventRecord]]:
    together: list[EventRecord] = []
    for end in ends:
        if together and end.received_at - together[-1].received_at > _TOGETHER:
            yield together
            together = []
        together.append(end)
    if together:
        yield together


@dataclass(frozen=True, slots=True)
class _Changes:
    """What may make checks start over; each oldest first."""

    ends: Sequence[EventRecord]
    leaves: Sequence[EventRecord]  #: without those that the queue merged
    enters: Sequence[EventRecord]

    def left(self, begin: datetime, end: datetime) -> Sequence[EventRecord]:
        """The leaves of that time; the ends of checks have the codes that some lack."""
        leaves = _events_between(self.leaves, begin, end)
        numbers = {leave.pull_request for leave in leaves}
        ends = [
            each for each in _events_between(self.ends, begin, end) if each.pull_request in numbers
        ]
        return [with_preceding_events(leave, ends) for leave in leaves]

    def are_requeued(self, removed: Sequence[EventRecord]) -> bool:
        """Whether each of those that were taken out was queued again soon."""
        return bool(removed) and all(map(self._is_requeued, removed))

    def _is_requeued(self, removed: EventRecord) -> bool:
        at = removed.received_at
        enters = _events_between(self.enters, at, at + _REQUEUED_WITHIN)
        return any(enter.pull_request == removed.pull_request for enter in enters)

    def has_jumped_ahead(self, entered: EventRecord) -> bool:
        """Whether it was taken out by hand shortly before it entered."""
        at = entered.received_at
        left = self.left(at - _REQUEUED_WITHIN, at)
        removed = _of_kind(left, Restart.REMOVAL)
        return any(leave.pull_request == entered.pull_request for leave in removed)


def _changes_of_queue(case: Case) -> _Changes:
    log = case.facts.log
    leaves = of_branch(log.of(LEAVE), case.branch)
    return _Changes(
        list(of_branch(log.of(CHECKS_END), case.branch)),
        [leave for leave in leaves if not says_merged(leave)],
        list(of_branch(log.of(ENTER), case.branch)),
    )


def _caused(together: Sequence[EventRecord], changes: _Changes) -> _Caused | None:
    """The cause of checks that started over together; None without evidence of exactly one."""
    begin = together[0].received_at - _TOGETHER
    end = together[-1].received_at + _TOGETHER
    leaves = changes.left(begin, end)
    kind = _kind_of({each.details.code or "" for each in together}, leaves)
    if kind is None:
        return None
    changed = _of_kind(leaves, kind)
    if kind is Restart.REMOVAL and changes.are_requeued(changed):
        kind = Restart.REQUEUE
    if kind is Restart.PRIORITY:
        entered = _events_between(changes.enters, begin, end)
        # Of several, nobody knows which one came first.
        changed = entered if len(entered) == 1 else ()
        if any(map(changes.has_jumped_ahead, changed)):
            kind = Restart.REQUEUE
    said = together[-1].details.reason or ""
    return _Caused(together[-1].received_at, kind, _numbers_of(changed), said)


def _kind_of(codes: Collection[str], leaves: Sequence[EventRecord]) -> Restart | None:
    kinds: set[Restart | None] = {_RESTARTS[code] for code in codes if code in _RESTARTS}
    if not kinds and _AHEAD_LEFT in codes:
        kinds = {_LEAVES.get(leave.details.code or "") for leave in leaves}
    return kinds.pop() if len(kinds) == 1 else None


def _events_between(
    events: Sequence[EventRecord], begin: datetime, end: datetime
) -> Sequence[EventRecord]:
    first = bisect_left(events, begin, key=_received_at)
    return events[first : bisect_right(events, end, key=_received_at)]


def _received_at(event: EventRecord) -> datetime:
    return event.received_at


def _of_kind(leaves: Sequence[EventRecord], kind: Restart) -> Sequence[EventRecord]:
    return [leave for leave in leaves if _LEAVES.get(leave.details.code or "") is kind]


def _numbers_of(events: Sequence[EventRecord]) -> Sequence[int]:
    return list(dict.fromkeys(event.pull_request for event in events if event.pull_request))
