"""Pausing, unpausing, extending and looking at a group of repositories: typed, and pressed."""

from collections.abc import Mapping
from functools import partial

from typing_extensions import override

from bot.domain.audit import Action
from bot.domain.durations import Lasting, written
from bot.domain.group_acts import GroupAct, read_asked, read_kept
from bot.domain.groups import Group
from bot.messages import actions, timers
from bot.messages.groups import group_acts, group_form, group_question, group_status
from bot.messages.text import clean
from bot.slack.conversation import Conversation
from bot.slack.handlers.pause_modal import show_if_unchanged
from bot.slack.handlers.pausing import REASON_KEPT
from bot.slack.handlers.progress import ProgressLine
from bot.slack.handlers.subject import OnClick, OnCommand, Subject
from bot.slack.payloads import BlockActions
from bot.usecases.pausing.group_work import GroupRequest, SinceThen
from bot.usecases.pausing.groups import NothingHeld


class GroupPausing(Subject):
    """Pausing a group is asked back with its impact; unpausing restores, and is done at once."""

    @override
    def on_command(self) -> Mapping[str, OnCommand]:
        return {
            "pause @group": self._confirm,
            "unpause @group": self._unpause_typed,
            "status @group": self._status,
        }

    @override
    def on_click(self) -> Mapping[str, OnClick]:
        return {
            actions.PAUSE_GROUP: partial(self._pressed, Action.PAUSE),
            actions.PAUSE_GROUP_FOR: self._pause_for,
            actions.AGAIN_PAUSE_GROUP: partial(self._pressed, Action.PAUSE),
            actions.UNPAUSE_GROUP: partial(self._pressed, Action.UNPAUSE),
            actions.AGAIN_UNPAUSE_GROUP: partial(self._pressed, Action.UNPAUSE),
            actions.EXTEND_GROUP: self._extend_pressed,
            actions.AGAIN_EXTEND_GROUP: partial(self._pressed, Action.EXTEND),
        }

    async def _confirm(self, group: Group, conversation: Conversation, *, asked: str) -> None:
        """Raises PermissionDenied, InvalidReason and InvalidDuration before anything is read.

        Without a reason a form asks for it.
        """
        asked = clean(asked, REASON_KEPT)
        request = self.request(group, conversation, asked)
        await self.use.pause_group.permit(request)
        wanted = read_asked(asked)
        if not wanted.reason:
            await self.ask_why(group, wanted.lasting, conversation)
            return
        lifts_at = await self.use.pause_group.lifts_at(request)
        read = await self.use.show_group.run(group)
        await conversation.tell_actor(group_question.confirm(group, asked, read, lifts_at))

    async def ask_why(
        self, group: Group, lasting: Lasting | None, conversation: Conversation
    ) -> None:
        """Slack takes a trigger for three seconds: the queues are read once the form is open."""
        typed = written(lasting) if lasting is not None else None
        channel_id = conversation.channel_id
        form = partial(
            group_form.form, group, command=self.command, channel_id=channel_id, lasting=typed
        )
        opened = await conversation.open_modal(form())
        read = await self.use.show_group.run(group)
        await show_if_unchanged(opened, form(read=read))

    async def _unpause_typed(self, group: Group, conversation: Conversation) -> None:
        await self.act(Action.UNPAUSE, self.request(group, conversation), conversation)

    async def _status(self, group: Group, conversation: Conversation, *, first: int) -> None:
        page = await self.use.show_group.page(group, first)
        message = group_status.status(
            group,
            page.read,
            first=page.first,
            total=page.total,
            paused_elsewhere=page.paused_elsewhere,
        )
        await conversation.answer(message)

    async def act(self, action: Action, request: GroupRequest, conversation: Conversation) -> None:
        """Acts, and shows how far it has come and how it ended."""
        if conversation.on_private_message:
            # A button that was pressed is gone before anything is done.
            total = len(request.group.repositories)
            begun = group_acts.progress(request.group.name, action, 0, total)
            await conversation.put_in_place(begun)
        acts = {
            Action.PAUSE: self.use.pause_group.run,
            Action.UNPAUSE: self.use.unpause_group.run,
            Action.EXTEND: self.use.extend_group.run,
        }
        ended = await acts[action](request, ProgressLine(conversation, self.clock))
        await self._end(ended, request.group, conversation)

    def request(
        self,
        group: Group,
        conversation: Conversation,
        asked: str = "",
        again: int | None = None,
    ) -> GroupRequest:
        return GroupRequest(group, conversation.caller, asked, again)

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
        if conversation.channel_id not in ended.notified_together:
            await conversation.tell_channel(group_acts.act(ended))
        return True

    async def _pressed(
        self, action: Action, click: BlockActions, conversation: Conversation
    ) -> None:
        await self.act(action, self._request_of(click, conversation), conversation)

    async def _pause_for(self, click: BlockActions, conversation: Conversation) -> None:
        """The end was typed behind the reason, or as the reason: then a form asks for one."""
        request = self._request_of(click, conversation)
        wanted = read_kept(request.asked)
        if wanted.reason:
            await self.act(Action.PAUSE, request, conversation)
            return
        await self.use.pause_group.permit(request)
        await self.ask_why(request.group, wanted.lasting, conversation)
        await conversation.take_away()

    async def _extend_pressed(self, click: BlockActions, conversation: Conversation) -> None:
        length, name, had_end = actions.read_extend_value(click.action.chosen)
        group = self.groups.named(name)
        if length == timers.OTHER:
            await self.use.extend_group.permit(self.request(group, conversation))
            form = group_form.extend_form(group, conversation.channel_id, had_end=had_end)
            await conversation.open_modal(form)
            return
        request = self.request(group, conversation, length)
        await self.act(Action.EXTEND, request, conversation)

    def _request_of(self, click: BlockActions, conversation: Conversation) -> GroupRequest:
        target = actions.read_group_target(click.action.chosen)
        group = self.groups.named(target.group)
        return self.request(group, conversation, target.asked, target.again)
