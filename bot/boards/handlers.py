"""Commands that add and remove boards."""

from bot.boards import texts as board_texts
from bot.boards.keeping import NoPlace, ThereAlready
from bot.desk.registry import Call, handles
from bot.kernel.repository import RepositoryName


@handles.command("board")
async def put_up(call: Call, repository: RepositoryName) -> None:
    match await call.bot.use.manage_boards.put_up(repository, call.caller):
        case NoPlace(access=access):
            await call.reply(board_texts.no_place(repository, access, call.bot.name))
        case ThereAlready(message_ts=message_ts):
            address = await call.address_of(message_ts)
            await call.reply(board_texts.there_already(repository, address))
        case None:
            return


@handles.command("board off")
async def take_down(call: Call, repository: RepositoryName) -> None:
    was_there = await call.bot.use.manage_boards.take_down(repository, call.caller)
    said = board_texts.ended_reply(repository) if was_there else board_texts.not_there(repository)
    await call.reply(said)
