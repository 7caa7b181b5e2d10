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
from bot.usecases.choose_notices import about, stop_waiting, switch, switch_all
from bot.usecases.preferences.configuration import link_account, unlink_account


class People(Subject):
    """Seen by the person alone: pressed on an old card or twice, the card comes to say what is."""

    @override
    def on_command(self) -> Mapping[str, OnCommand]:
        return {"link": self._link, "link off": self._unlink, "me": self._me}

    @override
    def on_click(self) -> Mapping[str, OnClick]:
        return {
            actions.NOTICE: self._chosen,
            actions.NOTICE_STOP: self._stop,
            actions.STOP_WAITING: self._stop_waiting_pressed,
        }

    async def switch(self, choices: Mapping[Notice, bool], conversation: Conversation) -> Message:
        """What the person's card says then."""
        user_id = conversation.actor.user_id
        changed, person = await self.sources.store.run(switch, user_id, choices)
        return people.me(person, self.command, notices.switched(changed))

    async def stop_waiting(self, conversation: Conversation) -> Message:
        """As `switch`."""
        user_id = conversation.actor.user_id
        is_new, person = await self.sources.store.run(stop_waiting, user_id)
        return people.me(person, self.command, notices.stopped_waiting(is_new=is_new))

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
        person = await self.sources.store.run(about, user_id)
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
            card = await self.switch(dict.fromkeys(chosen, is_on), conversation)
        else:
            person = await self.sources.store.run(about, conversation.actor.user_id)
            card = people.me(person, self.command)
        await conversation.tell_actor(card)

    async def _chosen(self, click: BlockActions, conversation: Conversation) -> None:
        """The menu says all that is on; a choice in an old card counts as it was seen there."""
        await self.admit(conversation)
        chosen = {Notice(option.value) for option in click.action.selected_options}
        user_id = conversation.actor.user_id
        changed, person = await self.sources.store.run(switch_all, user_id, chosen)
        if conversation.origin is not Origin.HOME:
            card = people.me(person, self.command, notices.switched(changed))
            await conversation.put_in_place(card)

    async def _stop_waiting_pressed(self, _click: BlockActions, conversation: Conversation) -> None:
        await self.admit(conversation)
        card = await self.stop_waiting(conversation)
        if conversation.origin is not Origin.HOME:
            await conversation.put_in_place(card)

    async def _stop(self, click: BlockActions, conversation: Conversation) -> None:
        """The message stays to be read; the answer comes beside it."""
        await self.admit(conversation)
        notice, is_on = actions.read_notice_value(click.action.chosen)
        await conversation.tell_actor(await self.switch({notice: is_on}, conversation))
