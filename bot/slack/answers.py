"""Runs a typed command to its answer, whether it was typed, chosen from a menu or tried again."""

from dataclasses import dataclass

from bot.domain.commands import (
    Command,
    HelpCommand,
    PauseCommand,
    StatusCommand,
    SubscribeCommand,
    SubscriptionsCommand,
    UnpauseCommand,
    UnsubscribeCommand,
    parse_command,
)
from bot.domain.denials import Right
from bot.domain.errors import RepositoryNotChosen, UserError
from bot.domain.pauses import AlreadyPaused, NotPaused, OtherPause, Paused, Unpaused
from bot.domain.repositories import Repositories
from bot.domain.repository import RepositoryName
from bot.messages import choice, help as help_messages, pause, status, subscriptions
from bot.messages.text import clean
from bot.slack.conversation import Conversation
from bot.slack.modals import PauseModal
from bot.usecases import UseCases
from bot.usecases.pause_queue import PauseRequest
from bot.usecases.unpause_queue import UnpauseRequest

REASON_KEPT = 4000
"""A reason is checked for its length after this cut, so that the check can name the length."""


@dataclass(frozen=True, slots=True)
class Answers:
    """One method for each command; each ends in a line that somebody sees."""

    use_cases: UseCases
    repositories: Repositories
    modal: PauseModal
    command: str
    bot_name: str

    async def run(self, typed: str, conversation: Conversation) -> None:
        """Raises what parsing and the use cases raise; nothing is half said by then."""
        command = await self._parse(typed, conversation)
        match command:
            case HelpCommand():
                await conversation.tell_actor(help_messages.help_text(self.command, command.verb))
            case SubscriptionsCommand():
                await self._list(conversation)
            case _:
                repository = await self._repository(command, conversation)
                if repository is None:
                    await self.admit(conversation)
                    await self._ask(typed, conversation)
                else:
                    await self._act(command, repository, conversation)

    async def _parse(self, typed: str, conversation: Conversation) -> Command:
        """For an act the permission is asked for, and put on record, where it is carried out."""
        try:
            command = parse_command(typed, self.repositories)
        except UserError:
            await self.admit(conversation)
            raise
        if not isinstance(command, (PauseCommand, UnpauseCommand)):
            await self.admit(conversation)
        return command

    async def admit(self, conversation: Conversation, right: Right = Right.READ) -> None:
        """Raises PermissionDenied."""
        await self.use_cases.check_permission.require(conversation.actor, right)

    async def _act(
        self, command: Command, repository: RepositoryName, conversation: Conversation
    ) -> None:
        match command:
            case StatusCommand():
                await self.show_status(repository, command.branch, conversation)
            case PauseCommand():
                await self.pause(repository, command.reason, conversation)
            case UnpauseCommand():
                await self.unpause(
                    UnpauseRequest(
                        repository, conversation.actor, conversation.origin, conversation.channel_id
                    ),
                    conversation,
                )
            case SubscribeCommand():
                await self.admit(conversation, Right.SUBSCRIBE)
                await self._subscribe(command.topics, repository, conversation)
            case UnsubscribeCommand():
                await self.admit(conversation, Right.SUBSCRIBE)
                await self._unsubscribe(command.topics, repository, conversation)
            case HelpCommand() | SubscriptionsCommand():
                msg = "these name no repository"
                raise TypeError(msg)

    async def _repository(
        self, command: Command, conversation: Conversation
    ) -> RepositoryName | None:
        """The one typed, else the channel's own, else the only one there is."""
        typed = getattr(command, "repository", None)
        if isinstance(typed, RepositoryName):
            return typed
        if len(self.repositories.names) == 1:
            return self.repositories.names[0]
        if conversation.channel_id is None:
            return None
        heard = await self.use_cases.manage_subscriptions.subscriptions(conversation.channel_id)
        names = {one.repository for one in heard}.intersection(self.repositories.names)
        return names.pop() if len(names) == 1 else None

    async def _ask(self, typed: str, conversation: Conversation) -> None:
        names = self.repositories.names
        if not names or not choice.can_carry(typed):
            raise RepositoryNotChosen(names)
        await conversation.tell_actor(choice.which_repository(names, typed))

    async def show_status(
        self, repository: RepositoryName, branch: str | None, conversation: Conversation
    ) -> None:
        snapshot = await self.use_cases.show_status.run(repository, branch)
        await conversation.tell_actor(status.status(snapshot))

    async def pause(
        self, repository: RepositoryName, reason: str | None, conversation: Conversation
    ) -> None:
        """Without a reason the modal asks for it."""
        if reason is None:
            await self.modal.open(repository, conversation)
            return
        outcome = await self.use_cases.pause_queue.run(
            PauseRequest(
                repository,
                clean(reason, REASON_KEPT),
                conversation.actor,
                conversation.origin,
                conversation.channel_id,
            )
        )
        match outcome:
            case Paused(told=told):
                await self.tell_replaced(outcome, conversation)
                if not told.posted_here:
                    await conversation.tell_channel(pause.act(told.act))
            case AlreadyPaused(known=known, reason=wanted):
                await conversation.tell_actor(pause.already_paused(repository, known, wanted))

    async def tell_replaced(self, paused: Paused, conversation: Conversation) -> None:
        """Whoever's pause was replaced by somebody else hears of it."""
        before = paused.previous.actor if paused.previous is not None else None
        if before is not None and before.user_id != conversation.actor.user_id:
            await conversation.tell_person(before.user_id, pause.replaced(paused.told.act))

    async def unpause(self, request: UnpauseRequest, conversation: Conversation) -> None:
        outcome = await self.use_cases.unpause_queue.run(request)
        match outcome:
            case Unpaused(told=told):
                if conversation.in_channel_message:
                    await conversation.put_in_place(pause.closed(told.act))
                if not told.posted_here:
                    await conversation.tell_channel(pause.act(told.act))
            case NotPaused():
                if conversation.in_channel_message:
                    await conversation.put_in_place(pause.over(request.repository))
                await conversation.tell_actor(pause.not_paused(request.repository))
            case OtherPause(known=known):
                await conversation.tell_actor(pause.other_pause(request.repository, known))

    async def _list(self, conversation: Conversation) -> None:
        found = []
        if conversation.channel_id is not None:
            channel_id = conversation.channel_id
            found = list(await self.use_cases.manage_subscriptions.subscriptions(channel_id))
        await conversation.tell_actor(subscriptions.subscriptions(found, self.command))

    async def _subscribe(
        self, topics: frozenset[str], repository: RepositoryName, conversation: Conversation
    ) -> None:
        done = await self.use_cases.manage_subscriptions.subscribe(
            conversation.channel_id or conversation.actor.user_id,
            repository,
            topics,
            conversation.actor.user_id,
        )
        message = subscriptions.subscribed(done.subscription, done.access, bot_name=self.bot_name)
        await conversation.tell_channel(message)

    async def _unsubscribe(
        self,
        topics: frozenset[str] | None,
        repository: RepositoryName,
        conversation: Conversation,
    ) -> None:
        done = await self.use_cases.manage_subscriptions.unsubscribe(
            conversation.channel_id or conversation.actor.user_id, repository, topics
        )
        if done.changed:
            await conversation.tell_channel(subscriptions.unsubscribed(repository, done.left))
        if done.configured is not None:
            await conversation.tell_actor(subscriptions.configured_stays(repository))
        elif not done.changed:
            await conversation.tell_actor(subscriptions.was_not_subscribed(repository))
