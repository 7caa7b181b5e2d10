"""A channel's board: people start and end it, and it is edited when what it shows has changed."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.acts.record import Action, ActResult, AuditRecord
from bot.acts.recording import RecordActs
from bot.acts.rows import Audit
from bot.boards.board import Board, UnreadQueue, WhyUnread, seen
from bot.boards.rows import Boards
from bot.kernel.actor import Caller
from bot.kernel.repository import RepositoryName
from bot.log.sources import Sources
from bot.posts.delivery import Subject, SubjectKind
from bot.posts.enqueueing import first_post
from bot.posts.live_message import LiveMessage
from bot.posts.live_messages import LiveMessages
from bot.posts.outbox import Outbox
from bot.queues.reading import read_queue
from bot.queues.snapshot import Snapshot
from bot.slack.ports import ChannelAccess
from bot.store.transaction import Transaction

CANNOT_POST = frozenset({ChannelAccess.INVITE, ChannelAccess.DIRECT, ChannelAccess.CLOSED})

ONE_AFTER_THE_OTHER = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class ThereAlready:
    """The channel has one already; `message_ts` is None until its message is posted."""

    message_ts: str | None


@dataclass(frozen=True, slots=True)
class NotPostable:
    """The bot can't post there."""

    access: ChannelAccess


@dataclass(frozen=True, slots=True)
class ManageBoards:
    """A board concerns everybody in the channel, so changes are audited."""

    acts: RecordActs
    sources: Sources

    async def add(
        self, repository: RepositoryName, caller: Caller
    ) -> ThereAlready | NotPostable | None:
        """Start a board; None if its message follows.

        Raises PermissionDenied, and MergeQueueError if there is no data.
        """
        act = self.acts.record(caller, Action.BOARD, repository)
        await self.acts.permit(act)
        there = await self.acts.store.run(_edit_again, repository, caller, self.acts.clock.now())
        if there is not None:
            await self.acts.record_unchanged(act, "it is there already")
            self.acts.wake()
            return there
        access = await self.acts.channels.access(caller.place)
        if access in CANNOT_POST:
            await self.acts.record_unchanged(act, f"the channel is {access}")
            return NotPostable(access)
        snapshot = await read_queue(repository, self.sources)
        now = self.acts.clock.now()
        board = Board(caller.place, repository, caller.actor.name, now)
        answer = await self.acts.store.run(_store_board, board, act, snapshot)
        self.acts.wake()
        return answer

    async def end(self, repository: RepositoryName, caller: Caller) -> bool:
        """End a board; return whether there was one. Raises PermissionDenied."""
        act = self.acts.record(caller, Action.END_BOARD, repository)
        await self.acts.permit(act)
        was_there = await self.acts.store.run(_end_stored_board, caller, act, self.acts.clock.now())
        self.acts.wake()
        return was_there


def _edit_again(
    transaction: Transaction, repository: RepositoryName, caller: Caller, now: datetime
) -> ThereAlready | None:
    """The existing board, which is edited, so that a deleted message is noticed."""
    board = Boards(transaction).open_in(caller.place, repository)
    if board is None or is_uneditable(transaction, board):
        return None
    LiveMessages(transaction).mark(board.subject, due_at=now, force=True)
    return _there_already(transaction, board)


def _there_already(transaction: Transaction, board: Board) -> ThereAlready:
    shown = message_of(transaction, board)
    return ThereAlready(shown.message_ts if shown is not None else None)


def _store_board(
    transaction: Transaction, board: Board, act: AuditRecord, snapshot: Snapshot
) -> ThereAlready | None:
    now = board.made_at
    mark_boards(transaction, snapshot, now, now)
    before = Boards(transaction).open_in(board.channel_id, board.repository)
    if before is not None and is_uneditable(transaction, before):
        # Its message is gone; a reading that shows nothing new doesn't end it.
        Boards(transaction).end(before.board_id, now)
    if not add_board(transaction, board):
        # Another person requested it at the same time.
        Audit(transaction).add(replace(act, result=ActResult.UNCHANGED))
        there = Boards(transaction).open_in(board.channel_id, board.repository)
        if there is None:
            return ThereAlready(None)
        return _there_already(transaction, there)
    Audit(transaction).add(replace(act, result=ActResult.DONE))
    return None


def _end_stored_board(
    transaction: Transaction, caller: Caller, act: AuditRecord, now: datetime
) -> bool:
    board = Boards(transaction).open_in(caller.place, act.repository)
    if board is None:
        Audit(transaction).add(replace(act, result=ActResult.UNCHANGED))
        return False
    end_board(transaction, board, now, caller.actor.name)
    Audit(transaction).add(replace(act, result=ActResult.DONE))
    return True


def end_unmanaged_boards(
    transaction: Transaction, now: datetime, repositories: Collection[RepositoryName]
) -> None:
    """End boards whose queue is no longer read, so that they don't show outdated data."""
    for board in Boards(transaction).unmanaged(repositories):
        end_board(transaction, board, now)


def add_board(transaction: Transaction, board: Board) -> bool:
    """Start a board; False if the channel has one."""
    board_id = Boards(transaction).add(board)
    if board_id is None:
        return False
    subject = replace(board, board_id=board_id).subject
    message_id = LiveMessages(transaction).add(subject, board.channel_id, now=board.made_at)
    if message_id is None:
        raise AssertionError("the message of a new board is new")
    identity = board.made_at.isoformat()
    post = first_post(subject, message_id, board.channel_id, board.made_at, identity)
    Outbox(transaction).add([post])
    return True


def end_board(transaction: Transaction, board: Board, now: datetime, by: str | None = None) -> None:
    """End a board; its message will say so."""
    Boards(transaction).end(board.board_id, now, by)
    LiveMessages(transaction).mark(board.subject, due_at=now, closed=True)


def message_of(transaction: Transaction, board: Board) -> LiveMessage | None:
    return next(iter(LiveMessages(transaction).of(board.subject)), None)


def is_uneditable(transaction: Transaction, board: Board) -> bool:
    """Whether neither its message nor the replacement can be edited any more.

    This includes messages never posted, because they failed or were dropped with their channel.
    """
    shown = message_of(transaction, board)
    if shown is None:
        return False
    if shown.is_lost or shown.message_ts is not None:
        return shown.is_lost
    kind = SubjectKind.LIVE_MESSAGE_AGAIN if shown.is_second else SubjectKind.LIVE_MESSAGE
    subject = Subject(kind, board.repository, shown.message_id)
    post = Outbox(transaction).get(board.channel_id, subject)
    return post is None or post.progress.state.is_settled


def mark_boards(
    transaction: Transaction, snapshot: Snapshot, now: datetime, later: datetime
) -> bool:
    """Store a reading; return whether boards have to change.

    A pause, and that it can be read again, are shown immediately, other changes from `later` on.
    """
    repository = snapshot.repository
    before = Boards(transaction).state(repository)
    after = seen(before, snapshot)
    due_at = now
    if before is not None and before.unread is None:
        if before.picture == after.picture:
            return False
        due_at = now if before.picture.pause != after.picture.pause else later
    Boards(transaction).save_state(after)
    touch_boards(transaction, repository, now, due_at)
    return True


def mark_unread(
    transaction: Transaction,
    repository: RepositoryName,
    why: WhyUnread,
    read_at: datetime | None,
    now: datetime,
) -> bool:
    """Show on boards that the queue can't be read; return whether that is new.

    `read_at`: when the service last answered, if this process knows.
    """
    before = Boards(transaction).state(repository)
    if before is None or (before.unread is not None and before.unread.why is why):
        return False
    since = max(before.read_at, read_at or before.read_at)
    if before.unread is not None:
        since = before.unread.since
    Boards(transaction).save_state(replace(before, unread=UnreadQueue(since, why)))
    touch_boards(transaction, repository, now, now)
    return True


def touch_boards(
    transaction: Transaction, repository: RepositoryName, now: datetime, due_at: datetime
) -> None:
    """Mark the repository's boards for an edit, and end those whose message is gone.

    Edits are spread out, so that other messages are edited in between.
    """
    for board in Boards(transaction).open_of([repository]):
        if is_uneditable(transaction, board):
            Boards(transaction).end(board.board_id, now)
        else:
            LiveMessages(transaction).mark(board.subject, due_at=due_at)
            due_at += ONE_AFTER_THE_OTHER
