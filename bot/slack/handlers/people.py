"""A person's login and notifications."""

from collections.abc import Collection, Mapping

from typing_extensions import override

from bot.domain.audit import Origin
from bot.domain.message import Message
from bot.domain.notices import Notice
from bot.messages import actions, notices, people
from bot.slack.conversation import Conversation
from bot.slack.handlers.subject import OnClick, OnCommand, Subject
from bot.slack.payloads import BlockActions
from bot.usecases.choose_notices import Chosen
from bot.usecases.preferences.configuration import link_account, unlink_account


class People(Subject):
    """Seen by the person alone: pressed on an old card or twice, the card comes to say what is."""

    @override
    def on_command(self) -> Mapping[str, OnCommand]:
        return {"link": self._link, "link off": self._unlink, "me": self._me}

    @override
    def on_click(self) -> Mapping[str, OnClick]:
        return {
            actions.NOTICE: self._switch_pressed,
            actions.NOTICE_STOP: self._stop,
            actions.STOP_WAITING: self._stop_waiting_pressed,
        }

    async def switch(
        self, chosen: Collection[Notice], conversation: Conversation, *, is_on: bool
    ) -> Message:
        """What the person's card says then."""
        user_id = conversation.actor.user_id
        outcome, person = await self.use.choose_notices.choose(user_id, chosen, is_on=is_on)
        said = notices.switched(chosen, is_on=is_on, is_new=outcome is Chosen.CHANGED)
        return people.me(person, self.command, said)

    async def stop_waiting(self, conversation: Conversation) -> Message:
        """As `switch`."""
        outcome, person = await self.use.choose_notices.stop_waiting(conversation.actor.user_id)
        said = notices.stopped_waiting(is_new=outcome is Chosen.CHANGED)
        return people.me(person, self.command, said)

    async def _unlink(self, _: None, conversation: Conversation) -> None:
        was_linked = await self.sources.store.run(unlink_account, conversation.actor.user_id)
        await conversation.tell_actor(people.unlinked(was_linked=was_linked))

    async def _link(self, _: None, conversation: Conversation, *, login: str) -> None:
        user_id = conversation.actor.user_id
        holders = await self.sources.store.run(link_account, user_id, login, self.clock.now())
        if holders:
            await conversation.tell_actor(people.taken(login))
            for holder in holders:
                message = people.wanted_by(user_id, login, self.command)
                await conversation.tell_person(holder, message)
            return
        person = await self.use.choose_notices.about(user_id)
        await conversation.tell_actor(people.linked(person, self.command))

    async def _me(
        self,
        _: None,
        conversation: Conversation,
        *,
        chosen: Collection[Notice] = (),
        is_on: bool = False,
    ) -> None:
        if chosen:
            card = await self.switch(chosen, conversation, is_on=is_on)
        else:
            person = await self.use.choose_notices.about(conversation.actor.user_id)
            card = people.me(person, self.command)
        await conversation.tell_actor(card)

    async def _switch_pressed(self, click: BlockActions, conversation: Conversation) -> None:
        card = await self._card(click, conversation)
        if conversation.origin is not Origin.HOME:
            await conversation.put_in_place(card)

    async def _stop_waiting_pressed(self, _click: BlockActions, conversation: Conversation) -> None:
        await self.admit(conversation)
        card = await self.stop_waiting(conversation)
        if conversation.origin is not Origin.HOME:
            await conversation.put_in_place(card)

    async def _stop(self, click: BlockActions, conversation: Conversation) -> None:
        """What was told stays to be read; the answer comes beside it."""
        await conversation.tell_actor(await self._card(click, conversation))

    async def _card(self, click: BlockActions, conversation: Conversation) -> Message:
        await self.admit(conversation)
        notice, is_on = actions.read_notice_value(click.action.chosen)
        return await self.switch({notice}, conversation, is_on=is_on)
