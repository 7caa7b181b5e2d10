"""Backlogs summarized in summaries: one delivery that tells many."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import and_, func, not_, or_, select, update

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

FAILURES_TOLD = 10

SMALL = 50
"""A delivery that itself tells no more than this many may be summarized in a summary."""

_SUBJECT = (deliveries.c.subject_kind, deliveries.c.repository, deliveries.c.subject_id)


class Summaries(ChannelQueues):
    """The part of the outbox that makes summaries, and says what they tell."""

    def summarize(self, *, now: datetime, longer_than: int, at_most: int) -> int:
        """Make summaries of backlogs; return how many deliveries were summarized.

        In each ordinary queue with more than `longer_than` unsettled deliveries that can be
        claimed, and in each digest that is due, the first that is certainly not posted, the head
        or the one behind it, tells those that follow it in one unbroken run and are certainly not
        posted either, at most `at_most`: they become SUMMARIZED. One that tells few others itself
        hands these over; a summary of many is never summarized in another.
        """
        queue, length = channels.c.line, channels.c.next_sequence - channels.c.head_sequence
        is_long = or_(length > longer_than, and_(queue.like(f"{DIGEST}%"), length > 1))
        long_ones = (
            select(queue)
            .where(channels.c.claimable_at <= now, queue.not_like(f"{URGENT}%"), is_long)
            .order_by(queue)
            .with_for_update(skip_locked=True)
        )
        return sum(
            self._summarize(name, now, at_most) for name in self._run(long_ones).scalars().all()
        )

    def _summarize(self, queue: str, now: datetime, at_most: int) -> int:
        """Fold into the first delivery that is certainly not posted: the head, or the next one."""
        can_be_told = _is_untried(now)
        if queue.startswith(DIGEST):
            # What waits for a later digest stays.
            can_be_told &= deliveries.c.due_at <= now
        first_two = self._run(
            select(deliveries, can_be_told.label("can_be_told"))
            .where(unsettled(queue))
            .order_by(deliveries.c.sequence)
            .limit(2)
        ).all()
        summary = next((row for row in first_two if row.can_be_told), None)
        if summary is None:
            return 0
        # One that may have been posted must not be overtaken by what is behind it, and a large
        # summary would be posted anew.
        can_be_told &= deliveries.c.summarizes <= SMALL
        behind = self._unbroken_run(queue, summary.sequence, at_most, can_be_told)
        ids = select(deliveries.c.delivery_id).where(behind)
        last = self._run(ids.order_by(deliveries.c.sequence.desc()).limit(1)).scalar()
        return 0 if last is None else self._tell_with(summary, behind, last, now)

    def _unbroken_run(
        self, queue: str, first: int, at_most: int, can_be_told: Condition
    ) -> Condition:
        """What follows `first` up to the first that cannot be told with it."""
        sequence = deliveries.c.sequence
        behind = and_(unsettled(queue), sequence > first, sequence <= first + at_most)
        stop = self._run(select(func.min(sequence)).where(behind, not_(can_be_told))).scalar_one()
        return behind if stop is None else behind & (sequence < stop)

    def _tell_with(self, summary: ResultRow, behind: Condition, last: str, now: datetime) -> int:
        summarized_by = summary_id(summary.delivery_id, last)
        summarized = self._run(
            update(deliveries)
            .where(behind)
            .values(state=DeliveryState.SUMMARIZED, settled_at=now, summarized_by=summarized_by)
            .returning(deliveries.c.delivery_id, deliveries.c.summarizes)
        ).all()
        for some in slices([row.delivery_id for row in (summary, *summarized) if row.summarizes]):
            # What these were to tell, the summary tells now.
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
        """What a delivery tells with those summarized in it, in order, at most `limit`."""
        told = select(*_SUBJECT).where(_is_told_by(delivery_id)).order_by(deliveries.c.sequence)
        return [Subject(*row) for row in self._run(told.limit(limit))]

    def summary_content(self, delivery_id: str) -> SummaryContent:
        """What a summary has to tell, itself included."""
        told, kind = _is_told_by(delivery_id), (deliveries.c.repository, deliveries.c.kind)
        oldest = func.min(deliveries.c.created_at)
        counted = self._run(select(*kind, func.count(), oldest).where(told).group_by(*kind)).all()
        failures = select(*_SUBJECT).where(told, deliveries.c.kind == EventKind.FAILURE)
        latest = self._run(failures.order_by(deliveries.c.sequence.desc()).limit(FAILURES_TOLD))
        return SummaryContent(
            counts={(repository, kind): count for repository, kind, count, _ in counted},
            oldest_created_at=min(oldest for *_, oldest in counted),
            subjects=[Subject(*row) for row in reversed(latest.all())],
        )


def _is_untried(now: datetime) -> Condition:
    """No request for it can have been sent, and none is about to be.

    Of what a dead process had claimed, only the delivery it had come to has a time of attempt.
    """
    is_abandoned = and_(deliveries.c.state == DeliveryState.SENDING, deliveries.c.due_at <= now)
    return and_(
        deliveries.c.attempted_at.is_(None),
        or_(deliveries.c.state == DeliveryState.PENDING, is_abandoned),
    )


def _is_told_by(delivery_id: str) -> Condition:
    return or_(deliveries.c.summarized_by == delivery_id, deliveries.c.delivery_id == delivery_id)
