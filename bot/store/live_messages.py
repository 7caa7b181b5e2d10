"""Messages that are posted once and then edited; boards are some of them."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import (
    BigInteger,
    Boolean,
    Index,
    Table,
    Text,
    UniqueConstraint,
    and_,
    bindparam,
    case,
    func,
    literal,
    or_,
    select,
    text,
    update,
)

from bot.domain.boards import Board, BoardState
from bot.domain.deliveries import POSTS_OF_LIVE_MESSAGES
from bot.domain.live_messages import (
    LATEST_EDIT,
    PRIORITIES,
    LiveKind,
    LiveMessage,
    LiveSubject,
    Priority,
)
from bot.domain.repository import RepositoryName
from bot.store.channel_queues import deliveries
from bot.store.column_types import AsText, OutsideText, Repository, UtcTime
from bot.store.repositories import repositories
from bot.store.schema import metadata, optional, partial_index, required, row_number
from bot.store.statements import Condition, Part, ResultRow, Rows, as_row, columns_of, from_row

live_messages = Table(
    "live_messages",
    metadata,
    row_number("message_id"),
    *required(AsText(LiveKind), "kind"),
    *required(Repository, "repository"),
    *required(Text, "key", "channel_id"),
    *required(Boolean, "is_second", "closed", "is_lost"),
    *required(BigInteger, "wanted", "shown", "priority", "failures"),
    *optional(Text, "digest"),
    *required(UtcTime, "due_at", "created_at", "changed_at"),
    *optional(OutsideText, "message_ts", "made_by", "ended_by"),
    *optional(UtcTime, "ended_at"),
    UniqueConstraint("kind", "repository", "key", "channel_id", name="uq_live_messages_subject"),
    Index(None, "changed_at"),
    sqlite_autoincrement=True,
    comment="One message that is edited as what it shows changes: a pause, a thread, a board.",
)
"""`made_by`, `ended_by` and `ended_at` belong to a board, which is open until it ends."""

_WAITS = live_messages.c.wanted > live_messages.c.shown
_TO_EDIT = live_messages.c.message_ts.is_not(None) & ~live_messages.c.is_lost & _WAITS
_UNPOSTED = live_messages.c.message_ts.is_(None) & ~live_messages.c.is_lost
_KEPT = text("kind = 'board' AND ended_at IS NULL")
_ID = live_messages.c.message_id
# Built once, because building a statement takes longer than running it.
_ALL = select(live_messages)
_DUE = (
    _ALL.where(
        _TO_EDIT,
        or_(
            live_messages.c.due_at <= bindparam("now"),
            live_messages.c.due_at > bindparam("latest"),
        ),
    )
    .order_by(live_messages.c.priority, live_messages.c.due_at, _ID)
    .limit(bindparam("limit"))
)
_SET_POSTED = update(live_messages).where(live_messages.c.message_id == bindparam("posted_id"))
"""Sets the columns given as parameters."""
partial_index(live_messages.c.priority, live_messages.c.due_at, where=_TO_EDIT)
partial_index(live_messages.c.repository, live_messages.c.channel_id, unique=True, where=_KEPT)
"""The repository comes first, because boards are read by repository."""


class LiveMessages(Part):
    """Messages by subject and channel; an index holds those to edit."""

    def add(
        self,
        subject: LiveSubject,
        channel_id: str,
        *,
        now: datetime,
        closed: bool = False,
        made_by: str | None = None,
    ) -> int | None:
        """Add one that isn't posted yet; return its id, or None if it exists."""
        row = {
            "channel_id": channel_id,
            "is_second": False,
            "wanted": 1,
            "shown": 0,
            "priority": _priority(subject),
            "due_at": now,
            "failures": 0,
            "closed": closed,
            "is_lost": False,
            "created_at": now,
            "changed_at": now,
            "made_by": made_by,
        }
        added = self._add_new(live_messages, as_row(live_messages, subject) | row)
        return None if added is None else added.message_id

    def mark(
        self,
        subject: LiveSubject,
        *,
        due_at: datetime,
        closed: bool = False,
        priority: Priority | None = None,
        force: bool = False,
    ) -> int:
        """Mark messages for an edit after a change of the subject; return how many show it.

        They are edited from `due_at` on, or when a waiting edit is due.
        `closed`: this was the last change.
        `force`: edit them even if they would look the same.
        """
        columns = live_messages.c
        urgency = _priority(subject) if priority is None else int(priority)
        is_sooner, is_more_urgent = columns.due_at < due_at, columns.priority < urgency
        return self._change(
            live_messages,
            _shows(subject),
            wanted=columns.wanted + 1,
            due_at=case(
                (and_(_WAITS, is_sooner), columns.due_at), else_=literal(due_at, UtcTime())
            ),
            priority=case((and_(_WAITS, is_more_urgent), columns.priority), else_=urgency),
            closed=or_(columns.closed, literal(closed)),
            changed_at=due_at,
            digest=None if force else columns.digest,
        )

    def move(self, message_ids: Collection[int], to: LiveSubject) -> None:
        """Make the messages show another subject of the same kind, from its next change on."""
        self._change(live_messages, _ID.in_(sorted(message_ids)), key=to.key, closed=False)

    def get(self, message_ids: Collection[int]) -> Mapping[int, LiveMessage]:
        rows = self._by_keys(_ALL, _ID, message_ids)
        return {row.message_id: _live_message(row) for row in rows}

    def of(self, subject: LiveSubject) -> Sequence[LiveMessage]:
        """The messages that show a subject, by channel."""
        shown = select(live_messages).where(_shows(subject)).order_by(live_messages.c.channel_id)
        return [_live_message(row) for row in self._run(shown)]

    def due(self, now: datetime, limit: int) -> Sequence[LiveMessage]:
        """The messages to edit, by priority and due time."""
        times = {"now": now, "latest": now + LATEST_EDIT}
        return [_live_message(row) for row in self._run(_DUE, {**times, "limit": limit})]

    def posted(
        self, message_id: int, message_ts: str, shown: int, digest: str | None = None
    ) -> None:
        """Store the first post, which shows revision `shown`, or 0 if unknown."""
        values = {"message_ts": message_ts, "shown": shown, "digest": digest, "failures": 0}
        self._run(_SET_POSTED, {"posted_id": message_id, **values})

    def showed(self, message_id: int, revision: int, digest: str | None = None) -> None:
        """Store that the message shows this revision, and its digest."""
        is_older = live_messages.c.shown > revision
        self._set(
            message_id,
            shown=case((is_older, live_messages.c.shown), else_=revision),
            digest=case((is_older, live_messages.c.digest), else_=digest),
            failures=0,
        )

    def postpone(self, message_id: int, due_at: datetime, failures: int = 0) -> None:
        """Retry an edit later; `failures` counts those since Slack last accepted one."""
        self._set(message_id, due_at=due_at, failures=failures)

    def forget_message(self, message_id: int) -> None:
        """Forget its message, because it is posted again."""
        self._set(message_id, message_ts=None, is_second=True, shown=0, digest=None, failures=0)

    def lose(self, message_id: int) -> None:
        """Store that its message can't be edited any more."""
        self._set(message_id, is_lost=True)

    def lose_summarized(self, summary: str) -> int:
        """Drop the messages whose posts this summary covers; return how many there were."""
        is_its_post = and_(
            deliveries.c.subject_kind.in_(sorted(POSTS_OF_LIVE_MESSAGES)),
            deliveries.c.repository == live_messages.c.repository,
            deliveries.c.subject_id == _ID,
        )
        is_covered = or_(deliveries.c.summarized_by == summary, deliveries.c.delivery_id == summary)
        covered = (
            select(_ID)
            .join_from(deliveries, live_messages, is_its_post)
            .where(is_covered, _UNPOSTED)
            # In the usual order, to avoid deadlocks.
            .order_by(live_messages.c.kind, live_messages.c.repository, live_messages.c.key)
            .with_for_update(of=live_messages)
        )
        return self._change(live_messages, _ID.in_(covered), is_lost=True)

    def _set(self, message_id: int, **values: object) -> None:
        self._change(live_messages, live_messages.c.message_id == message_id, **values)


class Boards(LiveMessages):
    """Boards; their content is in the row of their repository."""

    def put_up(self, board: Board) -> int | None:
        """Store a board and return its id; None if the channel has one."""
        return self.add(board.subject, board.channel_id, now=board.made_at, made_by=board.made_by)

    def shown_by(self, subject: LiveSubject) -> Board | None:
        return next(iter(self._boards(select(live_messages).where(_shows(subject)))), None)

    def kept_in(self, channel_id: str, repository: RepositoryName) -> Board | None:
        return next((one for one in self.kept([repository]) if one.channel_id == channel_id), None)

    def kept(self, names: Collection[RepositoryName]) -> Sequence[Board]:
        """The open boards of the repositories, oldest first."""
        kept = select(live_messages).where(_KEPT)
        boards = map(_board, self._by_keys(kept, live_messages.c.repository, names))
        return sorted(boards, key=lambda one: one.board_id)

    def unmanaged(self, names: Collection[RepositoryName]) -> Sequence[Board]:
        """The open boards of other repositories, oldest first."""
        kept = self._boards(select(live_messages).where(_KEPT).order_by(_ID))
        return [one for one in kept if one.repository not in names]

    def count_open(self) -> int:
        """The number of open boards."""
        count: int = self._run(select(func.count(_ID)).where(_KEPT)).scalar_one()
        return count

    def end(self, board_id: int, at: datetime, by: str | None = None) -> bool:
        """End a board; False if it had ended already."""
        is_open = live_messages.c.kind == LiveKind.BOARD, live_messages.c.ended_at.is_(None)
        this = live_messages.c.message_id == board_id
        return self._change(live_messages, this, *is_open, ended_at=at, ended_by=by) > 0

    def save_state(self, state: BoardState) -> None:
        """Set or replace the repository's state."""
        self._put(repositories, as_row(repositories, state))

    def states(self, names: Collection[RepositoryName]) -> Mapping[RepositoryName, BoardState]:
        """The state on the boards of these repositories, if they have one."""
        shown = select(*columns_of(repositories, BoardState)).where(
            repositories.c.picture.is_not(None)
        )
        return self._get(BoardState, shown, repositories.c.repository, names)

    def _boards(self, rows: Rows) -> list[Board]:
        return [_board(row) for row in self._run(rows)]


def _priority(subject: LiveSubject) -> int:
    return int(PRIORITIES.get(subject.kind, Priority.REST))


def _shows(subject: LiveSubject) -> Condition:
    return and_(
        live_messages.c.kind == subject.kind,
        live_messages.c.repository == subject.repository,
        live_messages.c.key == subject.key,
    )


def _live_message(row: ResultRow) -> LiveMessage:
    return from_row(LiveMessage, row, subject=from_row(LiveSubject, row))


def _board(row: ResultRow) -> Board:
    return from_row(Board, row, board_id=row.message_id, made_at=row.created_at)
