"""Answers to a person about themselves."""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.domain.commands import GeneralCommand, LinkCommand, MeCommand
from bot.messages import people
from bot.slack.answers.room import GeneralAnswer
from bot.slack.conversation import Conversation
from bot.usecases.link_account import LinkAccount


@dataclass(frozen=True, slots=True)
class AccountAnswers:
    """Seen by the person alone."""

    link_account: LinkAccount
    command: str

    def general(self) -> Mapping[type[GeneralCommand], GeneralAnswer]:
        return {LinkCommand: self._link, MeCommand: self._me}

    async def _link(self, command: LinkCommand, conversation: Conversation) -> None:
        user_id = conversation.actor.user_id
        if command.login is None:
            was_linked = await self.link_account.unlink(user_id)
            await conversation.tell_actor(people.unlinked(was_linked=was_linked))
            return
        await self.link_account.link(user_id, command.login)
        await conversation.tell_actor(people.linked(command.login, self.command))

    async def _me(self, _command: MeCommand, conversation: Conversation) -> None:
        login = await self.link_account.login(conversation.actor.user_id)
        await conversation.tell_actor(people.me(login, self.command))
