"""Messages that are posted once and then edited, and the subjects of those with threads."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Generic, TypeVar

from sqlalchemy import Connection, and_, bindparam, case, func, literal, or_, select, update

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
from bot.domain.threads import Bisection, QueueEntry
from bot.store.channel_queues import is_covered_by
from bot.store.schema import UtcTime
from bot.store.statements import Condition, Part, ResultRow, as_row, columns_of, from_row
from bot.store.tables import (
    OPEN_BOARD,
    TO_EDIT,
    WAITS,
    deliveries,
    live_messages,
    repositories,
    threads,
)

_COLUMNS = live_messages.c
_UNPOSTED = _COLUMNS.message_ts.is_(None) & ~_COLUMNS.is_lost

# Built once, because building a statement takes several times as long as running it.
_ALL = select(live_messages)
_DUE = (
    _ALL.where(
        TO_EDIT,
        or_(_COLUMNS.due_at <= bindparam("now"), _COLUMNS.due_at > bindparam("latest")),
    )
    .order_by(_COLUMNS.priority, _COLUMNS.due_at, _COLUMNS.message_id)
    .limit(bindparam("limit"))
)
_SHOWN = _ALL.where(
    _COLUMNS.kind == bindparam("kind"), _COLUMNS.repository == bindparam("repository")
).order_by(_COLUMNS.channel_id)
_SET_POSTED = update(live_messages).where(_COLUMNS.message_id == bindparam("posted_id"))
"""Sets the columns given as parameters."""
_OF_KIND = select(threads).where(
    threads.c.kind == bindparam("kind"), threads.c.repository == bindparam("repository")
)
_ONE = _OF_KIND.where(threads.c.key == bindparam("key"))
_RECENT = _OF_KIND.where(threads.c.last_at >= bindparam("since"))
_LASTING = _RECENT.where(threads.c.ended_at.is_(None)).order_by(threads.c.began_at, threads.c.key)
_OPEN_BOARDS = select(live_messages).where(OPEN_BOARD).order_by(_COLUMNS.message_id)

_Thread = TypeVar("_Thread", QueueEntry, Bisection)


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
        row = as_row(
            live_messages,
            subject,
            channel_id=channel_id,
            priority=_priority(subject),
            due_at=now,
            closed=closed,
            created_at=now,
            changed_at=now,
            made_by=made_by,
        )
        return next(iter(self._add_new(live_messages, row)), None)

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
        urgency = _priority(subject) if priority is None else int(priority)
        is_sooner, is_more_urgent = _COLUMNS.due_at < due_at, _COLUMNS.priority < urgency
        return self._change(
            live_messages,
            _shows(subject),
            wanted=_COLUMNS.wanted + 1,
            due_at=case((WAITS & is_sooner, _COLUMNS.due_at), else_=literal(due_at, UtcTime)),
            priority=case((WAITS & is_more_urgent, _COLUMNS.priority), else_=urgency),
            closed=or_(_COLUMNS.closed, literal(closed)),
            changed_at=due_at,
            digest=None if force else _COLUMNS.digest,
        )

    def move(self, message_ids: Collection[int], to: LiveSubject) -> None:
        """Make the messages show another subject of the same kind, from its next change on."""
        these = _COLUMNS.message_id.in_(sorted(message_ids))
        self._change(live_messages, these, key=to.key, closed=False)

    def get(self, message_ids: Collection[int]) -> Mapping[int, LiveMessage]:
        rows = self._by_keys(_ALL, _COLUMNS.message_id, message_ids)
        return {row.message_id: _live_message(row) for row in rows}

    def of(self, subject: LiveSubject) -> Sequence[LiveMessage]:
        """The messages that show a subject, by channel."""
        return self.of_all(subject.kind, subject.repository, [subject.key])

    def of_all(
        self, kind: LiveKind, repository: RepositoryName, keys: Collection[str]
    ) -> Sequence[LiveMessage]:
        rows = self._by_keys(_SHOWN, _COLUMNS.key, keys, kind=kind, repository=repository)
        return [_live_message(row) for row in rows]

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
        is_older = _COLUMNS.shown > revision
        self._set(
            message_id,
            shown=case((is_older, _COLUMNS.shown), else_=revision),
            digest=case((is_older, _COLUMNS.digest), else_=digest),
            failures=0,
        )

    def postpone(self, message_id: int, due_at: datetime, failures: int = 0) -> None:
        """Retry an edit later; `failures` counts those since Slack last accepted one."""
        self._set(message_id, due_at=due_at, failures=failures)

    def forget_message(self, message_id: int) -> None:
        self._set(message_id, message_ts=None, is_second=True, shown=0, digest=None, failures=0)

    def lose(self, message_id: int) -> None:
        self._set(message_id, is_lost=True)

    def lose_summarized(self, summary: str) -> int:
        """Drop the messages whose posts this summary covers; return how many there were."""
        is_its_post = and_(
            deliveries.c.subject_kind.in_(sorted(POSTS_OF_LIVE_MESSAGES)),
            deliveries.c.repository == _COLUMNS.repository,
            deliveries.c.subject_id == _COLUMNS.message_id,
        )
        covered = (
            select(_COLUMNS.message_id)
            .join_from(deliveries, live_messages, is_its_post)
            .where(is_covered_by(summary), _UNPOSTED)
            # In the usual order, to avoid deadlocks.
            .order_by(_COLUMNS.kind, _COLUMNS.repository, _COLUMNS.key)
            .with_for_update(of=live_messages)
        )
        return self._change(live_messages, _COLUMNS.message_id.in_(covered), is_lost=True)

    def _set(self, message_id: int, **values: object) -> None:
        self._change(live_messages, _COLUMNS.message_id == message_id, **values)


class Boards(LiveMessages):
    """Boards; their content is in the row of their repository."""

    def put_up(self, board: Board) -> int | None:
        """Store a board and return its id; None if the channel has one."""
        return self.add(board.subject, board.channel_id, now=board.made_at, made_by=board.made_by)

    def shown_by(self, subject: LiveSubject) -> Board | None:
        shown = select(live_messages).where(_shows(subject))
        return next(map(_board, self._run(shown)), None)

    def kept_in(self, channel_id: str, repository: RepositoryName) -> Board | None:
        return next((one for one in self.kept([repository]) if one.channel_id == channel_id), None)

    def kept(self, names: Collection[RepositoryName]) -> Sequence[Board]:
        """The open boards of the repositories, oldest first."""
        boards = map(_board, self._by_keys(_OPEN_BOARDS, _COLUMNS.repository, names))
        return sorted(boards, key=lambda one: one.board_id)

    def unmanaged(self, names: Collection[RepositoryName]) -> Sequence[Board]:
        """The open boards of other repositories, oldest first."""
        kept = map(_board, self._run(_OPEN_BOARDS))
        return [one for one in kept if one.repository not in names]

    def count_open(self) -> int:
        counted = select(func.count(_COLUMNS.message_id)).where(OPEN_BOARD)
        return int(self._run(counted).scalar_one())

    def end(self, board_id: int, at: datetime, by: str | None = None) -> bool:
        """End a board; False if it had ended already."""
        this = _COLUMNS.message_id == board_id, _COLUMNS.ended_at.is_(None)
        return self._change(live_messages, *this, ended_at=at, ended_by=by) > 0

    def save_state(self, state: BoardState) -> None:
        self._put(repositories, as_row(repositories, state))

    def state(self, repository: RepositoryName) -> BoardState | None:
        """What the repository's boards show, if it has or had one."""
        this = repositories.c.repository == repository, repositories.c.picture.is_not(None)
        return self._first(BoardState, select(*columns_of(repositories, BoardState)).where(*this))


def _priority(subject: LiveSubject) -> int:
    return int(PRIORITIES.get(subject.kind, Priority.REST))


def _shows(subject: LiveSubject) -> Condition:
    return and_(
        _COLUMNS.kind == subject.kind,
        _COLUMNS.repository == subject.repository,
        _COLUMNS.key == subject.key,
    )


def _live_message(row: ResultRow) -> LiveMessage:
    return from_row(LiveMessage, row, subject=from_row(LiveSubject, row))


def _board(row: ResultRow) -> Board:
    return from_row(Board, row, board_id=row.message_id, made_at=row.created_at)


class Threads(Part, Generic[_Thread]):
    """The subjects of one kind: queue entries of pull requests, or bisections of batches."""

    def __init__(self, connection: Connection, kind: LiveKind, record: type[_Thread]) -> None:
        super().__init__(connection)
        self._kind = kind
        self._record: type[_Thread] = record

    def save(self, changed: Sequence[_Thread]) -> None:
        """Insert, or replace rows with the same key."""
        self._put(threads, *(as_row(threads, one, kind=self._kind) for one in changed))

    def one(self, repository: RepositoryName, key: str) -> _Thread | None:
        return self._first(self._record, _ONE, **self._these(repository, key=key))

    def since(self, repository: RepositoryName, since: datetime) -> Sequence[_Thread]:
        return self._records(self._record, _RECENT, **self._these(repository, since=since))

    def of(
        self, repository: RepositoryName, numbers: Collection[int], since: datetime
    ) -> Sequence[_Thread]:
        """Those of the pull requests with events since then."""
        these = self._these(repository, since=since)
        rows = self._by_keys(_RECENT, threads.c.pull_request, numbers, **these)
        return [from_row(self._record, row) for row in rows]

    def lasting(self, repository: RepositoryName, since: datetime) -> Sequence[_Thread]:
        return self._records(self._record, _LASTING, **self._these(repository, since=since))

    def _these(self, repository: RepositoryName, **others: object) -> dict[str, object]:
        return {"kind": self._kind, "repository": repository} | others
