"""Pausing, unpausing and extending one queue: typed, and pressed."""

from collections.abc import Mapping
from datetime import datetime

from typing_extensions import override

from bot.domain.durations import Lasting, read_lasting, written
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
from bot.messages import actions, pause, pause_card, reminders, status, timers
from bot.messages.groups import group_acts
from bot.messages.text import clean
from bot.slack.conversation import Conversation, OpenedModal
from bot.slack.handlers.pause_modal import PauseModal
from bot.slack.handlers.subject import OnClick, OnCommand, Shared, Subject
from bot.slack.payloads import BlockActions, PauseForm
from bot.usecases.pausing.reminders import Snoozed
from bot.usecases.pausing.watch_resume import Watching

REASON_KEPT = 4000
"""A reason is checked for its length after this cut, so that the check can name the length."""


class Pausing(Subject):
    """Each acts on the state now and says what is true, whether somebody typed or pressed."""

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared)
        self.modal = PauseModal(self.use.pause_queue, self.use.show_status, self.repositories)

    @override
    def on_command(self) -> Mapping[str, OnCommand]:
        return {"pause": self._pause_typed, "unpause": self._unpause_typed}

    @override
    def on_click(self) -> Mapping[str, OnClick]:
        return {
            actions.PAUSE: self._pause,
            actions.UNPAUSE: self._unpause_pressed,
            actions.REPLACE: self._replace,
            actions.PAUSE_FOR: self._pause_chosen,
            actions.PAUSE_WITHOUT_END: self._pause_chosen,
            actions.EXTEND: self._extend_pressed,
            actions.SNOOZE: self._snooze,
            actions.DISMISS: self._dismiss,
            actions.PAUSE_REPOSITORY: self._choose_in_modal,
            actions.WATCH: self._watch,
            actions.WATCH_GROUP: self._watch_group,
        }

    async def _pause_typed(
        self,
        repository: RepositoryName,
        conversation: Conversation,
        *,
        reason: str | None,
        lasting: Lasting | None,
        doubtful: Lasting | None,
        reason_before: str | None,
    ) -> None:
        """Without a reason the modal asks for it."""
        if reason is None:
            typed = written(lasting) if lasting is not None else None
            await self.modal.open(repository, conversation, typed)
            return
        if doubtful is not None:
            await self.modal.permit(repository, conversation)
            checked = check_reason(clean(reason, REASON_KEPT))
            before = clean(reason_before or "", REASON_KEPT)
            question = pause.is_it_an_end(repository, checked, before, doubtful)
            await conversation.tell_actor(question)
            return
        wanted = actions.PauseChoice(repository, clean(reason, REASON_KEPT), lasting)
        await self.pause(wanted, conversation, in_place=False)

    async def pause(
        self,
        wanted: actions.PauseChoice,
        conversation: Conversation,
        *,
        replacing: datetime | None = None,
        in_place: bool = True,
    ) -> None:
        """`in_place`: what came of it takes the place of the question, or of the form."""
        outcome = await self.use.pause_queue.run(
            conversation.caller,
            wanted.repository,
            wanted.reason,
            lasting=wanted.lasting,
            replacing=replacing,
        )
        match outcome:
            case Paused(told=told):
                if in_place:
                    await conversation.put_in_place(pause.paused_reply(told.act))
                if not told.posted_here and conversation.response_url is not None:
                    await conversation.tell_channel(pause.act(told.act))
            case AlreadyPaused(known, reason, lasting, is_same):
                question = pause.already_paused(
                    wanted.repository, known, reason, lasting, is_same=is_same
                )
                tell = conversation.put_in_place if in_place else conversation.tell_actor
                await tell(question)

    async def _unpause_typed(self, repository: RepositoryName, conversation: Conversation) -> None:
        await self.unpause(repository, conversation)

    async def unpause(
        self,
        repository: RepositoryName,
        conversation: Conversation,
        expected: datetime | None = None,
        *,
        on_card: bool = False,
    ) -> None:
        """`on_card`: a button of a pause's card was pressed, which is kept up to date elsewhere."""
        outcome = await self.use.unpause_queue.run(
            conversation.caller, repository, expected=expected
        )
        match outcome:
            case Unpaused(told=told):
                if not told.posted_here:
                    # No card is here: what was pressed is what the bot once answered with.
                    if conversation.in_channel_message:
                        await conversation.put_in_place(pause_card.card(told.pause))
                    await conversation.tell_channel(pause_card.ended(told.pause))
            case NotPaused(ended=ended):
                if conversation.in_channel_message and not on_card:
                    shown = pause.over(repository)
                    if ended is not None and ended.is_of(expected):
                        shown = pause_card.card(ended)
                    await conversation.put_in_place(shown)
                await conversation.tell_actor(pause.not_paused(repository, ended))
            case OtherPause(known=known):
                await conversation.tell_actor(pause.other_pause(repository, known))

    async def extend(
        self,
        target: actions.PauseTarget,
        lasting: Lasting,
        conversation: Conversation,
        *,
        had_end: bool | None,
    ) -> None:
        """`had_end`: whether the pause had an end when the menu was drawn, if that matters."""
        repository = target.repository
        outcome = await self.use.extend_pause.run(
            conversation.caller,
            repository,
            lasting,
            expected=target.paused_at,
            had_end=had_end,
        )
        match outcome:
            case Extended(told=told):
                if not told.posted_here:
                    await conversation.tell_actor(timers.extended_reply(told.act))
                elif conversation.view_id is not None:
                    await conversation.put_in_place(timers.extended_reply(told.act))
            case NotPaused():
                await conversation.tell_actor(pause.not_paused(repository))
            case OtherPause(known=known):
                await conversation.tell_actor(pause.other_pause(repository, known))
            case OtherEnd(known=known):
                await conversation.tell_actor(timers.other_end(repository, known))

    async def _pause(self, click: BlockActions, conversation: Conversation) -> None:
        repository = self.repositories.allowed(click.action.chosen)
        await self.modal.open(repository, conversation)

    async def _unpause_pressed(self, click: BlockActions, conversation: Conversation) -> None:
        target = actions.read_pause_target(click.action.chosen, self.repositories)
        on_card = click.action.block_id.startswith(pause_card.CARD_BLOCK)
        await self.unpause(target.repository, conversation, target.paused_at, on_card=on_card)
        if conversation.response_url is not None and not conversation.in_channel_message:
            snapshot = await self.use.show_status.run(target.repository)
            await conversation.put_in_place(status.status(snapshot))

    async def _replace(self, click: BlockActions, conversation: Conversation) -> None:
        wanted = actions.read_replacement(click.action.chosen, self.repositories)
        choice = actions.PauseChoice(wanted.repository, wanted.reason, wanted.lasting)
        await self.pause(choice, conversation, replacing=wanted.paused_at)

    async def _pause_chosen(self, click: BlockActions, conversation: Conversation) -> None:
        """The answer to whether a duration in the reason is the end of the pause."""
        wanted = actions.read_choice(click.action.chosen, self.repositories)
        if not wanted.reason:
            typed = written(wanted.lasting) if wanted.lasting is not None else None
            await self.modal.open(wanted.repository, conversation, typed)
            await conversation.take_away()
            return
        await self.pause(wanted, conversation)

    async def _extend_pressed(self, click: BlockActions, conversation: Conversation) -> None:
        length, value, had_end = actions.read_extend_value(click.action.chosen)
        target = actions.read_pause_target(value, self.repositories)
        lasting, _ = read_lasting([length])
        if lasting is None:
            await self.use.extend_pause.permit(conversation.caller, target.repository)
            modal = timers.extend_modal(
                target.repository, value, conversation.channel_id, had_end=had_end
            )
            await conversation.open_modal(modal)
            return
        await self.extend(target, lasting, conversation, had_end=had_end)

    async def _snooze(self, click: BlockActions, conversation: Conversation) -> None:
        target = actions.read_pause_target(click.action.chosen, self.repositories)
        outcome = await self.use.snooze_reminders.run(
            conversation.caller, target.repository, target.paused_at
        )
        match outcome:
            case NotPaused():
                await conversation.tell_actor(pause.not_paused(target.repository))
            case OtherPause(known=known):
                await conversation.tell_actor(pause.other_pause(target.repository, known))
            case Snoozed(next_at, repository, group):
                await conversation.tell_actor(reminders.snoozed(repository, next_at, group))

    async def _dismiss(self, _click: BlockActions, conversation: Conversation) -> None:
        await self.admit(conversation)
        await conversation.take_away()

    async def _choose_in_modal(self, click: BlockActions, conversation: Conversation) -> None:
        view = click.view
        if view is None:
            return
        form = PauseForm.of(view)
        repository = self.repositories.allowed(form.repository_in(view) or "")
        modal = self.modal
        await modal.permit(repository, conversation)
        await modal.complete(
            repository,
            OpenedModal(conversation.client, view.id, view.hash),
            conversation,
            form.lasting,
        )

    async def _watch(self, click: BlockActions, conversation: Conversation) -> None:
        repository = actions.read_pause_target(click.action.chosen, self.repositories).repository
        outcome = await self.use.watch_resume.run(repository, conversation.actor)
        if outcome is Watching.NOT_PAUSED:
            await conversation.tell_actor(pause.not_paused(repository))
        else:
            is_new = outcome is Watching.BEGUN
            await conversation.tell_actor(pause_card.will_tell(repository, is_new=is_new))

    async def _watch_group(self, click: BlockActions, conversation: Conversation) -> None:
        group = actions.read_group_target(click.action.chosen).group
        outcome = await self.use.watch_resume.of_group(group, conversation.actor)
        if outcome is Watching.NOT_PAUSED:
            await conversation.tell_actor(group_acts.nothing_held(group))
        else:
            is_new = outcome is Watching.BEGUN
            await conversation.tell_actor(group_acts.will_tell(group, is_new=is_new))
