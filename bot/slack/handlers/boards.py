"""The board of a channel. Everybody sees the board; only the caller sees other answers."""

from bot.domain.repository import RepositoryName
from bot.messages import board
from bot.slack.handlers.registry import Call, handles
from bot.usecases.manage_boards import NoPlace, ThereAlready


@handles.command("board")
async def put_up(call: Call, repository: RepositoryName) -> None:
    match await call.bot.use.manage_boards.put_up(repository, call.caller):
        case NoPlace(access=access):
            await call.reply(board.no_place(repository, access, call.bot.name))
        case ThereAlready(message_ts=message_ts):
            address = await call.address_of(message_ts)
            await call.reply(board.there_already(repository, address))
        case None:
            return


@handles.command("board off")
async def take_down(call: Call, repository: RepositoryName) -> None:
    was_there = await call.bot.use.manage_boards.take_down(repository, call.caller)
    said = board.ended_reply(repository) if was_there else board.not_there(repository)
    await call.reply(said)
