"""The board of a channel."""

from collections.abc import Mapping

from typing_extensions import override

from bot.domain.repository import RepositoryName
from bot.messages import board
from bot.slack.conversation import Conversation
from bot.slack.handlers.subject import OnCommand, Subject
from bot.usecases.preferences.manage_boards import (
    NoPlace,
    PutUp,
    ThereAlready,
)


class Boards(Subject):
    """The board itself is the answer for everybody; what else there is to say is the caller's."""

    @override
    def on_command(self) -> Mapping[str, OnCommand]:
        return {"board": self._put_up, "board off": self._take_down}

    async def _take_down(self, repository: RepositoryName, conversation: Conversation) -> None:
        was_there = await self.use.manage_boards.take_down(repository, conversation.caller)
        said = board.ended_reply(repository) if was_there else board.not_there(repository)
        await conversation.tell_actor(said)

    async def _put_up(self, repository: RepositoryName, conversation: Conversation) -> None:
        match await self.use.manage_boards.put_up(repository, conversation.caller):
            case PutUp():
                return
            case NoPlace(access=access):
                await conversation.tell_actor(board.no_place(repository, access, self.bot_name))
            case ThereAlready(message_ts=message_ts):
                address = await conversation.address_of(message_ts)
                await conversation.tell_actor(board.there_already(repository, address))
