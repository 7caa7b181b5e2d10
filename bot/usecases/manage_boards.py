"""Starts and ends a channel's board."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.domain.audit import Action, ActResult, AuditRecord, Caller
from bot.domain.boards import Board
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import Snapshot
from bot.ports import ChannelAccess
from bot.store.transactions import Transaction
from bot.usecases.asking.queues import read_queue
from bot.usecases.asking.sources import Sources
from bot.usecases.pausing.acts import ActLog
from bot.usecases.posting.boards import (
    end_board,
    is_uneditable,
    mark_boards,
    message_of,
    put_up,
)

CANNOT_POST = frozenset({ChannelAccess.INVITE, ChannelAccess.DIRECT, ChannelAccess.CLOSED})


@dataclass(frozen=True, slots=True)
class ThereAlready:
    """The channel has one already; `message_ts` is None until its message is posted."""

    message_ts: str | None


@dataclass(frozen=True, slots=True)
class NoPlace:
    """The bot can't post there."""

    access: ChannelAccess


@dataclass(frozen=True, slots=True)
class ManageBoards:
    """A board concerns everybody in the channel, so changes are audited."""

    acts: ActLog
    sources: Sources

    async def put_up(
        self, repository: RepositoryName, caller: Caller
    ) -> ThereAlready | NoPlace | None:
        """Start a board; None if its message follows.

        Raises PermissionDenied, and MergeQueueError if there is no data.
        """
        act = self.acts.record(caller, Action.BOARD, repository)
        await self.acts.permit(act)
        there = await self.acts.store.run(_edit_again, repository, caller, self.acts.clock.now())
        if there is not None:
            await self.acts.leave(act, "it is there already")
            self.acts.wake()
            return there
        access = await self.acts.channels.access(caller.place)
        if access in CANNOT_POST:
            await self.acts.leave(act, f"the channel is {access}")
            return NoPlace(access)
        snapshot = await read_queue(repository, self.sources)
        now = self.acts.clock.now()
        board = Board(caller.place, repository, caller.actor.name, now)
        answer = await self.acts.store.run(_put_up, board, act, snapshot)
        self.acts.wake()
        return answer

    async def in_channel(
        self, channel_id: str, repositories: Sequence[RepositoryName]
    ) -> Sequence[RepositoryName]:
        """The repositories that have a board in the channel."""
        kept = await self.acts.store.run(lambda transaction: transaction.boards.kept(repositories))
        return [one.repository for one in kept if one.channel_id == channel_id]

    async def take_down(self, repository: RepositoryName, caller: Caller) -> bool:
        """End a board; return whether there was one. Raises PermissionDenied."""
        act = self.acts.record(caller, Action.END_BOARD, repository)
        await self.acts.permit(act)
        was_there = await self.acts.store.run(_take_down, caller, act, self.acts.clock.now())
        self.acts.wake()
        return was_there


def _edit_again(
    transaction: Transaction, repository: RepositoryName, caller: Caller, now: datetime
) -> ThereAlready | None:
    """The existing board, which is edited, so that a deleted message is noticed."""
    board = transaction.boards.kept_in(caller.place, repository)
    if board is None or is_uneditable(transaction, board):
        return None
    transaction.live_messages.mark(board.subject, due_at=now, force=True)
    return _there(transaction, board)


def _put_up(
    transaction: Transaction, board: Board, act: AuditRecord, snapshot: Snapshot
) -> ThereAlready | None:
    now = board.made_at
    # This also ends a board whose message is gone.
    mark_boards(transaction, snapshot, now, now)
    before = transaction.boards.kept_in(board.channel_id, board.repository)
    if before is not None and is_uneditable(transaction, before):
        transaction.boards.end(before.board_id, now)
    if not put_up(transaction, board):
        # Another person requested it at the same time.
        transaction.audit.add(replace(act, result=ActResult.UNCHANGED))
        there = transaction.boards.kept_in(board.channel_id, board.repository)
        return ThereAlready(None) if there is None else _there(transaction, there)
    transaction.audit.add(replace(act, result=ActResult.DONE))
    return None


def _there(transaction: Transaction, board: Board) -> ThereAlready:
    shown = message_of(transaction, board)
    return ThereAlready(shown.message_ts if shown is not None else None)


def _take_down(transaction: Transaction, caller: Caller, act: AuditRecord, now: datetime) -> bool:
    board = transaction.boards.kept_in(caller.place, act.repository)
    if board is not None:
        end_board(transaction, board, now, caller.actor.name)
    result = ActResult.DONE if board is not None else ActResult.UNCHANGED
    transaction.audit.add(replace(act, result=result))
    return board is not None


def end_unmanaged_boards(
    transaction: Transaction, now: datetime, repositories: Collection[RepositoryName]
) -> None:
    """End boards whose queue is no longer read, so that they don't show outdated data."""
    for board in transaction.boards.unmanaged(repositories):
        end_board(transaction, board, now)
