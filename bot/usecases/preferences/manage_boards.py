"""Put up a channel's board of a queue, and take it down."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.domain.audit import Action, Actor, ActResult, AuditRecord, Origin
from bot.domain.boards import Board
from bot.domain.channels import ChannelAccess
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import Snapshot
from bot.ports import Transaction
from bot.usecases.asking.show_status import ShowStatus
from bot.usecases.pausing.acts import ActLog
from bot.usecases.posting.board_cards import (
    card_of,
    close_board,
    is_out_of_sight,
    newest_card,
    open_board,
    tell_boards,
)

CANNOT_POST = frozenset({ChannelAccess.INVITE, ChannelAccess.DIRECT, ChannelAccess.CLOSED})


@dataclass(frozen=True, slots=True)
class BoardRequest:
    """What somebody asks for, and in which channel."""

    channel_id: str
    repository: RepositoryName
    actor: Actor
    origin: Origin


@dataclass(frozen=True, slots=True)
class PutUp:
    """The channel has a board now; its message is on its way."""


@dataclass(frozen=True, slots=True)
class ThereAlready:
    """The channel has one; `message_ts` is None while its message is still on its way."""

    message_ts: str | None


@dataclass(frozen=True, slots=True)
class NoPlace:
    """The bot cannot post there."""

    access: ChannelAccess


Answer = PutUp | ThereAlready | NoPlace


@dataclass(frozen=True, slots=True)
class ManageBoards:
    """A board is for everybody in the channel, so whoever changes that is put on record."""

    acts: ActLog
    show_status: ShowStatus

    async def put_up(self, request: BoardRequest) -> Answer:
        """Raises PermissionDenied, and MergeQueueError when there is nothing to show."""
        act = self._act(Action.BOARD, request)
        await self.acts.permit(act)
        there = await self._there(request)
        if there is not None:
            await self.acts.leave(act, "it is there already")
            self.acts.nudge()
            return there
        access = await self.acts.channels.access(request.channel_id)
        if access in CANNOT_POST:
            await self.acts.leave(act, f"the channel is {access}")
            return NoPlace(access)
        answer = await self._put_up(request, act, await self.show_status.run(request.repository))
        self.acts.nudge()
        return answer

    async def kept_here(
        self, channel_id: str, repositories: Sequence[RepositoryName]
    ) -> Sequence[RepositoryName]:
        """Those of the repositories that have a board in the channel."""
        async with self.acts.store.begin() as transaction:
            kept = await transaction.boards.kept(repositories)
        return [one.repository for one in kept if one.channel_id == channel_id]

    async def take_down(self, request: BoardRequest) -> bool:
        """Whether there was one. Raises PermissionDenied."""
        act = self._act(Action.END_BOARD, request)
        await self.acts.permit(act)
        now = self.acts.clock.now()
        async with self.acts.store.begin() as transaction:
            board = await transaction.boards.kept_in(request.channel_id, request.repository)
            if board is not None:
                await transaction.boards.end(board.board_id, now, request.actor.name)
                await close_board(transaction, board, now)
            result = ActResult.DONE if board is not None else ActResult.UNCHANGED
            await transaction.audit.add(replace(act, result=result))
        self.acts.nudge()
        return board is not None

    async def _there(self, request: BoardRequest) -> ThereAlready | None:
        """The one that there is. Asked for again it is edited, so that a deleted one is found."""
        async with self.acts.store.begin() as transaction:
            board = await transaction.boards.kept_in(request.channel_id, request.repository)
            if board is None or await is_out_of_sight(transaction, board):
                return None
            await transaction.cards.touch(card_of(board), due_at=self.acts.clock.now())
            return await _there(transaction, board)

    async def _put_up(
        self, request: BoardRequest, act: AuditRecord, snapshot: Snapshot
    ) -> PutUp | ThereAlready:
        now = self.acts.clock.now()
        board = Board(request.channel_id, request.repository, request.actor.name, now)
        async with self.acts.store.begin() as transaction:
            # Which ends the one that nobody can see any more.
            await tell_boards(transaction, snapshot, now, now)
            before = await transaction.boards.kept_in(request.channel_id, request.repository)
            if before is not None and await is_out_of_sight(transaction, before):
                await transaction.boards.end(before.board_id, now)
            board_id = await transaction.boards.add(board)
            if board_id is None:
                await transaction.audit.add(replace(act, result=ActResult.UNCHANGED))
                return await _there_now(transaction, request)
            await open_board(transaction, replace(board, board_id=board_id))
            await transaction.audit.add(replace(act, result=ActResult.DONE))
        return PutUp()

    def _act(self, action: Action, request: BoardRequest) -> AuditRecord:
        return AuditRecord(
            at=self.acts.clock.now(),
            actor=request.actor,
            action=action,
            origin=request.origin,
            repository=request.repository,
            result=ActResult.STARTED,
            channel_id=request.channel_id,
        )


async def _there(transaction: Transaction, board: Board) -> ThereAlready:
    card = await newest_card(transaction, board)
    return ThereAlready(card.message_ts if card is not None else None)


async def _there_now(transaction: Transaction, request: BoardRequest) -> ThereAlready:
    """Somebody else asked for it at the same time."""
    board = await transaction.boards.kept_in(request.channel_id, request.repository)
    return ThereAlready(None) if board is None else await _there(transaction, board)
