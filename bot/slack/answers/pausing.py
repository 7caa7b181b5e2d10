"""Answers to those who pause and unpause."""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.domain.commands import PauseCommand, RepositoryCommand, UnpauseCommand
from bot.domain.durations import written
from bot.domain.pauses import (
    AlreadyPaused,
    Extended,
    NotPaused,
    OtherEnd,
    OtherPause,
    Paused,
    Unpaused,
    check_reason,
)
from bot.domain.repository import RepositoryName
from bot.messages import pause, pause_card, timers
from bot.messages.text import clean
from bot.slack.answers.answer import RepositoryAnswer
from bot.slack.answers.modals import PauseModal
from bot.slack.replying.conversation import Conversation
from bot.usecases.pausing.extend_pause import ExtendPause, ExtendRequest
from bot.usecases.pausing.pause_queue import PauseQueue, PauseRequest
from bot.usecases.pausing.unpause_queue import UnpauseQueue, UnpauseRequest

REASON_KEPT = 4000
"""A reason is checked for its length after this cut, so that the check can name the length."""


@dataclass(frozen=True, slots=True)
class PauseAnswers:
    """The same outcomes are told the same way, whether somebody typed or pressed a button."""

    pause_queue: PauseQueue
    unpause_queue: UnpauseQueue
    modal: PauseModal
    extend_pause: ExtendPause

    def answers(self) -> Mapping[type[RepositoryCommand], RepositoryAnswer]:
        return {PauseCommand: self._pause_typed, UnpauseCommand: self._unpause_typed}

    async def _pause_typed(
        self, command: PauseCommand, repository: RepositoryName, conversation: Conversation
    ) -> None:
        """Without a reason the modal asks for it."""
        if command.reason is None:
            typed = written(command.lasting) if command.lasting is not None else None
            await self.modal.open(repository, conversation, typed)
            return
        if command.doubtful is not None:
            await self.modal.permit(repository, conversation)
            reason = check_reason(clean(command.reason, REASON_KEPT))
            before = clean(command.reason_before or "", REASON_KEPT)
            question = pause.is_it_an_end(repository, reason, before, command.doubtful)
            await conversation.tell_actor(question)
            return
        outcome = await self.pause_queue.run(
            PauseRequest(
                repository,
                clean(command.reason, REASON_KEPT),
                conversation.actor,
                conversation.origin,
                conversation.channel_id,
                lasting=command.lasting,
            )
        )
        match outcome:
            case Paused(told=told):
                if not told.posted_here:
                    await conversation.tell_channel(pause.act(told.act))
            case AlreadyPaused(known, wanted, lasting, is_same):
                await conversation.tell_actor(
                    pause.already_paused(repository, known, wanted, lasting, is_same=is_same)
                )

    async def _unpause_typed(
        self, _command: UnpauseCommand, repository: RepositoryName, conversation: Conversation
    ) -> None:
        request = UnpauseRequest(
            repository, conversation.actor, conversation.origin, conversation.channel_id
        )
        await self.unpause(request, conversation)

    async def unpause(
        self, request: UnpauseRequest, conversation: Conversation, *, on_card: bool = False
    ) -> None:
        """`on_card`: a button of a pause's card was pressed, which is kept up to date elsewhere."""
        outcome = await self.unpause_queue.run(request)
        match outcome:
            case Unpaused(told=told):
                if not told.posted_here:
                    # No card is here: what was pressed is what the bot once answered with.
                    if conversation.in_channel_message:
                        await conversation.put_in_place(pause.closed(told.act))
                    await conversation.tell_channel(pause.act(told.act))
            case NotPaused(ended=ended):
                if conversation.in_channel_message and not on_card:
                    shown = pause.over(request.repository)
                    if ended is not None and ended.is_of(request.expected):
                        shown = pause_card.card(pause_card.PauseView(ended))
                    await conversation.put_in_place(shown)
                await conversation.tell_actor(pause.not_paused(request.repository, ended))
            case OtherPause(known=known):
                await conversation.tell_actor(pause.other_pause(request.repository, known))

    async def extend(self, request: ExtendRequest, conversation: Conversation) -> None:
        outcome = await self.extend_pause.run(request)
        match outcome:
            case Extended(told=told):
                if not told.posted_here:
                    await conversation.tell_actor(timers.extended_reply(told.act))
                elif conversation.view_id is not None:
                    await conversation.put_in_place(timers.extended_reply(told.act))
            case NotPaused():
                await conversation.tell_actor(pause.not_paused(request.repository))
            case OtherPause(known=known):
                await conversation.tell_actor(pause.other_pause(request.repository, known))
            case OtherEnd(known=known):
                await conversation.tell_actor(timers.other_end(request.repository, known))
