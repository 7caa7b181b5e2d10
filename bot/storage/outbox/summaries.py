"""Backlogs folded into summaries: one delivery that tells many."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, FromClause, ScalarSelect, and_, func, or_, select, update

from bot.domain.classification import EventKind
from bot.domain.deliveries import NOT_HEARD, Delivery, DeliveryState, Subject
from bot.domain.repository import RepositoryName
from bot.ports import Folded
from bot.storage.outbox.added_rows import AddedRow
from bot.storage.outbox.delivery_rows import FIELDS, delivery_of, line_of, lines_of
from bot.storage.outbox.destinations import DIGEST, Destinations
from bot.storage.statements import ResultRow, Statements, slices
from bot.storage.tables import deliveries

FAILURES_TOLD = 10
SMALL = 50
"""A delivery that tells no more than these, as of a batch, may be folded into a summary."""


class Summaries:
    """The part of the outbox that keeps a channel from falling behind."""

    def __init__(self, statements: Statements, destinations: Destinations) -> None:
        self._statements = statements
        self._destinations = destinations

    def fold(self, *, now: datetime, longer_than: int, at_most: int) -> int:
        folded = 0
        for line, head in self._destinations.lock_longer(now, longer_than):
            folded += self._fold(line, head, now, at_most)
        for line, head in self._destinations.lock_digests(now):
            folded += self._fold(line, head, now, at_most, only_due=True)
        return folded

    def bring_forward(self, rows: Sequence[AddedRow]) -> None:
        """What waits for a later digest of the channel is told by a sooner one added behind it.

        Else it would keep that one waiting: a line is told in order.
        """
        firsts = {row.line: row for row in reversed(rows) if row.new.digest_at is not None}
        for line, first in firsts.items():
            self._change_waiting(
                line,
                deliveries.c.sequence < first.sequence,
                deliveries.c.due_at > first.due_at,
                due_at=first.due_at,
            )

    def drop_unheard(self, channel_id: str, repository: RepositoryName, now: datetime) -> None:
        for line, one in (self._destinations.lock(lines_of(channel_id))).items():
            if one.parked_at is None and not line.startswith(DIGEST):
                continue
            self._change_waiting(
                line,
                deliveries.c.repository == repository,
                deliveries.c.attempted_at.is_(None),
                state=DeliveryState.FAILED,
                error=NOT_HEARD,
                settled_at=now,
            )

    def move_digest(
        self, channel_id: str, repository: RepositoryName, to: datetime, now: datetime
    ) -> None:
        line = line_of(channel_id, urgent=False, digest=True)
        if not self._destinations.lock([line]):
            return
        if not self._change_waiting(
            line, deliveries.c.repository == repository, deliveries.c.due_at > now, due_at=to
        ):
            # Of most of those that are subscribed together nothing waits.
            return
        times = self._statements.run(
            select(deliveries.c.due_at, func.max(deliveries.c.sequence))
            .where(deliveries.c.line == line, deliveries.c.settled_at.is_(None))
            .group_by(deliveries.c.due_at)
        )
        for due_at, last in times.all():
            # As in `bring_forward`: a line is told in order.
            self._change_waiting(
                line,
                deliveries.c.sequence < last,
                deliveries.c.due_at > due_at,
                due_at=due_at,
            )

    def _change_waiting(self, line: str, *which: ColumnElement[bool], **values: object) -> bool:
        """Whether anything was."""
        changed = self._statements.run(
            update(deliveries)
            .where(
                deliveries.c.line == line,
                deliveries.c.settled_at.is_(None),
                deliveries.c.state == DeliveryState.PENDING,
                *which,
            )
            .values(values)
        )
        if changed.rowcount:
            self._destinations.find_heads([line])
        return bool(changed.rowcount)

    def _fold(
        self, line: str, head: int, now: datetime, at_most: int, *, only_due: bool = False
    ) -> int:
        """Fold into the first delivery that is certainly not posted: the head, or the next.

        `only_due`: what waits for a later digest is left.
        """
        summary = self._first_untried(line, head, now, only_due=only_due)
        if summary is None:
            return 0
        last = summary.sequence + at_most
        behind = self._statements.run(
            update(deliveries)
            .where(
                deliveries.c.line == line,
                deliveries.c.sequence > summary.sequence,
                deliveries.c.sequence <= last,
                deliveries.c.sequence < _end_of_run(line, summary, last, now, only_due=only_due),
                deliveries.c.settled_at.is_(None),
            )
            .values(state=DeliveryState.FOLDED, settled_at=now, told_by=summary.delivery_id)
            .returning(deliveries.c.delivery_id, deliveries.c.folded)
        )
        taken = behind.all()
        told = len(taken) + self._take_over(summary.delivery_id, taken)
        self._statements.run(
            update(deliveries)
            .where(deliveries.c.delivery_id == summary.delivery_id)
            .values(folded=deliveries.c.folded + told)
        )
        return len(taken)

    def _first_untried(
        self, line: str, head: int, now: datetime, *, only_due: bool
    ) -> Delivery | None:
        rows = self._statements.run(
            select(*FIELDS)
            .where(
                deliveries.c.line == line,
                deliveries.c.sequence >= head,
                deliveries.c.settled_at.is_(None),
            )
            .order_by(deliveries.c.sequence)
            .limit(2)
        )
        untried = (
            each
            for each in map(delivery_of, rows)
            if each.is_untried(now) and (each.due_at <= now or not only_due)
        )
        return next(untried, None)

    def _take_over(self, summary: str, taken: Sequence[ResultRow]) -> int:
        """What the small ones among `taken` were to tell is told by the summary; how many."""
        heads = [row.delivery_id for row in taken if row.folded]
        for some in slices(heads):
            self._statements.run(
                update(deliveries).where(deliveries.c.told_by.in_(some)).values(told_by=summary)
            )
        return sum(row.folded for row in taken)

    def told_with(self, delivery_id: str, limit: int) -> Sequence[Subject]:
        rows = self._statements.run(
            select(deliveries.c.subject_kind, deliveries.c.repository, deliveries.c.subject_id)
            .where(_told(delivery_id))
            .order_by(deliveries.c.sequence)
            .limit(limit)
        )
        return [Subject(*row) for row in rows]

    def folded_into(self, delivery_id: str) -> Folded:
        told = _told(delivery_id)
        counted = self._statements.run(
            select(
                deliveries.c.repository,
                deliveries.c.kind,
                func.count(),
                func.min(deliveries.c.created_at),
            )
            .where(told)
            .group_by(deliveries.c.repository, deliveries.c.kind)
        )
        rows = counted.all()
        latest = self._statements.run(
            select(deliveries.c.subject_kind, deliveries.c.repository, deliveries.c.subject_id)
            .where(told, deliveries.c.kind == EventKind.FAILURE)
            .order_by(deliveries.c.sequence.desc())
            .limit(FAILURES_TOLD)
        )
        return Folded(
            counts={(repository, kind): count for repository, kind, count, _ in rows},
            oldest_created_at=min(oldest for *_, oldest in rows),
            subjects=[Subject(*one) for one in reversed(latest.all())],
        )


def _told(delivery_id: str) -> ColumnElement[bool]:
    return or_(deliveries.c.told_by == delivery_id, deliveries.c.delivery_id == delivery_id)


def _end_of_run(
    line: str, summary: Delivery, last: int, now: datetime, *, only_due: bool
) -> ScalarSelect[int]:
    """The number where the unbroken run behind the summary ends, or the one after `last`.

    One that may have been posted already must not be overtaken by what comes after it, and a
    summary of many would be written anew.
    """
    tried = deliveries.alias("tried")
    return (
        select(func.coalesce(func.min(tried.c.sequence), last + 1))
        .where(
            tried.c.line == line,
            tried.c.sequence > summary.sequence,
            tried.c.settled_at.is_(None),
            ~and_(
                _is_untried(tried, now),
                tried.c.folded <= SMALL,
                *([tried.c.due_at <= now] if only_due else []),
            ),
        )
        .scalar_subquery()
    )


def _is_untried(table: FromClause, now: datetime) -> ColumnElement[bool]:
    """As `Delivery.is_untried`."""
    abandoned = and_(table.c.state == DeliveryState.SENDING, table.c.due_at <= now)
    return and_(
        table.c.attempted_at.is_(None), or_(table.c.state == DeliveryState.PENDING, abandoned)
    )
