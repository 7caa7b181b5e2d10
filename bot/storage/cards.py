"""Messages that are posted once and then edited."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import (
    ColumnElement,
    RowMapping,
    and_,
    case,
    delete,
    exists,
    literal,
    or_,
    select,
    update,
)
from typing_extensions import override

from bot.domain.cards import Card, CardKind, CardName
from bot.domain.deliveries import DeliveryState, SubjectKind
from bot.ports.kept_true import Cards
from bot.storage.column_types import UtcTime
from bot.storage.events import PRUNE_SLICE
from bot.storage.statements import Statements, slices
from bot.storage.tables import TO_EDIT, UNPOSTED, cards, deliveries


class SqlCards(Cards):
    """Cards as rows; an index holds only those that are to be edited."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    @override
    async def add(
        self,
        name: CardName,
        channel_id: str,
        *,
        now: datetime,
        generation: int = 1,
        closed: bool = False,
    ) -> int | None:
        added = await self._statements.run(
            self._statements.insert(cards)
            .values(
                kind=name.kind,
                repository=name.repository,
                key=name.key,
                channel_id=channel_id,
                generation=generation,
                wanted=1,
                shown=0,
                due_at=now,
                failures=0,
                closed=closed,
                is_lost=False,
                created_at=now,
                changed_at=now,
            )
            .on_conflict_do_nothing(
                index_elements=["kind", "repository", "key", "channel_id", "generation"]
            )
            .returning(cards.c.card_id)
        )
        card_id: int | None = added.scalar_one_or_none()
        return card_id

    @override
    async def touch(self, name: CardName, *, due_at: datetime, closed: bool = False) -> int:
        waits = cards.c.wanted > cards.c.shown
        at = literal(due_at, UtcTime)
        touched = await self._statements.run(
            update(cards)
            .where(_is(name))
            .values(
                wanted=cards.c.wanted + 1,
                due_at=case((and_(waits, cards.c.due_at < at), cards.c.due_at), else_=at),
                closed=or_(cards.c.closed, literal(closed)),
                changed_at=due_at,
            )
        )
        return touched.rowcount

    @override
    async def get(self, card_ids: Collection[int]) -> Mapping[int, Card]:
        found: dict[int, Card] = {}
        for some in slices(sorted(set(card_ids))):
            rows = await self._statements.run(select(cards).where(cards.c.card_id.in_(some)))
            found |= {row["card_id"]: _card(row) for row in rows.mappings()}
        return found

    @override
    async def of(self, name: CardName) -> Sequence[Card]:
        rows = await self._statements.run(
            select(cards).where(_is(name)).order_by(cards.c.channel_id, cards.c.generation)
        )
        return [_card(row) for row in rows.mappings()]

    @override
    async def posted(self, card_id: int, message_ts: str, shown: int) -> None:
        await self._statements.run(
            update(cards)
            .where(cards.c.card_id == card_id)
            .values(message_ts=message_ts, shown=shown, failures=0)
        )

    @override
    async def due(self, now: datetime, limit: int) -> Sequence[Card]:
        rows = await self._statements.run(
            select(cards)
            .where(TO_EDIT, cards.c.due_at <= now)
            .order_by(cards.c.due_at, cards.c.card_id)
            .limit(limit)
        )
        return [_card(row) for row in rows.mappings()]

    @override
    async def showed(self, card_id: int, revision: int) -> None:
        later = case((cards.c.shown > revision, cards.c.shown), else_=revision)
        await self._statements.run(
            update(cards).where(cards.c.card_id == card_id).values(shown=later, failures=0)
        )

    @override
    async def postpone(self, card_id: int, due_at: datetime) -> None:
        await self._statements.run(
            update(cards)
            .where(cards.c.card_id == card_id)
            .values(due_at=due_at, failures=cards.c.failures + 1)
        )

    @override
    async def lose_folded(self) -> int:
        first_post = exists().where(
            deliveries.c.subject_kind == SubjectKind.CARD,
            deliveries.c.repository == cards.c.repository,
            deliveries.c.subject_id == cards.c.card_id,
            or_(deliveries.c.state == DeliveryState.FOLDED, deliveries.c.folded > 0),
        )
        lost = await self._statements.run(
            update(cards).where(UNPOSTED, first_post).values(is_lost=True)
        )
        return lost.rowcount

    @override
    async def lose(self, card_id: int) -> None:
        await self._statements.run(
            update(cards).where(cards.c.card_id == card_id).values(is_lost=True)
        )

    @override
    async def delete_before(self, changed_before: datetime) -> int:
        """At most PRUNE_SLICE a call, the oldest first."""
        oldest = (
            select(cards.c.card_id)
            .where(
                cards.c.changed_at < changed_before,
                # A stay that no event has told of for so long is not told of any more.
                or_(cards.c.closed, cards.c.is_lost, cards.c.kind == CardKind.STAY),
            )
            .order_by(cards.c.changed_at)
            .limit(PRUNE_SLICE)
        )
        deleted = await self._statements.run(delete(cards).where(cards.c.card_id.in_(oldest)))
        return deleted.rowcount


def _is(name: CardName) -> ColumnElement[bool]:
    return and_(
        cards.c.kind == name.kind,
        cards.c.repository == name.repository,
        cards.c.key == name.key,
    )


def _card(row: RowMapping) -> Card:
    values = dict(row)
    del values["changed_at"]
    name = CardName(values.pop("kind"), values.pop("repository"), values.pop("key"))
    return Card(name=name, **values)
