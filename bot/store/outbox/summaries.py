"""Backlogs summarized in summaries: one delivery that tells many."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, and_, bindparam, func, not_, or_, select, update

from bot.domain.classification import EventKind
from bot.domain.deliveries import DeliveryState, Subject, SummaryContent, summary_id
from bot.store.outbox.channel_queues import DIGEST, URGENT, ChannelQueues, unsettled
from bot.store.statements import slices
from bot.store.tables import channels, deliveries

FAILURES_TOLD = 10

SMALL = 50
"""A delivery that itself tells no more than this many may be summarized in a summary."""

_LENGTH = channels.c.next_sequence - channels.c.head_sequence
_LONG = (
    select(channels.c.line)
    .where(
        channels.c.claimable_at <= bindparam("now"),
        channels.c.line.not_like(f"{URGENT}%"),
        or_(
            bindparam("longer_than") < _LENGTH,
            and_(channels.c.line.like(f"{DIGEST}%"), _LENGTH > 1),
        ),
    )
    .order_by(channels.c.line)
    .with_for_update(skip_locked=True)
)

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
        rows = self._statements.run(_LONG, {"now": now, "longer_than": longer_than})
        return sum(self._summarize(queue, now, at_most) for queue in rows.scalars().all())

    def _summarize(self, queue: str, now: datetime, at_most: int) -> int:
        """Fold into the first delivery that is certainly not posted: the head, or the next one."""
        can_be_told = _is_untried(now)
        if queue.startswith(DIGEST):
            # What waits for a later digest stays.
            can_be_told &= deliveries.c.due_at <= now
        first_two = self._statements.run(
            select(
                deliveries.c.delivery_id,
                deliveries.c.sequence,
                deliveries.c.summarizes,
                can_be_told.label("can_be_told"),
            )
            .where(unsettled(queue))
            .order_by(deliveries.c.sequence)
            .limit(2)
        )
        summary = next((row for row in first_two.all() if row.can_be_told), None)
        if summary is None:
            return 0
        behind = and_(
            unsettled(queue),
            deliveries.c.sequence > summary.sequence,
            deliveries.c.sequence <= summary.sequence + at_most,
        )
        # One that may have been posted must not be overtaken by what is behind it, and a large
        # summary would be posted anew.
        can_be_told &= deliveries.c.summarizes <= SMALL
        stop = self._statements.run(
            select(func.min(deliveries.c.sequence)).where(behind, not_(can_be_told))
        ).scalar_one()
        if stop is not None:
            behind &= deliveries.c.sequence < stop
        last = self._statements.run(
            select(deliveries.c.delivery_id)
            .where(behind, can_be_told)
            .order_by(deliveries.c.sequence.desc())
            .limit(1)
        ).scalar()
        if last is None:
            return 0
        summarized_by = summary_id(summary.delivery_id, last)
        summarized = self._statements.run(
            update(deliveries)
            .where(behind, can_be_told)
            .values(state=DeliveryState.SUMMARIZED, settled_at=now, summarized_by=summarized_by)
            .returning(deliveries.c.delivery_id, deliveries.c.summarizes)
        ).all()
        for some in slices([row.delivery_id for row in (summary, *summarized) if row.summarizes]):
            # What these were to tell, the summary tells now.
            self._statements.run(
                update(deliveries)
                .where(deliveries.c.summarized_by.in_(some))
                .values(summarized_by=summarized_by)
            )
        self._statements.run(
            update(deliveries)
            .where(deliveries.c.delivery_id == summary.delivery_id)
            .values(
                delivery_id=summarized_by,
                summarizes=deliveries.c.summarizes + sum(1 + row.summarizes for row in summarized),
            )
        )
        return len(summarized)

    def subjects_of(self, delivery_id: str, limit: int) -> Sequence[Subject]:
        """What a delivery tells with those summarized in it, in order, at most `limit`."""
        rows = self._statements.run(
            select(*_SUBJECT)
            .where(_is_summarized_by(delivery_id))
            .order_by(deliveries.c.sequence)
            .limit(limit)
        )
        return [Subject(*row) for row in rows]

    def summary_content(self, delivery_id: str) -> SummaryContent:
        """What a summary has to tell, itself included."""
        told = _is_summarized_by(delivery_id)
        counted = self._statements.run(
            select(
                deliveries.c.repository,
                deliveries.c.kind,
                func.count(),
                func.min(deliveries.c.created_at),
            )
            .where(told)
            .group_by(deliveries.c.repository, deliveries.c.kind)
        ).all()
        latest_failures = self._statements.run(
            select(*_SUBJECT)
            .where(told, deliveries.c.kind == EventKind.FAILURE)
            .order_by(deliveries.c.sequence.desc())
            .limit(FAILURES_TOLD)
        ).all()
        return SummaryContent(
            counts={(repository, kind): count for repository, kind, count, _ in counted},
            oldest_created_at=min(oldest for *_, oldest in counted),
            subjects=[Subject(*row) for row in reversed(latest_failures)],
        )


def _is_untried(now: datetime) -> ColumnElement[bool]:
    """No request for it can have been sent, and none is about to be.

    Of what a dead process had claimed, only the delivery it had come to has a time of attempt.
    """
    is_abandoned = and_(deliveries.c.state == DeliveryState.SENDING, deliveries.c.due_at <= now)
    return and_(
        deliveries.c.attempted_at.is_(None),
        or_(deliveries.c.state == DeliveryState.PENDING, is_abandoned),
    )


def _is_summarized_by(delivery_id: str) -> ColumnElement[bool]:
    return or_(deliveries.c.summarized_by == delivery_id, deliveries.c.delivery_id == delivery_id)
