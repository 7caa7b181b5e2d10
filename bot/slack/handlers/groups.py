"""Pausing, resuming, extending and looking at a group of repositories."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.domain.audit import Action
from bot.domain.group_acts import GroupAct, read_as_end, read_asked, read_kept
from bot.domain.groups import Group, target_value
from bot.messages import actions, timers
from bot.messages.groups import group_acts, group_question, group_status
from bot.messages.groups.names import name_of
from bot.messages.text import clean
from bot.ports import Clock
from bot.slack.conversation import Conversation
from bot.slack.handlers.pause_form import REASON_KEPT, open_form
from bot.slack.handlers.registry import Call, handles
from bot.slack.payloads import Interaction
from bot.usecases.asking.queues import group_page, read_queues
from bot.usecases.pausing.group_work import GroupRequest, Progress, SinceThen
from bot.usecases.pausing.groups import NothingHeld

GAPS = (timedelta(seconds=1), timedelta(seconds=3))
"""Waits before each line. With the first line, the answer and the reply to the channel that makes
five replies, the most that Slack takes for one interaction."""


@dataclass(slots=True)
class ProgressLine:
    """Shows only the actor how far an act on a group has come.

    If they pressed a button in a message that only they see, that message is updated. Otherwise
    one line appears if the act takes longer than a moment, and the result follows it.
    """

    conversation: Conversation
    clock: Clock
    reported_at: datetime = field(init=False)
    reports: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.reported_at = self.clock.now()

    async def __call__(self, progress: Progress) -> None:
        is_replaced = self.conversation.on_private_message
        gaps = GAPS if is_replaced else GAPS[:1]
        now = self.clock.now()
        is_over = progress.done >= progress.total
        if is_over or self.reports >= len(gaps) or now - self.reported_at < gaps[self.reports]:
            return
        self.reports += 1
        self.reported_at = now
        message = group_acts.progress(
            progress.group.name, progress.action, progress.done, progress.total
        )
        show = self.conversation.replace_message if is_replaced else self.conversation.reply
        await show(message)


@handles.command("status @group")
async def show_group(call: Call, group: Group, *, first: int) -> None:
    page = await group_page(group, first, call.bot.sources)
    message = group_status.status(
        group,
        page.read,
        first=page.first,
        total=page.total,
        paused_elsewhere=page.paused_elsewhere,
    )
    await call.answer(message)


@handles.command("pause @group")
async def type_pause(call: Call, group: Group, *, asked: str, is_confirmed: bool) -> None:
    """Ask for confirmation, showing the impact. Without a reason, open a form.

    Raises PermissionDenied, InvalidReason and InvalidDuration before anything is read.
    """
    asked = clean(asked, REASON_KEPT)
    request = GroupRequest(group, call.caller, asked)
    await call.bot.use.pause_group.permit(request)
    wanted = read_asked(asked)
    if not wanted.reason:
        await open_form(call, group, wanted.lasting)
        return
    resumes_at = await call.bot.use.pause_group.resumes_at(request)
    if is_confirmed and read_as_end(asked) is None:
        await act(call, Action.PAUSE, request)
        return
    read = await read_queues(group.repositories, call.bot.sources)
    await call.reply(group_question.confirm(group, asked, read, resumes_at))


@handles.click(actions.PAUSE_GROUP, actions.AGAIN_PAUSE_GROUP)
async def press_pause(call: Call, click: Interaction) -> None:
    await act(call, Action.PAUSE, _request_of(call, click))


@handles.click(actions.PAUSE_GROUP_FOR)
async def choose_end(call: Call, click: Interaction) -> None:
    """The end was typed after the reason, or instead of it: then a form asks for a reason."""
    request = _request_of(call, click)
    wanted = read_kept(request.asked)
    if wanted.reason:
        await act(call, Action.PAUSE, request)
        return
    await open_form(call, request.group, wanted.lasting)
    await call.remove_message()


@handles.command("resume @group")
async def type_resume(call: Call, group: Group) -> None:
    await act(call, Action.RESUME, GroupRequest(group, call.caller))


@handles.click(actions.RESUME_GROUP, actions.AGAIN_RESUME_GROUP)
async def press_resume(call: Call, click: Interaction) -> None:
    await act(call, Action.RESUME, _request_of(call, click))


@handles.click(actions.EXTEND_GROUP)
async def press_extend(call: Call, click: Interaction) -> None:
    length, name, had_end = actions.read_extend_value(click.chosen)
    group = call.bot.groups.named(name)
    if length != timers.OTHER:
        await act(call, Action.EXTEND, GroupRequest(group, call.caller, length))
        return
    await call.bot.use.extend_group.permit(GroupRequest(group, call.caller))
    form = timers.extend_form(
        name_of(group.name), target_value(group), call.channel_id, had_end=had_end
    )
    await call.open_modal(form)


@handles.click(actions.AGAIN_FREEZE_GROUP)
async def freeze_again(call: Call, click: Interaction) -> None:
    await act(call, Action.FREEZE, _request_of(call, click))


@handles.click(actions.AGAIN_UNFREEZE_GROUP)
async def unfreeze_again(call: Call, click: Interaction) -> None:
    await act(call, Action.UNFREEZE, _request_of(call, click))


@handles.click(actions.AGAIN_EXTEND_GROUP)
async def extend_again(call: Call, click: Interaction) -> None:
    await act(call, Action.EXTEND, _request_of(call, click))


async def act(call: Call, action: Action, request: GroupRequest) -> None:
    """Act, and show the progress and the result."""
    if call.on_private_message:
        # The pressed button goes before anything happens.
        total = len(request.group.repositories)
        await call.replace_message(group_acts.progress(request.group.name, action, 0, total))
    acts = {
        Action.PAUSE: call.bot.use.pause_group.run,
        Action.RESUME: call.bot.use.resume_group.run,
        Action.EXTEND: call.bot.use.extend_group.run,
        Action.FREEZE: call.bot.use.freeze_group.freeze,
        Action.UNFREEZE: call.bot.use.freeze_group.unfreeze,
    }
    ended = await acts[action](request, ProgressLine(call, call.bot.clock))
    await _end(call, ended, request.group)


async def _end(call: Call, ended: GroupAct | SinceThen | NothingHeld, group: Group) -> None:
    if isinstance(ended, SinceThen):
        message = group_acts.since_then(group.name, ended.latest)
    elif isinstance(ended, NothingHeld):
        message = group_acts.nothing_held(group.name)
    else:
        is_posted = await _post_in_channel(call, ended)
        if is_posted and call.view_id is None and not call.in_thread:
            # Everybody in the channel sees the result, the actor too.
            if call.on_private_message:
                await call.remove_message()
            return
        message = group_acts.answer(ended, posted_here=is_posted)
    show = call.replace_message if call.on_private_message else call.reply
    await show(message)


async def _post_in_channel(call: Call, ended: GroupAct) -> bool:
    """Whether the channel sees the result: as a post, or as a reply where the bot can't post."""
    if not ended.has_changed or call.channel_id is None:
        return False
    if call.channel_id not in ended.notified_together:
        await call.post_in_channel(group_acts.act(ended))
    return True


def _request_of(call: Call, click: Interaction) -> GroupRequest:
    target = actions.read_value(actions.GroupTarget, click.chosen, call.bot.repositories)
    group = call.bot.groups.named(target.group)
    return GroupRequest(group, call.caller, target.asked, target.again)
