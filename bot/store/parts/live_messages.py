"""Messages that are posted once and then edited: cards and boards."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from pydantic import TypeAdapter
from sqlalchemy import ColumnElement, and_, bindparam, case, func, literal, or_, select, update

from bot.domain.boards import Board, Picture, Sight
from bot.domain.cards import EDITED_FIRST, Card, CardName
from bot.domain.deliveries import SubjectKind
from bot.domain.repository import RepositoryName
from bot.store.column_types import UtcTime
from bot.store.statements import Part, ResultRow, as_row, from_row
from bot.store.tables import (
    KEPT,
    TO_EDIT,
    UNPOSTED,
    boards,
    cards,
    deliveries,
    repositories,
)

_PICTURES = TypeAdapter(Picture)

_SIGHTS = select(
    repositories.c.repository,
    repositories.c.picture,
    repositories.c.read_at,
    repositories.c.outage,
    repositories.c.out_since,
).where(repositories.c.picture.is_not(None))

_BOARDS = select(boards)
_KEPT_BOARDS = _BOARDS.where(KEPT)

_CARDS = select(cards)
_DUE = (
    _CARDS.where(TO_EDIT, cards.c.due_at <= bindparam("now"))
    .order_by(case((cards.c.kind.in_(EDITED_FIRST), 0), else_=1), cards.c.due_at, cards.c.card_id)
    .limit(bindparam("at_most"))
)


class Cards(Part):
    """One row per card; an index holds those that are to be edited."""

    def add(
        self,
        name: CardName,
        channel_id: str,
        *,
        now: datetime,
        generation: int = 1,
        closed: bool = False,
    ) -> int | None:
        """A card with no message yet; its id, or None when there is one already."""
        added = self._statements.run(
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

    def touch(self, name: CardName, *, due_at: datetime, closed: bool = False) -> int:
        """What the cards of that name say has changed; return how many there are.

        They are edited from `due_at` on, or when an edit that waits already is due. `closed`
        says that this was the last change.
        """
        is_due_before = and_(cards.c.wanted > cards.c.shown, cards.c.due_at < due_at)
        touched = self._statements.run(
            update(cards)
            .where(_is_named(name))
            .values(
                wanted=cards.c.wanted + 1,
                due_at=case((is_due_before, cards.c.due_at), else_=literal(due_at, UtcTime())),
                closed=or_(cards.c.closed, literal(closed)),
                changed_at=due_at,
            )
        )
        return touched.rowcount

    def get(self, card_ids: Collection[int]) -> Mapping[int, Card]:
        rows = self._statements.by_keys(_CARDS, cards.c.card_id, card_ids)
        return {row.card_id: _card(row) for row in rows}

    def of(self, name: CardName) -> Sequence[Card]:
        """All generations in all channels."""
        rows = self._statements.run(
            select(cards).where(_is_named(name)).order_by(cards.c.channel_id, cards.c.generation)
        )
        return [_card(row) for row in rows]

    def posted(self, card_id: int, message_ts: str, shown: int) -> None:
        """Its first post is there and says revision `shown`, 0 when that is not known."""
        self._change(card_id, message_ts=message_ts, shown=shown, failures=0)

    def due(self, now: datetime, limit: int) -> Sequence[Card]:
        """Those to edit: cards of pauses first, then in the order in which they came due."""
        rows = self._statements.run(_DUE, {"now": now, "at_most": limit})
        return [_card(row) for row in rows]

    def showed(self, card_id: int, revision: int) -> None:
        """Its message was edited and says that revision."""
        later = case((cards.c.shown > revision, cards.c.shown), else_=revision)
        self._change(card_id, shown=later, failures=0)

    def postpone(self, card_id: int, due_at: datetime, failures: int = 0) -> None:
        """An edit is to be tried again; so many have failed since Slack last answered one."""
        self._change(card_id, due_at=due_at, failures=failures)

    def lose_folded(self, summary: str) -> int:
        """Those whose first posts this delivery tells get no message; how many there were."""
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
            # In the order in which others lock several of them, so that nobody waits in a circle.
            .order_by(cards.c.kind, cards.c.repository, cards.c.key)
            .with_for_update(of=cards)
        )
        lost = self._statements.run(
            update(cards).where(cards.c.card_id.in_(told)).values(is_lost=True)
        )
        return lost.rowcount

    def lose(self, card_id: int) -> None:
        """Its message can be edited no more."""
        self._change(card_id, is_lost=True)

    def _change(self, card_id: int, **values: object) -> None:
        self._statements.run(update(cards).where(cards.c.card_id == card_id).values(**values))


class Boards(Part):
    """One row per board; what they say is in the row of their repository."""

    def add(self, board: Board) -> int | None:
        """Store it and return its id, or None when the channel has one that is kept."""
        added = self._statements.run(
            self._statements.insert(boards)
            .values(as_row(boards, board))
            .on_conflict_do_nothing(index_elements=["repository", "channel_id"], index_where=KEPT)
            .returning(boards.c.board_id)
        )
        board_id: int | None = added.scalar_one_or_none()
        return board_id

    def get(self, board_ids: Collection[int]) -> Mapping[int, Board]:
        rows = self._statements.by_keys(_BOARDS, boards.c.board_id, board_ids)
        return {row.board_id: from_row(Board, row) for row in rows}

    def kept_in(self, channel_id: str, repository: RepositoryName) -> Board | None:
        rows = self._statements.run(
            select(boards).where(
                KEPT, boards.c.repository == repository, boards.c.channel_id == channel_id
            )
        )
        row = rows.one_or_none()
        return from_row(Board, row) if row is not None else None

    def kept(self, names: Collection[RepositoryName]) -> Sequence[Board]:
        """Those of the repositories that are kept, in the order in which they were made."""
        rows = self._statements.by_keys(_KEPT_BOARDS, boards.c.repository, names)
        return sorted((from_row(Board, row) for row in rows), key=lambda one: one.board_id)

    def strays(self, names: Collection[RepositoryName]) -> Sequence[Board]:
        """Those that are kept of any other repository, in the order in which they were made."""
        rows = self._statements.run(select(boards).where(KEPT).order_by(boards.c.board_id))
        kept = [from_row(Board, row) for row in rows]
        return [one for one in kept if one.repository not in names]

    def count_kept(self) -> int:
        """How many are kept in all."""
        counted = self._statements.run(select(func.count()).select_from(boards).where(KEPT))
        count: int = counted.scalar_one()
        return count

    def end(self, board_id: int, at: datetime, by: str | None = None) -> bool:
        """Whether it was kept until now."""
        ended = self._statements.run(
            update(boards)
            .where(KEPT, boards.c.board_id == board_id)
            .values(ended_at=at, ended_by=by)
        )
        return ended.rowcount > 0

    def save_sight(self, sight: Sight) -> None:
        """Instead of the one there was of that repository."""
        picture = _PICTURES.dump_python(sight.picture, mode="json")
        self._statements.put(repositories, as_row(repositories, sight, picture=picture))

    def sights(self, names: Collection[RepositoryName]) -> Mapping[RepositoryName, Sight]:
        """What boards of these say; repositories that never had one are left out."""
        rows = self._statements.by_keys(_SIGHTS, repositories.c.repository, names)
        return {
            row.repository: from_row(Sight, row, picture=_PICTURES.validate_python(row.picture))
            for row in rows
        }


def _is_named(name: CardName) -> ColumnElement[bool]:
    return and_(
        cards.c.kind == name.kind, cards.c.repository == name.repository, cards.c.key == name.key
    )


def _card(row: ResultRow) -> Card:
    return from_row(Card, row, name=from_row(CardName, row))
