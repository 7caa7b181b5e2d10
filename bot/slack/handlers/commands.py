"""What is typed, chosen from a menu or tried again: read, and run to its answer."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp
from typing_extensions import override

from bot.domain.audit import Actor, Origin
from bot.domain.commands import COMMANDS, parse_command
from bot.domain.commands.readers import Request
from bot.domain.errors import RepositoryNotChosen, UserError
from bot.domain.permissions import Right
from bot.domain.repository import RepositoryName
from bot.messages import actions, choice, help as help_messages
from bot.messages.errors import BUSY
from bot.slack.conversation import Answers, Conversation
from bot.slack.handlers.subject import OnClick, OnCommand, Shared, Subject
from bot.slack.payloads import BlockActions, SlashCommand


class Commands(Subject):
    """Each command ends in a line that somebody sees. A direct message gets the list of them."""

    def __init__(self, shared: Shared, subjects: Iterable[Subject]) -> None:
        """Raises TypeError when a command would have no answer."""
        super().__init__(shared)
        self._handlers = {k: v for one in (self, *subjects) for k, v in one.on_command().items()}
        unanswered = {one.name for one in COMMANDS}.difference(self._handlers)
        if unanswered:
            raise TypeError(unanswered)

    @override
    def on_command(self) -> Mapping[str, OnCommand]:
        return {"help": self._help}

    @override
    def on_click(self) -> Mapping[str, OnClick]:
        """A command goes on as if it were typed: one that a button carries, or with a choice."""
        return {
            actions.RETRY: self._again,
            actions.LOG_OF: self._again,
            actions.REFRESH: self._in_place,
            actions.BACK: self._in_place,
            actions.NEXT: self._in_place,
            actions.SHARE: self._to_channel,
            actions.CHOOSE: self._choose,
        }

    @override
    def register(self, app: AsyncApp) -> None:
        app.command(self.command)(self.on_typed)
        app.event("message")(self.on_message)

    async def on_typed(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        if self.background.inbox.is_full:
            await ack(BUSY)
            return
        await ack()
        command = SlashCommand.model_validate(body)
        conversation = self.background.conversation(
            actor=command.actor,
            origin=Origin.COMMAND,
            trigger_id=command.trigger_id,
            channel_id=command.channel_id,
            response_url=command.response_url,
        )
        work = self.run(command.typed, conversation)
        self.background.start(body, work, conversation, retry=command.typed)

    async def on_message(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        event = body["event"]
        is_a_persons = event.get("user") and not (event.get("subtype") or event.get("bot_id"))
        if event.get("channel_type") != "im" or not is_a_persons:
            # Edits, and what the bot itself writes, ask for nothing.
            return
        user_id = str(event["user"])
        conversation = self.background.conversation(
            # The event names no team of the person's: Slack's answer about them decides.
            actor=Actor(user_id, user_id, body.get("team_id")),
            origin=Origin.COMMAND,
        )
        self.background.start(body, self.run("help", conversation), conversation)

    async def run(self, typed: str, conversation: Conversation) -> None:
        """Raises what parsing and the use cases raise; nothing is half said by then."""
        request = await self._parse(typed, conversation)
        where = request.where
        if where is None and request.needs_repository:
            where = await self._repository(request.action, conversation)
            if where is None:
                await self.admit(conversation)
                await self._ask(typed, conversation)
                return
        await self._handlers[request.action](where, conversation, **request.options)

    async def _parse(self, typed: str, conversation: Conversation) -> Request:
        """For an act the permission is asked for, and put on record, where it is carried out."""
        try:
            command, request = parse_command(typed, self.repositories, self.groups)
        except UserError:
            await self.admit(conversation)
            raise
        if command.right is Right.READ:
            await self.admit(conversation)
        return request

    async def _repository(self, action: str, conversation: Conversation) -> RepositoryName | None:
        """The only one there is, that whose board ends, or the channel's own.

        To resume, also the only one that is paused.
        """
        if len(self.repositories.names) == 1:
            return self.repositories.names[0]
        if conversation.channel_id is None:
            return None
        if action == "board off":
            boards = await self.use.manage_boards.kept_here(
                conversation.channel_id, self.repositories.names
            )
            if len(boards) == 1:
                return boards[0]
        default = await self.use.channel_default.of(conversation.channel_id)
        if default in self.repositories.names:
            return default
        heard = await self.use.manage_subscriptions.subscriptions(conversation.channel_id)
        names = {one.repository for one in heard}.intersection(self.repositories.names)
        if len(names) != 1 and action == "unpause":
            names = await self.use.unpause_queue.paused(self.repositories.names)
        return names.pop() if len(names) == 1 else None

    async def _ask(self, typed: str, conversation: Conversation) -> None:
        names = self.repositories.names
        if not names or not choice.can_carry(typed):
            raise RepositoryNotChosen(names)
        await conversation.tell_actor(choice.which_repository(names, typed))

    async def _help(self, _: None, conversation: Conversation, *, verb: str | None) -> None:
        await conversation.tell_actor(help_messages.help_text(self.command, verb))

    async def _again(self, click: BlockActions, conversation: Conversation) -> None:
        await self.run(click.action.chosen, conversation)

    async def _in_place(self, click: BlockActions, conversation: Conversation) -> None:
        if conversation.origin is not Origin.HOME:
            # After any click on the Home tab, all of it is drawn again.
            in_place = replace(conversation, answers=Answers.IN_PLACE)
            await self.run(click.action.chosen, in_place)

    async def _to_channel(self, click: BlockActions, conversation: Conversation) -> None:
        await self.run(click.action.chosen, replace(conversation, answers=Answers.TO_CHANNEL))

    async def _choose(self, click: BlockActions, conversation: Conversation) -> None:
        typed = choice.continued(click.action.block_id, click.action.chosen)
        await self.run(typed, conversation)
