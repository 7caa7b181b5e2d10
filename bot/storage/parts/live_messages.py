"""Messages that are posted once and then edited: cards and boards."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from pydantic import TypeAdapter
from sqlalchemy import ColumnElement, and_, case, func, literal, or_, select, update

from bot.domain.boards import Board, Picture, Sight
from bot.domain.cards import EDITED_FIRST, Card, CardName
from bot.domain.deliveries import SubjectKind
from bot.domain.repository import RepositoryName
from bot.storage.column_types import UtcTime
from bot.storage.statements import Part, ResultRow, as_row, from_row
from bot.storage.tables import (
    KEPT,
    TO_EDIT,
    UNPOSTED,
    board_sights,
    boards,
    cards,
    deliveries,
)

_PICTURES = TypeAdapter(Picture)


class SqlCards(Part):
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
        rows = self._statements.by_keys(select(cards), cards.c.card_id, card_ids)
        return {row.card_id: _card(row) for row in rows}

    def of(self, name: CardName) -> Sequence[Card]:
        rows = self._statements.run(
            select(cards).where(_is_named(name)).order_by(cards.c.channel_id, cards.c.generation)
        )
        return [_card(row) for row in rows]

    def posted(self, card_id: int, message_ts: str, shown: int) -> None:
        self._change(card_id, message_ts=message_ts, shown=shown, failures=0)

    def due(self, now: datetime, limit: int) -> Sequence[Card]:
        rows = self._statements.run(
            select(cards)
            .where(TO_EDIT, cards.c.due_at <= now)
            .order_by(
                case((cards.c.kind.in_(EDITED_FIRST), 0), else_=1),
                cards.c.due_at,
                cards.c.card_id,
            )
            .limit(limit)
        )
        return [_card(row) for row in rows]

    def showed(self, card_id: int, revision: int) -> None:
        later = case((cards.c.shown > revision, cards.c.shown), else_=revision)
        self._change(card_id, shown=later, failures=0)

    def postpone(self, card_id: int, due_at: datetime, failures: int = 0) -> None:
        self._change(card_id, due_at=due_at, failures=failures)

    def lose_folded(self, summary: str) -> int:
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
        self._change(card_id, is_lost=True)

    def _change(self, card_id: int, **values: object) -> None:
        self._statements.run(update(cards).where(cards.c.card_id == card_id).values(**values))


class SqlBoards(Part):
    """One row per board, and one per repository for what its boards say."""

    def add(self, board: Board) -> int | None:
        added = self._statements.run(
            self._statements.insert(boards)
            .values(as_row(boards, board))
            .on_conflict_do_nothing(index_elements=["repository", "channel_id"], index_where=KEPT)
            .returning(boards.c.board_id)
        )
        board_id: int | None = added.scalar_one_or_none()
        return board_id

    def get(self, board_ids: Collection[int]) -> Mapping[int, Board]:
        rows = self._statements.by_keys(select(boards), boards.c.board_id, board_ids)
        return {row.board_id: from_row(Board, row) for row in rows}

    def kept_in(self, channel_id: str, repository: RepositoryName) -> Board | None:
        rows = self._statements.run(
            select(boards).where(
                KEPT, boards.c.repository == repository, boards.c.channel_id == channel_id
            )
        )
        row = rows.one_or_none()
        return from_row(Board, row) if row is not None else None

    def kept(self, repositories: Collection[RepositoryName]) -> Sequence[Board]:
        kept = select(boards).where(KEPT)
        rows = self._statements.by_keys(kept, boards.c.repository, repositories)
        return sorted((from_row(Board, row) for row in rows), key=lambda one: one.board_id)

    def strays(self, repositories: Collection[RepositoryName]) -> Sequence[Board]:
        rows = self._statements.run(select(boards).where(KEPT).order_by(boards.c.board_id))
        kept = [from_row(Board, row) for row in rows]
        return [one for one in kept if one.repository not in repositories]

    def count_kept(self) -> int:
        counted = self._statements.run(select(func.count()).select_from(boards).where(KEPT))
        count: int = counted.scalar_one()
        return count

    def end(self, board_id: int, at: datetime, by: str | None = None) -> bool:
        ended = self._statements.run(
            update(boards)
            .where(KEPT, boards.c.board_id == board_id)
            .values(ended_at=at, ended_by=by)
        )
        return ended.rowcount > 0

    def save_sight(self, sight: Sight) -> None:
        picture = _PICTURES.dump_python(sight.picture, mode="json")
        self._statements.put(board_sights, as_row(board_sights, sight, picture=picture))

    def sights(self, repositories: Collection[RepositoryName]) -> Mapping[RepositoryName, Sight]:
        rows = self._statements.by_keys(
            select(board_sights), board_sights.c.repository, repositories
        )
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
