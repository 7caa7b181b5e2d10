"""Answers to those who pause, unpause and look at a group of repositories."""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.domain.audit import Action
from bot.domain.commands import (
    GeneralCommand,
    GroupStatusCommand,
    PauseGroupCommand,
    UnpauseGroupCommand,
)
from bot.domain.durations import Lasting, written
from bot.domain.group_acts import GroupAct, read_asked
from bot.domain.groups import Group
from bot.domain.message import Message
from bot.messages.groups import group_acts, group_form, group_question, group_status
from bot.messages.text import clean
from bot.ports import Clock
from bot.slack.answers.answer import GeneralAnswer
from bot.slack.answers.modals import show_if_unchanged
from bot.slack.answers.pausing import REASON_KEPT
from bot.slack.answers.progress import ProgressLine
from bot.slack.replying.conversation import Conversation
from bot.usecases.asking.show_group import ShowGroup
from bot.usecases.pausing.extend_group import ExtendGroup, NothingHeld
from bot.usecases.pausing.group_work import GroupRequest, SinceThen
from bot.usecases.pausing.pause_group import PauseGroup
from bot.usecases.pausing.unpause_group import UnpauseGroup


@dataclass(frozen=True, slots=True)
class GroupAnswers:
    """Pausing a group is asked back with its impact; unpausing restores, and is done at once."""

    pause_group: PauseGroup
    unpause_group: UnpauseGroup
    extend_group: ExtendGroup
    show_group: ShowGroup
    clock: Clock

    def general(self) -> Mapping[type[GeneralCommand], GeneralAnswer]:
        return {
            PauseGroupCommand: self._confirm,
            UnpauseGroupCommand: self._unpause_typed,
            GroupStatusCommand: self._status,
        }

    async def _confirm(self, command: PauseGroupCommand, conversation: Conversation) -> None:
        """Raises PermissionDenied, InvalidReason and InvalidDuration before anything is read.

        Without a reason a form asks for it.
        """
        group, asked = command.group, clean(command.asked, REASON_KEPT)
        request = self.request(group, conversation, asked)
        await self.pause_group.permit(request)
        wanted = read_asked(asked)
        if not wanted.reason:
            await self.ask_why(group, wanted.lasting, conversation)
            return
        lifts_at = await self.pause_group.lifts_at(request)
        read = await self.show_group.run(group)
        await conversation.tell_actor(group_question.confirm(group, asked, read, lifts_at))

    async def ask_why(
        self, group: Group, lasting: Lasting | None, conversation: Conversation
    ) -> None:
        """Slack takes a trigger for three seconds: the queues are read once the form is open."""
        typed = written(lasting) if lasting is not None else None
        channel_id = conversation.channel_id
        opened = await conversation.open_modal(
            group_form.form(group, channel_id=channel_id, lasting=typed)
        )
        read = await self.show_group.run(group)
        view = group_form.form(group, channel_id=channel_id, read=read, lasting=typed)
        await show_if_unchanged(opened, view)

    async def _unpause_typed(
        self, command: UnpauseGroupCommand, conversation: Conversation
    ) -> None:
        await self.unpause(self.request(command.group, conversation), conversation)

    async def _status(self, command: GroupStatusCommand, conversation: Conversation) -> None:
        message = await self.status_page(command.group, 0)
        await conversation.tell_actor(message)

    async def status_page(self, group: Group, first: int) -> Message:
        page = await self.show_group.page(group, first)
        return group_status.status(
            group,
            page.read,
            first=page.first,
            total=page.total,
            paused_elsewhere=page.paused_elsewhere,
        )

    async def pause(self, request: GroupRequest, conversation: Conversation) -> None:
        """Acts, and shows how far it has come and how it ended."""
        await self._begin(request, Action.PAUSE, conversation)
        line = ProgressLine(conversation, self.clock)
        await self._end(await self.pause_group.run(request, line), request.group, conversation)

    async def unpause(self, request: GroupRequest, conversation: Conversation) -> None:
        """Acts, and shows how far it has come and how it ended."""
        await self._begin(request, Action.UNPAUSE, conversation)
        line = ProgressLine(conversation, self.clock)
        await self._end(await self.unpause_group.run(request, line), request.group, conversation)

    async def extend(self, request: GroupRequest, conversation: Conversation) -> None:
        """Acts, and shows how far it has come and how it ended."""
        await self._begin(request, Action.EXTEND, conversation)
        line = ProgressLine(conversation, self.clock)
        await self._end(await self.extend_group.run(request, line), request.group, conversation)

    def request(
        self,
        group: Group,
        conversation: Conversation,
        asked: str = "",
        again: int | None = None,
    ) -> GroupRequest:
        return GroupRequest(
            group,
            conversation.actor,
            conversation.origin,
            conversation.channel_id,
            asked,
            again,
        )

    async def _begin(
        self, request: GroupRequest, action: Action, conversation: Conversation
    ) -> None:
        """A button that was pressed is gone before anything is done."""
        if conversation.on_private_message:
            total = len(request.group.repositories)
            await conversation.put_in_place(
                group_acts.progress(request.group.name, action, 0, total)
            )

    async def _end(
        self,
        ended: GroupAct | SinceThen | NothingHeld,
        group: Group,
        conversation: Conversation,
    ) -> None:
        if isinstance(ended, SinceThen):
            message = group_acts.since_then(group.name, ended.latest)
        elif isinstance(ended, NothingHeld):
            message = group_acts.nothing_held(group.name)
        else:
            is_told = await self._tell_channel(ended, conversation)
            if is_told and conversation.view_id is None:
                # Everybody here reads the result, the actor too, however long it took.
                if conversation.on_private_message:
                    await conversation.take_away()
                return
            message = group_acts.answer(ended, posted_here=is_told)
        if conversation.on_private_message:
            await conversation.put_in_place(message)
        else:
            await conversation.tell_actor(message)

    async def _tell_channel(self, ended: GroupAct, conversation: Conversation) -> bool:
        """Whether everybody here is told: by a post, or by a reply where the bot cannot post."""
        if not ended.has_changed or conversation.channel_id is None:
            return False
        if conversation.channel_id not in ended.told_together:
            await conversation.tell_channel(group_acts.act(ended))
        return True
