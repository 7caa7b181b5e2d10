"""Summaries: one delivery in place of many in a backlog."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import and_, bindparam, func, not_, or_, select, update

from bot.domain.classification import EventKind
from bot.domain.deliveries import DeliveryState, Subject, SummaryContent, summary_id
from bot.store.channel_queues import (
    DIGEST,
    URGENT,
    ChannelQueues,
    channels,
    deliveries,
    unsettled,
)
from bot.store.statements import Condition, ResultRow, slices

FAILURES_SHOWN = 10

SMALL = 50
"""A summary of at most this many may become part of another summary."""

# Built once, because building a statement takes longer than running it.
_LENGTH = channels.c.next_sequence - channels.c.head_sequence
_LONG = (
    select(channels.c.queue)
    .where(
        channels.c.claimable_at <= bindparam("now"),
        channels.c.queue.not_like(f"{URGENT}%"),
        or_(
            bindparam("longer_than") < _LENGTH,
            and_(channels.c.queue.like(f"{DIGEST}%"), _LENGTH > 1),
        ),
    )
    .order_by(channels.c.queue)
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
        long_ones = self._run(_LONG, {"now": now, "longer_than": longer_than}).scalars().all()
        return sum(self._summarize(name, now, at_most) for name in long_ones)

    def _summarize(self, queue: str, now: datetime, at_most: int) -> int:
        """Summarize into the first delivery that certainly wasn't posted: head or next."""
        can_be_summarized = _is_untried(now)
        if queue.startswith(DIGEST):
            # Deliveries for a later digest stay.
            can_be_summarized &= deliveries.c.due_at <= now
        first_two = self._run(
            select(deliveries, can_be_summarized.label("can_be_summarized"))
            .where(unsettled(queue))
            .order_by(deliveries.c.sequence)
            .limit(2)
        ).all()
        summary = next((row for row in first_two if row.can_be_summarized), None)
        if summary is None:
            return 0
        # A delivery that may have been posted must keep its place, and a large summary would be
        # posted again.
        can_be_summarized &= deliveries.c.summarizes <= SMALL
        behind = self._unbroken_run(queue, summary.sequence, at_most, can_be_summarized)
        ids = select(deliveries.c.delivery_id).where(behind)
        last = self._run(ids.order_by(deliveries.c.sequence.desc()).limit(1)).scalar()
        return 0 if last is None else self._summarize_in(summary, behind, last, now)

    def _unbroken_run(
        self, queue: str, first: int, at_most: int, can_be_summarized: Condition
    ) -> Condition:
        """The deliveries after `first`, up to one that can't be summarized."""
        sequence = deliveries.c.sequence
        behind = and_(unsettled(queue), sequence > first, sequence <= first + at_most)
        stop = self._run(
            select(func.min(sequence)).where(behind, not_(can_be_summarized))
        ).scalar_one()
        return behind if stop is None else behind & (sequence < stop)

    def _summarize_in(self, summary: ResultRow, behind: Condition, last: str, now: datetime) -> int:
        summarized_by = summary_id(summary.delivery_id, last)
        summarized = self._run(
            update(deliveries)
            .where(behind)
            .values(state=DeliveryState.SUMMARIZED, settled_at=now, summarized_by=summarized_by)
            .returning(deliveries.c.delivery_id, deliveries.c.summarizes)
        ).all()
        for some in slices([row.delivery_id for row in (summary, *summarized) if row.summarizes]):
            # The new summary covers their deliveries too.
            theirs = deliveries.c.summarized_by.in_(some)
            self._change(deliveries, theirs, summarized_by=summarized_by)
        more = sum(1 + row.summarizes for row in summarized)
        self._change(
            deliveries,
            deliveries.c.delivery_id == summary.delivery_id,
            delivery_id=summarized_by,
            summarizes=deliveries.c.summarizes + more,
        )
        return len(summarized)

    def subjects_of(self, delivery_id: str, limit: int) -> Sequence[Subject]:
        """The subjects that a delivery covers, its own included, in order, at most `limit`."""
        covered = (
            select(*_SUBJECT).where(_is_covered_by(delivery_id)).order_by(deliveries.c.sequence)
        )
        return [Subject(*row) for row in self._run(covered.limit(limit))]

    def summary_content(self, delivery_id: str) -> SummaryContent:
        """The content of a summary, its own subject included."""
        covered, kind = _is_covered_by(delivery_id), (deliveries.c.repository, deliveries.c.kind)
        oldest = func.min(deliveries.c.created_at)
        counted = self._run(
            select(*kind, func.count(), oldest).where(covered).group_by(*kind)
        ).all()
        failures = select(*_SUBJECT).where(covered, deliveries.c.kind == EventKind.FAILURE)
        latest = self._run(failures.order_by(deliveries.c.sequence.desc()).limit(FAILURES_SHOWN))
        return SummaryContent(
            counts={(repository, kind): count for repository, kind, count, _ in counted},
            oldest_created_at=min(oldest for *_, oldest in counted),
            subjects=[Subject(*row) for row in reversed(latest.all())],
        )


def _is_untried(now: datetime) -> Condition:
    """Whether no request can have been sent, and none is about to be.

    A dead process set the time of attempt only on the delivery that it was sending.
    """
    is_abandoned = and_(deliveries.c.state == DeliveryState.SENDING, deliveries.c.due_at <= now)
    return and_(
        deliveries.c.attempted_at.is_(None),
        or_(deliveries.c.state == DeliveryState.PENDING, is_abandoned),
    )


def _is_covered_by(delivery_id: str) -> Condition:
    return or_(deliveries.c.summarized_by == delivery_id, deliveries.c.delivery_id == delivery_id)
