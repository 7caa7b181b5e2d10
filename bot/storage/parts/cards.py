"""Messages that are posted once and then edited."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Boolean,
    and_,
    bindparam,
    case,
    delete,
    or_,
    select,
    update,
)

from bot.domain.cards import EDITED_FIRST, Card, CardKind, CardName
from bot.domain.deliveries import SubjectKind
from bot.storage.column_types import UtcTime
from bot.storage.statements import PRUNE_SLICE, Prepared, PreparedList, ResultRow, Statements
from bot.storage.tables import TO_EDIT, UNPOSTED, cards, deliveries


class SqlCards:
    """Cards as rows; an index holds only those that are to be edited."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements
        self._added: dict[int, Card] = {}
        """What this transaction added and has not changed since."""

    def add(
        self,
        name: CardName,
        channel_id: str,
        *,
        now: datetime,
        generation: int = 1,
        closed: bool = False,
    ) -> int | None:
        added = self._statements.rows(
            _ADD,
            **_named(name),
            channel_id=channel_id,
            generation=generation,
            now=now,
            closed=closed,
        )
        if not added:
            return None
        card_id: int = added[0].card_id
        self._added[card_id] = _new_card(card_id, name, channel_id, now, generation, closed=closed)
        return card_id

    def touch(self, name: CardName, *, due_at: datetime, closed: bool = False) -> int:
        self._added.clear()
        return self._statements.changed(_TOUCH, **_named(name), at=due_at, close=closed)

    def get(self, card_ids: Collection[int]) -> Mapping[int, Card]:
        wanted = set(card_ids)
        added = {one: self._added[one] for one in wanted if one in self._added}
        rows = self._statements.rows_in(_GET, sorted(wanted - added.keys()))
        return added | {row.card_id: _card(row) for row in rows}

    def of(self, name: CardName) -> Sequence[Card]:
        return [_card(row) for row in self._statements.rows(_OF, **_named(name))]

    def posted(self, card_id: int, message_ts: str, shown: int) -> None:
        self._added.clear()
        self._statements.changed(_POSTED, of_card=card_id, message_ts=message_ts, shown=shown)

    def due(self, now: datetime, limit: int) -> Sequence[Card]:
        return [_card(row) for row in self._statements.rows(_DUE, now=now, most=limit)]

    def showed(self, card_id: int, revision: int) -> None:
        self._added.clear()
        later = case((cards.c.shown > revision, cards.c.shown), else_=revision)
        self._statements.run(
            update(cards).where(cards.c.card_id == card_id).values(shown=later, failures=0)
        )

    def postpone(self, card_id: int, due_at: datetime, failures: int = 0) -> None:
        self._added.clear()
        self._statements.run(
            update(cards).where(cards.c.card_id == card_id).values(due_at=due_at, failures=failures)
        )

    def lose_folded(self, summary: str) -> int:
        self._added.clear()
        is_first_post = and_(
            deliveries.c.subject_kind == SubjectKind.CARD,
            deliveries.c.repository == cards.c.repository,
            deliveries.c.subject_id == cards.c.card_id,
        )
        told = (
            select(cards.c.card_id)
            .join_from(deliveries, cards, is_first_post)
            .where(
                or_(deliveries.c.told_by == summary, deliveries.c.delivery_id == summary), UNPOSTED
            )
            # As those who touch several of them take them, so that nobody waits in a circle.
            .order_by(cards.c.kind, cards.c.repository, cards.c.key)
            .with_for_update(of=cards)
        )
        lost = self._statements.run(
            update(cards).where(cards.c.card_id.in_(told)).values(is_lost=True)
        )
        return lost.rowcount

    def lose(self, card_id: int) -> None:
        self._added.clear()
        self._statements.run(update(cards).where(cards.c.card_id == card_id).values(is_lost=True))

    def delete_before(self, changed_before: datetime) -> int:
        """At most PRUNE_SLICE a call, the oldest first."""
        self._added.clear()
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
        deleted = self._statements.run(delete(cards).where(cards.c.card_id.in_(oldest)))
        return deleted.rowcount


def _named(name: CardName) -> dict[str, Any]:
    return {"of_kind": name.kind, "of_repository": name.repository, "of_key": name.key}


_IS = and_(
    cards.c.kind == bindparam("of_kind"),
    cards.c.repository == bindparam("of_repository"),
    cards.c.key == bindparam("of_key"),
)

_ADD = Prepared(
    lambda insert: (
        insert(cards)
        .values(
            kind=bindparam("of_kind"),
            repository=bindparam("of_repository"),
            key=bindparam("of_key"),
            channel_id=bindparam("channel_id"),
            generation=bindparam("generation"),
            wanted=1,
            shown=0,
            due_at=bindparam("now"),
            failures=0,
            closed=bindparam("closed"),
            is_lost=False,
            created_at=bindparam("now"),
            changed_at=bindparam("now"),
        )
        .on_conflict_do_nothing(
            index_elements=["kind", "repository", "key", "channel_id", "generation"]
        )
        .returning(cards.c.card_id)
    )
)

_AT = bindparam("at", type_=UtcTime())

_TOUCH = Prepared(
    lambda _: (
        update(cards)
        .where(_IS)
        .values(
            wanted=cards.c.wanted + 1,
            due_at=case(
                (and_(cards.c.wanted > cards.c.shown, cards.c.due_at < _AT), cards.c.due_at),
                else_=_AT,
            ),
            closed=or_(cards.c.closed, bindparam("close", type_=Boolean())),
            changed_at=_AT,
        )
    )
)

_GET = PreparedList(
    "card",
    cards.c.card_id.type,
    lambda _, card_ids: select(cards).where(cards.c.card_id.in_(card_ids)),
)

_OF = Prepared(lambda _: select(cards).where(_IS).order_by(cards.c.channel_id, cards.c.generation))

_POSTED = Prepared(
    lambda _: (
        update(cards)
        .where(cards.c.card_id == bindparam("of_card"))
        .values(message_ts=bindparam("message_ts"), shown=bindparam("shown"), failures=0)
    )
)

_DUE = Prepared(
    lambda _: (
        select(cards)
        .where(TO_EDIT, cards.c.due_at <= bindparam("now"))
        .order_by(
            case((or_(*(cards.c.kind == each for each in EDITED_FIRST)), 0), else_=1),
            cards.c.due_at,
            cards.c.card_id,
        )
        .limit(bindparam("most"))
    )
)


def _new_card(
    card_id: int, name: CardName, channel_id: str, now: datetime, generation: int, *, closed: bool
) -> Card:
    """As `_ADD` stores it."""
    return Card(
        card_id,
        name,
        channel_id,
        generation,
        message_ts=None,
        wanted=1,
        shown=0,
        due_at=now,
        failures=0,
        closed=closed,
        is_lost=False,
        created_at=now,
    )


def _card(row: ResultRow) -> Card:
    values = row._asdict()
    del values["changed_at"]
    name = CardName(values.pop("kind"), values.pop("repository"), values.pop("key"))
    return Card(name=name, **values)
