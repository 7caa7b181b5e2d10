"""Commands that add and remove boards."""

from bot.boards import texts as board_texts
from bot.boards.keeping import NotPostable, ThereAlready
from bot.desk.registry import Call, handles
from bot.kernel.repository import RepositoryName


@handles.command("board")
async def add_board(call: Call, repository: RepositoryName) -> None:
    match await call.bot.use.manage_boards.add(repository, call.caller):
        case NotPostable(access=access):
            await call.reply(board_texts.no_place(repository, access, call.bot.name))
        case ThereAlready(message_ts=message_ts):
            address = await call.address_of(message_ts)
            await call.reply(board_texts.there_already(repository, address))
        case None:
            return


@handles.command("board off")
async def end_board(call: Call, repository: RepositoryName) -> None:
    was_there = await call.bot.use.manage_boards.end(repository, call.caller)
    said = board_texts.ended_reply(repository) if was_there else board_texts.not_there(repository)
    await call.reply(said)
