"""Messages that are posted once and then edited."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import and_, bindparam, case, literal, or_, select, update

from bot.kernel.repository import RepositoryName
from bot.posts.channel_queues import is_covered_by
from bot.posts.delivery import POSTS_OF_LIVE_MESSAGES
from bot.posts.live_message import (
    LATEST_EDIT,
    PRIORITIES,
    LiveKind,
    LiveMessage,
    LiveSubject,
    Priority,
)
from bot.posts.tables import TO_EDIT, WAITS, deliveries, live_messages
from bot.store.schema import UtcTime
from bot.store.statements import Condition, Part, ResultRow, as_row, from_row

LIVE_MESSAGE_COLUMNS = live_messages.c
_UNPOSTED = LIVE_MESSAGE_COLUMNS.message_ts.is_(None) & ~LIVE_MESSAGE_COLUMNS.is_lost

# Built once, because building a statement takes several times as long as running it.
_ALL = select(live_messages)
_DUE = (
    _ALL.where(
        TO_EDIT,
        or_(
            LIVE_MESSAGE_COLUMNS.due_at <= bindparam("now"),
            LIVE_MESSAGE_COLUMNS.due_at > bindparam("latest"),
        ),
    )
    .order_by(
        LIVE_MESSAGE_COLUMNS.priority, LIVE_MESSAGE_COLUMNS.due_at, LIVE_MESSAGE_COLUMNS.message_id
    )
    .limit(bindparam("limit"))
)
_SHOWN_MESSAGES = _ALL.where(
    LIVE_MESSAGE_COLUMNS.kind == bindparam("kind"),
    LIVE_MESSAGE_COLUMNS.repository == bindparam("repository"),
).order_by(LIVE_MESSAGE_COLUMNS.channel_id)
_SET_POSTED = update(live_messages).where(LIVE_MESSAGE_COLUMNS.message_id == bindparam("posted_id"))
"""Sets the columns given as parameters."""


class LiveMessages(Part):
    """Messages by subject and channel; an index holds those to edit."""

    def add(
        self,
        subject: LiveSubject,
        channel_id: str,
        *,
        now: datetime,
        closed: bool = False,
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
        )
        added = self._add_new(live_messages, row)
        return added[0] if added else None

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
        waits_for_sooner = WAITS & (LIVE_MESSAGE_COLUMNS.due_at < due_at)
        waits_more_urgently = WAITS & (LIVE_MESSAGE_COLUMNS.priority < urgency)
        return self._change(
            live_messages,
            shows(subject),
            wanted=LIVE_MESSAGE_COLUMNS.wanted + 1,
            due_at=case(
                (waits_for_sooner, LIVE_MESSAGE_COLUMNS.due_at), else_=literal(due_at, UtcTime)
            ),
            priority=case((waits_more_urgently, LIVE_MESSAGE_COLUMNS.priority), else_=urgency),
            closed=or_(LIVE_MESSAGE_COLUMNS.closed, literal(closed)),
            changed_at=due_at,
            content_hash=None if force else LIVE_MESSAGE_COLUMNS.content_hash,
        )

    def open_of(self, kind: LiveKind) -> Sequence[LiveSubject]:
        """The subjects of that kind that have a message which is still edited."""
        found = select(
            LIVE_MESSAGE_COLUMNS.kind, LIVE_MESSAGE_COLUMNS.repository, LIVE_MESSAGE_COLUMNS.key
        ).where(LIVE_MESSAGE_COLUMNS.kind == kind, ~LIVE_MESSAGE_COLUMNS.closed)
        return self._records(LiveSubject, found.distinct())

    def mark_channel(self, channel_id: str, *, due_at: datetime) -> int:
        """Mark a channel's messages for an edit because others read it now; return how many."""
        return self._change(
            live_messages,
            LIVE_MESSAGE_COLUMNS.channel_id == channel_id,
            LIVE_MESSAGE_COLUMNS.message_ts.is_not(None),
            ~LIVE_MESSAGE_COLUMNS.is_lost,
            ~LIVE_MESSAGE_COLUMNS.closed,
            wanted=LIVE_MESSAGE_COLUMNS.wanted + 1,
            due_at=due_at,
            content_hash=None,
        )

    def mark_open(self, kind: LiveKind, repository: RepositoryName, *, due_at: datetime) -> None:
        """Mark all of a kind that are still edited, because they show what changed besides."""
        of_kind = select(LIVE_MESSAGE_COLUMNS.message_id).where(
            LIVE_MESSAGE_COLUMNS.kind == kind,
            LIVE_MESSAGE_COLUMNS.repository == repository,
            ~LIVE_MESSAGE_COLUMNS.closed,
        )
        # In the usual order, to avoid deadlocks.
        locked = of_kind.order_by(LIVE_MESSAGE_COLUMNS.key).with_for_update(of=live_messages)
        self._change(
            live_messages,
            LIVE_MESSAGE_COLUMNS.message_id.in_(locked),
            wanted=LIVE_MESSAGE_COLUMNS.wanted + 1,
            due_at=case((WAITS, LIVE_MESSAGE_COLUMNS.due_at), else_=literal(due_at, UtcTime)),
            changed_at=due_at,
        )

    def move(self, message_ids: Collection[int], to: LiveSubject) -> None:
        """Make the messages show another subject of the same kind, from its next change on."""
        these = LIVE_MESSAGE_COLUMNS.message_id.in_(sorted(message_ids))
        self._change(live_messages, these, key=to.key, closed=False)

    def open_again(self, subject: LiveSubject) -> None:
        """Have messages edited again that showed the last change of a subject.

        Those that couldn't be edited are forgotten, so that others can be posted for them.
        """
        self._remove(live_messages, shows(subject), LIVE_MESSAGE_COLUMNS.is_lost)
        self._change(live_messages, shows(subject), closed=False)

    def get(self, message_ids: Collection[int]) -> Mapping[int, LiveMessage]:
        rows = self._by_keys(_ALL, LIVE_MESSAGE_COLUMNS.message_id, message_ids)
        return {row.message_id: _live_message(row) for row in rows}

    def of(self, subject: LiveSubject) -> Sequence[LiveMessage]:
        """The messages that show a subject, by channel."""
        return self.of_all(subject.kind, subject.repository, [subject.key])

    def of_all(
        self, kind: LiveKind, repository: RepositoryName, keys: Collection[str]
    ) -> Sequence[LiveMessage]:
        rows = self._by_keys(
            _SHOWN_MESSAGES, LIVE_MESSAGE_COLUMNS.key, keys, kind=kind, repository=repository
        )
        return [_live_message(row) for row in rows]

    def at(self, channel_id: str, message_ts: str) -> LiveMessage | None:
        """The one that is that message of Slack's."""
        this = _ALL.where(
            LIVE_MESSAGE_COLUMNS.message_ts == message_ts,
            LIVE_MESSAGE_COLUMNS.channel_id == channel_id,
        )
        return next(map(_live_message, self._run(this)), None)

    def due(self, now: datetime, limit: int) -> Sequence[LiveMessage]:
        """The messages to edit, by priority and due time."""
        times = {"now": now, "latest": now + LATEST_EDIT}
        return [_live_message(row) for row in self._run(_DUE, {**times, "limit": limit})]

    def posted(
        self, message_id: int, message_ts: str, shown: int, content_hash: str | None = None
    ) -> None:
        """Store the first post, which shows revision `shown`, or 0 if unknown."""
        values = {
            "message_ts": message_ts,
            "shown": shown,
            "content_hash": content_hash,
            "failures": 0,
        }
        self._run(_SET_POSTED, {"posted_id": message_id, **values})

    def replaced(
        self, message_id: int | None, lost_ts: str, message_ts: str, now: datetime
    ) -> None:
        """A reply takes the place of the first message `lost_ts` of a queue entry's thread.

        It stands in the channel and shows the entry from the next edit on. Otherwise the entry
        would be posted again beside it.
        """
        which = (
            LIVE_MESSAGE_COLUMNS.message_id == message_id,
            LIVE_MESSAGE_COLUMNS.kind == LiveKind.ENTRY,
            LIVE_MESSAGE_COLUMNS.message_ts == lost_ts,
        )
        values = {"message_ts": message_ts, "shown": 0, "content_hash": None, "failures": 0}
        self._change(live_messages, *which, **values, due_at=now)

    def begin_edits(
        self, subject: LiveSubject, channel_id: str, message_ts: str, content_hash: str | None
    ) -> None:
        """Store which message of the channel shows the subject, unless that is known."""
        which = shows(subject), LIVE_MESSAGE_COLUMNS.channel_id == channel_id, _UNPOSTED
        self._change(live_messages, *which, message_ts=message_ts, content_hash=content_hash)

    def showed(
        self, message_id: int, revision: int, content_hash: str | None = None, by: str | None = None
    ) -> None:
        """Store that the message shows this revision, with that content, edited by that process."""
        is_older = LIVE_MESSAGE_COLUMNS.shown > revision
        edited = {} if by is None else {"edited_by": by}
        self._set(
            message_id,
            **edited,
            shown=case((is_older, LIVE_MESSAGE_COLUMNS.shown), else_=revision),
            content_hash=case((is_older, LIVE_MESSAGE_COLUMNS.content_hash), else_=content_hash),
            failures=0,
        )

    def postpone(self, message_id: int, due_at: datetime, failures: int = 0) -> None:
        """Retry an edit later; `failures` counts those since Slack last accepted one."""
        self._set(message_id, due_at=due_at, failures=failures)

    def forget_message(self, message_id: int) -> None:
        self._set(
            message_id, message_ts=None, is_second=True, shown=0, content_hash=None, failures=0
        )

    def lose(self, message_id: int) -> None:
        self._set(message_id, is_lost=True)

    def lose_summarized(self, summary: str) -> int:
        """Drop the messages whose posts this summary covers; return how many there were."""
        is_its_post = and_(
            deliveries.c.subject_kind.in_(sorted(POSTS_OF_LIVE_MESSAGES)),
            deliveries.c.repository == LIVE_MESSAGE_COLUMNS.repository,
            deliveries.c.subject_id == LIVE_MESSAGE_COLUMNS.message_id,
        )
        covered = (
            select(LIVE_MESSAGE_COLUMNS.message_id)
            .join_from(deliveries, live_messages, is_its_post)
            .where(is_covered_by(summary), _UNPOSTED)
            # In the usual order, to avoid deadlocks.
            .order_by(
                LIVE_MESSAGE_COLUMNS.kind, LIVE_MESSAGE_COLUMNS.repository, LIVE_MESSAGE_COLUMNS.key
            )
            .with_for_update(of=live_messages)
        )
        these = LIVE_MESSAGE_COLUMNS.message_id.in_(covered)
        return self._change(live_messages, these, is_lost=True)

    def _set(self, message_id: int, **values: object) -> None:
        self._change(live_messages, LIVE_MESSAGE_COLUMNS.message_id == message_id, **values)


def _priority(subject: LiveSubject) -> int:
    return int(PRIORITIES.get(subject.kind, Priority.REST))


def shows(subject: LiveSubject) -> Condition:
    return and_(
        LIVE_MESSAGE_COLUMNS.kind == subject.kind,
        LIVE_MESSAGE_COLUMNS.repository == subject.repository,
        LIVE_MESSAGE_COLUMNS.key == subject.key,
    )


def _live_message(row: ResultRow) -> LiveMessage:
    return from_row(LiveMessage, row, subject=from_row(LiveSubject, row))
