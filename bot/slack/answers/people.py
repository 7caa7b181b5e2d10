"""Answers to a person about themselves."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from bot.domain.commands import GeneralCommand, LinkCommand, MeCommand
from bot.domain.message import Message
from bot.domain.notices import Notice
from bot.messages import notices, people
from bot.slack.answers.answer import GeneralAnswer
from bot.slack.replying.conversation import Conversation
from bot.usecases.choose_notices import ChooseNotices, Chosen
from bot.usecases.preferences.link_account import LinkAccount


@dataclass(frozen=True, slots=True)
class AccountAnswers:
    """Seen by the person alone."""

    link_account: LinkAccount
    choose_notices: ChooseNotices
    command: str

    def general(self) -> Mapping[type[GeneralCommand], GeneralAnswer]:
        return {LinkCommand: self._link, MeCommand: self._me}

    async def switch(
        self, chosen: Collection[Notice], conversation: Conversation, *, is_on: bool
    ) -> Message:
        """What the person's card says then."""
        user_id = conversation.actor.user_id
        outcome, person = await self.choose_notices.choose(user_id, chosen, is_on=is_on)
        said = notices.switched(chosen, is_on=is_on, is_new=outcome is Chosen.CHANGED)
        return people.me(person, self.command, said)

    async def stop_waiting(self, conversation: Conversation) -> Message:
        """As `switch`."""
        outcome, person = await self.choose_notices.stop_waiting(conversation.actor.user_id)
        said = notices.stopped_waiting(is_new=outcome is Chosen.CHANGED)
        return people.me(person, self.command, said)

    async def _link(self, command: LinkCommand, conversation: Conversation) -> None:
        user_id = conversation.actor.user_id
        if command.login is None:
            was_linked = await self.link_account.unlink(user_id)
            await conversation.tell_actor(people.unlinked(was_linked=was_linked))
            return
        holders = await self.link_account.link(user_id, command.login)
        if holders:
            await conversation.tell_actor(people.taken(command.login))
            for holder in holders:
                message = people.wanted_by(user_id, command.login, self.command)
                await conversation.tell_person(holder, message)
            return
        person = await self.choose_notices.about(user_id)
        await conversation.tell_actor(people.linked(person, self.command))

    async def _me(self, command: MeCommand, conversation: Conversation) -> None:
        if command.notices:
            card = await self.switch(command.notices, conversation, is_on=command.is_on)
        else:
            person = await self.choose_notices.about(conversation.actor.user_id)
            card = people.me(person, self.command)
        await conversation.tell_actor(card)
