"""Summaries: one delivery in place of many in a backlog."""

from collections.abc import Sequence
from datetime import datetime
from itertools import takewhile

from sqlalchemy import and_, bindparam, func, or_, select

from bot.log.classification import EventKind
from bot.posts.channel_queues import DIGEST, URGENT, ChannelQueues, is_covered_by, unsettled
from bot.posts.delivery import DeliveryState, Subject, SummaryContent, summary_id
from bot.posts.tables import channel_queues, deliveries
from bot.store.statements import ResultRow

FAILURES_SHOWN = 10

SMALL_SUMMARY = 50
"""A summary of at most this many may become part of another summary."""

_QUEUE_LENGTH = channel_queues.c.next_sequence - channel_queues.c.head_sequence
_IS_DUE_DIGEST = and_(channel_queues.c.queue.like(f"{DIGEST}%"), _QUEUE_LENGTH > 1)
_LONG = (
    select(channel_queues.c.queue)
    .where(
        channel_queues.c.claimable_at <= bindparam("now"),
        channel_queues.c.queue.not_like(f"{URGENT}%"),
        or_(bindparam("longer_than") < _QUEUE_LENGTH, _IS_DUE_DIGEST),
    )
    .order_by(channel_queues.c.queue)
    .with_for_update(skip_locked=True)
)
_SUBJECT = (deliveries.c.subject_kind, deliveries.c.repository, deliveries.c.subject_id)


class Summaries(ChannelQueues):
    """Makes summaries and reads their content."""

    def summarize(self, *, now: datetime, longer_than: int, at_most: int) -> int:
        """Make summaries of backlogs; return how many deliveries were summarized.

        Applies to ordinary queues with more than `longer_than` unsettled deliveries, and to due
        digests. The first delivery that certainly wasn't posted becomes the summary. It covers the
        unbroken run of untried deliveries behind it, at most `at_most`: they become SUMMARIZED. A
        small summary among them hands over its own; a large one ends the run.
        """
        names = self._run(_LONG, {"now": now, "longer_than": longer_than}).scalars().all()
        return sum(self._summarize(name, now, at_most) for name in names)

    def _summarize(self, queue: str, now: datetime, at_most: int) -> int:
        """Summarize into the first delivery that certainly wasn't posted: head or next."""
        waiting = select(deliveries).where(unsettled(queue)).order_by(deliveries.c.sequence)
        rows = self._run(waiting.limit(at_most + 2)).all()
        untried = [index for index, row in enumerate(rows[:2]) if _is_untried(row, now)]
        if not untried:
            return 0
        first = untried[0]
        summary, *behind = rows[first : first + at_most + 1]
        run = _unbroken_run(behind, now)
        if not run:
            return 0
        summarized_by = summary_id(summary.delivery_id, run[-1].delivery_id)
        self._change(
            deliveries,
            unsettled(queue),
            deliveries.c.sequence.between(run[0].sequence, run[-1].sequence),
            state=DeliveryState.SUMMARIZED,
            settled_at=now,
            summarized_by=summarized_by,
        )
        # The new summary covers the deliveries of older ones too.
        older = [row.delivery_id for row in (summary, *run) if row.summarizes]
        theirs = deliveries.c.summarized_by.in_(older)
        self._change(deliveries, theirs, summarized_by=summarized_by)
        covered = sum(1 + row.summarizes for row in run)
        self._change(
            deliveries,
            deliveries.c.delivery_id == summary.delivery_id,
            delivery_id=summarized_by,
            summarizes=summary.summarizes + covered,
        )
        return len(run)

    def subjects_of(self, delivery_id: str, limit: int) -> Sequence[Subject]:
        """The subjects that a delivery covers, its own included, in order, at most `limit`."""
        covered = select(*_SUBJECT).where(is_covered_by(delivery_id))
        rows = self._run(covered.order_by(deliveries.c.sequence).limit(limit))
        return [Subject(*row) for row in rows]

    def summary_content(self, delivery_id: str) -> SummaryContent:
        """The content of a summary, its own subject included."""
        covered = is_covered_by(delivery_id)
        kind = (deliveries.c.repository, deliveries.c.kind)
        oldest = func.min(deliveries.c.created_at)
        by_kind = select(*kind, func.count(), oldest).where(covered).group_by(*kind)
        counted = self._run(by_kind).all()
        failures = select(*_SUBJECT).where(covered, deliveries.c.kind == EventKind.FAILURE)
        latest = self._run(failures.order_by(deliveries.c.sequence.desc()).limit(FAILURES_SHOWN))
        return SummaryContent(
            counts={(repository, kind): count for repository, kind, count, _ in counted},
            oldest_created_at=min(oldest for *_, oldest in counted),
            subjects=[Subject(*row) for row in reversed(latest.all())],
        )


def _unbroken_run(behind: Sequence[ResultRow], now: datetime) -> Sequence[ResultRow]:
    """The deliveries directly behind a summary that it can cover.

    A delivery that may have been posted must keep its place, and a large summary would be posted
    again.
    """

    def can_be_covered(row: ResultRow) -> bool:
        return _is_untried(row, now) and row.summarizes <= SMALL_SUMMARY

    return list(takewhile(can_be_covered, behind))


def _is_untried(row: ResultRow, now: datetime) -> bool:
    """Whether no request can have been sent, and none is about to be; nor waits a later digest.

    A dead process set the time of attempt only on the delivery that it was sending.
    """
    if row.queue.startswith(DIGEST) and row.due_at > now:
        return False
    if row.attempted_at is not None:
        return False
    is_abandoned = row.state is DeliveryState.SENDING and row.due_at <= now
    return row.state is DeliveryState.PENDING or is_abandoned
