"""Clicks about a pause: each acts on the state now, and says what is true."""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.domain.denials import Right
from bot.domain.durations import read_lasting, written
from bot.domain.pauses import AlreadyPaused, NotPaused, OtherPause, Paused
from bot.domain.repositories import Repositories
from bot.messages import actions, pause, pause_card, reminders, status, timers
from bot.slack.answers.pausing import PauseAnswers
from bot.slack.listeners.actions.click import OnClick
from bot.slack.payloads import BlockActions, PauseForm
from bot.slack.replying.conversation import Conversation, OpenedModal
from bot.usecases.asking.show_status import ShowStatus
from bot.usecases.check_permission import CheckPermission
from bot.usecases.pausing.extend_pause import ExtendRequest
from bot.usecases.pausing.pause_queue import PauseRequest
from bot.usecases.pausing.remind_of_pauses import Snoozed
from bot.usecases.pausing.snooze_reminders import SnoozeReminders, SnoozeRequest
from bot.usecases.pausing.unpause_queue import UnpauseRequest


@dataclass(frozen=True, slots=True)
class PauseActions:
    """*Pause*, *Resume queue*, *Replace reason*, *Leave it*, *Extend…*, putting reminders off.

    Whether a duration in a reason is the end of the pause.

    The modal's choice of a queue as well.
    """

    answers: PauseAnswers
    show_status: ShowStatus
    check_permission: CheckPermission
    repositories: Repositories
    snooze_reminders: SnoozeReminders

    def clicks(self) -> Mapping[str, OnClick]:
        return {
            actions.PAUSE: self._pause,
            actions.UNPAUSE: self._unpause,
            actions.REPLACE: self._replace,
            actions.PAUSE_FOR: self._pause_chosen,
            actions.PAUSE_WITHOUT_END: self._pause_chosen,
            actions.EXTEND: self._extend,
            actions.SNOOZE: self._snooze,
            actions.DISMISS: self._dismiss,
            actions.PAUSE_REPOSITORY: self._choose_in_modal,
        }

    async def _pause(self, click: BlockActions, conversation: Conversation) -> None:
        repository = self.repositories.allowed(click.action.chosen)
        await self.answers.modal.open(repository, conversation)

    async def _unpause(self, click: BlockActions, conversation: Conversation) -> None:
        target = actions.read_pause_target(click.action.chosen, self.repositories)
        request = UnpauseRequest(
            target.repository,
            conversation.actor,
            conversation.origin,
            conversation.channel_id,
            expected=target.paused_at,
        )
        on_card = click.action.block_id.startswith(pause_card.CARD_BLOCK)
        await self.answers.unpause(request, conversation, on_card=on_card)
        if conversation.response_url is not None and not conversation.in_channel_message:
            snapshot = await self.show_status.run(target.repository)
            await conversation.put_in_place(status.status(snapshot))

    async def _replace(self, click: BlockActions, conversation: Conversation) -> None:
        wanted = actions.read_replacement(click.action.chosen, self.repositories)
        request = PauseRequest(
            wanted.repository,
            wanted.reason,
            conversation.actor,
            conversation.origin,
            conversation.channel_id,
            replacing=wanted.paused_at,
            lasting=wanted.lasting,
        )
        await self._pause_in_place(request, conversation)

    async def _pause_chosen(self, click: BlockActions, conversation: Conversation) -> None:
        """The answer to whether a duration in the reason is the end of the pause."""
        wanted = actions.read_choice(click.action.chosen, self.repositories)
        if not wanted.reason:
            typed = written(wanted.lasting) if wanted.lasting is not None else None
            await self.answers.modal.open(wanted.repository, conversation, typed)
            await conversation.take_away()
            return
        request = PauseRequest(
            wanted.repository,
            wanted.reason,
            conversation.actor,
            conversation.origin,
            conversation.channel_id,
            lasting=wanted.lasting,
        )
        await self._pause_in_place(request, conversation)

    async def _pause_in_place(self, request: PauseRequest, conversation: Conversation) -> None:
        """What came of it takes the place of the question."""
        outcome = await self.answers.pause_queue.run(request)
        match outcome:
            case Paused(told=told):
                await conversation.put_in_place(pause.paused_reply(told.act))
                if not told.posted_here and conversation.response_url is not None:
                    await conversation.tell_channel(pause.act(told.act))
            case AlreadyPaused(known, reason, lasting, is_same):
                question = pause.already_paused(
                    request.repository, known, reason, lasting, is_same=is_same
                )
                await conversation.put_in_place(question)

    async def _extend(self, click: BlockActions, conversation: Conversation) -> None:
        length, value, had_end = actions.read_extend_value(click.action.chosen)
        target = actions.read_pause_target(value, self.repositories)
        lasting, _ = read_lasting([length])
        if lasting is None:
            await self.answers.extend_pause.permit(
                target.repository, conversation.actor, conversation.origin, conversation.channel_id
            )
            modal = timers.extend_modal(
                target.repository, value, conversation.channel_id, had_end=had_end
            )
            await conversation.open_modal(modal)
            return
        request = ExtendRequest(
            target.repository,
            lasting,
            conversation.actor,
            conversation.origin,
            conversation.channel_id,
            expected=target.paused_at,
            had_end=had_end,
        )
        await self.answers.extend(request, conversation)

    async def _snooze(self, click: BlockActions, conversation: Conversation) -> None:
        target = actions.read_pause_target(click.action.chosen, self.repositories)
        outcome = await self.snooze_reminders.run(
            SnoozeRequest(
                target.repository,
                target.paused_at,
                conversation.actor,
                conversation.origin,
                conversation.channel_id,
            )
        )
        match outcome:
            case NotPaused():
                await conversation.tell_actor(pause.not_paused(target.repository))
            case OtherPause(known=known):
                await conversation.tell_actor(pause.other_pause(target.repository, known))
            case Snoozed(next_at, repository, group):
                await conversation.tell_actor(reminders.snoozed(repository, next_at, group))

    async def _dismiss(self, _click: BlockActions, conversation: Conversation) -> None:
        await self.check_permission.require(conversation.actor, Right.READ)
        await conversation.take_away()

    async def _choose_in_modal(self, click: BlockActions, conversation: Conversation) -> None:
        view = click.view
        if view is None:
            return
        form = PauseForm.of(view)
        repository = self.repositories.allowed(form.repository_in(view) or "")
        modal = self.answers.modal
        await modal.permit(repository, conversation)
        await modal.complete(
            repository,
            OpenedModal(conversation.client, view.id, view.hash),
            conversation,
            form.lasting,
        )
