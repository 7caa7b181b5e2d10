"""Messages that are posted once and then edited; boards are some of them."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from pydantic import TypeAdapter
from sqlalchemy import ColumnElement, and_, bindparam, case, func, literal, or_, select, update

from bot.domain.boards import Board, BoardState, Picture
from bot.domain.deliveries import POSTS_OF_LIVE_MESSAGES
from bot.domain.live_messages import (
    LATEST_EDIT,
    PRIORITIES,
    LiveMessage,
    LiveSubject,
    Priority,
)
from bot.domain.repository import RepositoryName
from bot.store.column_types import UtcTime
from bot.store.statements import Part, ResultRow, as_row, from_row
from bot.store.tables import KEPT, TO_EDIT, UNPOSTED, deliveries, live_messages, repositories

_PICTURES = TypeAdapter(Picture)

_SIGHTS = select(
    repositories.c.repository,
    repositories.c.picture,
    repositories.c.read_at,
    repositories.c.outage,
    repositories.c.out_since,
).where(repositories.c.picture.is_not(None))

_ALL = select(live_messages)
_KEPT_BOARDS = _ALL.where(KEPT)
_DUE = (
    _ALL.where(
        TO_EDIT,
        or_(
            live_messages.c.due_at <= bindparam("now"),
            live_messages.c.due_at > bindparam("latest_due"),
        ),
    )
    .order_by(live_messages.c.priority, live_messages.c.due_at, live_messages.c.message_id)
    .limit(bindparam("at_most"))
)


class LiveMessages(Part):
    """One row per subject and channel; an index holds those that are to be edited."""

    def add(
        self, subject: LiveSubject, channel_id: str, *, now: datetime, closed: bool = False
    ) -> int | None:
        """One with no message yet; its id, or None when there is one already."""
        return self._add(_new_row(subject, channel_id, now) | {"closed": closed})

    def _add(self, row: Mapping[str, object]) -> int | None:
        added = self._statements.run(
            self._statements.insert(live_messages)
            .values(row)
            .on_conflict_do_nothing()
            .returning(live_messages.c.message_id)
        )
        message_id: int | None = added.scalar_one_or_none()
        return message_id

    def mark(
        self,
        subject: LiveSubject,
        *,
        due_at: datetime,
        closed: bool = False,
        priority: Priority | None = None,
        whatever_it_says: bool = False,
    ) -> int:
        """The subject has changed; return how many messages show it.

        They are edited from `due_at` on, or when an edit that waits already is due. `closed`: this
        was the last change. `whatever_it_says`: edited also when they say the same as before.
        """
        columns, urgency = live_messages.c, priority
        if urgency is None:
            urgency = PRIORITIES.get(subject.kind, Priority.REST)
        waits = columns.wanted > columns.shown
        values: dict[str, object] = {
            "wanted": columns.wanted + 1,
            "due_at": case(
                (and_(waits, columns.due_at < due_at), columns.due_at),
                else_=literal(due_at, UtcTime()),
            ),
            "priority": case(
                (and_(waits, columns.priority < urgency), columns.priority), else_=int(urgency)
            ),
            "closed": or_(columns.closed, literal(closed)),
            "changed_at": due_at,
        }
        if whatever_it_says:
            values["digest"] = None
        marked = self._statements.run(update(live_messages).where(_shows(subject)).values(values))
        return marked.rowcount

    def get(self, message_ids: Collection[int]) -> Mapping[int, LiveMessage]:
        rows = self._statements.by_keys(_ALL, live_messages.c.message_id, message_ids)
        return {row.message_id: _live_message(row) for row in rows}

    def of(self, subject: LiveSubject) -> Sequence[LiveMessage]:
        """Those that show it, by channel."""
        rows = self._statements.run(
            _ALL.where(_shows(subject)).order_by(live_messages.c.channel_id)
        )
        return [_live_message(row) for row in rows]

    def due(self, now: datetime, limit: int) -> Sequence[LiveMessage]:
        """Those to edit, by priority, then in the order in which they came due."""
        found = {"now": now, "latest_due": now + LATEST_EDIT, "at_most": limit}
        rows = self._statements.run(_DUE, found)
        return [_live_message(row) for row in rows]

    def posted(
        self, message_id: int, message_ts: str, shown: int, digest: str | None = None
    ) -> None:
        """Its first post is there and shows revision `shown`, 0 when that is not known."""
        self._change(message_id, message_ts=message_ts, shown=shown, digest=digest, failures=0)

    def showed(self, message_id: int, revision: int, digest: str | None = None) -> None:
        """Its message shows that revision and says what the digest is of."""
        is_older = live_messages.c.shown > revision
        self._change(
            message_id,
            shown=case((is_older, live_messages.c.shown), else_=revision),
            digest=case((is_older, live_messages.c.digest), else_=digest),
            failures=0,
        )

    def postpone(self, message_id: int, due_at: datetime, failures: int = 0) -> None:
        """An edit is to be tried again; so many have failed since Slack last answered one."""
        self._change(message_id, due_at=due_at, failures=failures)

    def forget_message(self, message_id: int) -> None:
        """It is posted anew; its new message shows nothing yet."""
        self._change(message_id, message_ts=None, is_second=True, shown=0, digest=None, failures=0)

    def lose(self, message_id: int) -> None:
        """Its message can be edited no more."""
        self._change(message_id, is_lost=True)

    def lose_summarized(self, summary: str) -> int:
        """Those whose posts this delivery tells get no message; how many there were."""
        is_its_post = and_(
            deliveries.c.subject_kind.in_(sorted(POSTS_OF_LIVE_MESSAGES)),
            deliveries.c.repository == live_messages.c.repository,
            deliveries.c.subject_id == live_messages.c.message_id,
        )
        told = (
            select(live_messages.c.message_id)
            .join_from(deliveries, live_messages, is_its_post)
            .where(
                or_(deliveries.c.summarized_by == summary, deliveries.c.delivery_id == summary),
                UNPOSTED,
            )
            # In the order in which others lock several of them, so that nobody waits in a circle.
            .order_by(live_messages.c.kind, live_messages.c.repository, live_messages.c.key)
            .with_for_update(of=live_messages)
        )
        lost = self._statements.run(
            update(live_messages).where(live_messages.c.message_id.in_(told)).values(is_lost=True)
        )
        return lost.rowcount

    def _change(self, message_id: int, **values: object) -> None:
        self._statements.run(
            update(live_messages).where(live_messages.c.message_id == message_id).values(**values)
        )


class Boards(LiveMessages):
    """The live messages that are boards; what they say is in the row of their repository."""

    def put_up(self, board: Board) -> int | None:
        """Store it and return its id, or None when the channel has one that is kept."""
        row = _new_row(board.subject, board.channel_id, board.made_at)
        return self._add(row | {"made_by": board.made_by})

    def shown_by(self, subject: LiveSubject) -> Board | None:
        row = self._statements.run(_ALL.where(_shows(subject))).one_or_none()
        return _board(row) if row is not None else None

    def kept_in(self, channel_id: str, repository: RepositoryName) -> Board | None:
        here = live_messages.c.channel_id == channel_id
        rows = self._statements.run(
            _KEPT_BOARDS.where(here, live_messages.c.repository == repository)
        )
        row = rows.one_or_none()
        return _board(row) if row is not None else None

    def kept(self, names: Collection[RepositoryName]) -> Sequence[Board]:
        """Those of the repositories that are kept, in the order in which they were made."""
        rows = self._statements.by_keys(_KEPT_BOARDS, live_messages.c.repository, names)
        return sorted(map(_board, rows), key=lambda one: one.board_id)

    def strays(self, names: Collection[RepositoryName]) -> Sequence[Board]:
        """Those that are kept of any other repository, in the order in which they were made."""
        rows = self._statements.run(_KEPT_BOARDS.order_by(live_messages.c.message_id))
        return [one for one in map(_board, rows) if one.repository not in names]

    def count_kept(self) -> int:
        """How many are kept in all."""
        counted = self._statements.run(select(func.count()).select_from(live_messages).where(KEPT))
        count: int = counted.scalar_one()
        return count

    def end(self, board_id: int, at: datetime, by: str | None = None) -> bool:
        """Whether it was kept until now."""
        ended = self._statements.run(
            update(live_messages)
            .where(KEPT, live_messages.c.message_id == board_id)
            .values(ended_at=at, ended_by=by)
        )
        return ended.rowcount > 0

    def save_state(self, state: BoardState) -> None:
        """Instead of the one there was of that repository."""
        picture = _PICTURES.dump_python(state.picture, mode="json")
        self._statements.put(repositories, as_row(repositories, state, picture=picture))

    def states(self, names: Collection[RepositoryName]) -> Mapping[RepositoryName, BoardState]:
        """What boards of these say; repositories that never had one are left out."""
        rows = self._statements.by_keys(_SIGHTS, repositories.c.repository, names)
        return {
            row.repository: from_row(
                BoardState, row, picture=_PICTURES.validate_python(row.picture)
            )
            for row in rows
        }


def _new_row(subject: LiveSubject, channel_id: str, now: datetime) -> dict[str, object]:
    return {
        "kind": subject.kind,
        "repository": subject.repository,
        "key": subject.key,
        "channel_id": channel_id,
        "is_second": False,
        "wanted": 1,
        "shown": 0,
        "priority": int(PRIORITIES.get(subject.kind, Priority.REST)),
        "due_at": now,
        "failures": 0,
        "closed": False,
        "is_lost": False,
        "created_at": now,
        "changed_at": now,
    }


def _shows(subject: LiveSubject) -> ColumnElement[bool]:
    return and_(
        live_messages.c.kind == subject.kind,
        live_messages.c.repository == subject.repository,
        live_messages.c.key == subject.key,
    )


def _live_message(row: ResultRow) -> LiveMessage:
    return from_row(LiveMessage, row, subject=from_row(LiveSubject, row))


def _board(row: ResultRow) -> Board:
    return from_row(Board, row, board_id=row.message_id, made_at=row.created_at)
