"""Pausing, resuming, extending and looking at a group of repositories."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from bot.domain.audit import Action
from bot.domain.durations import Lasting, read_whole, written
from bot.domain.group_acts import GroupAct, read_as_end, read_asked, read_kept
from bot.domain.groups import Group
from bot.domain.pauses import check_reason
from bot.messages import actions, timers
from bot.messages.groups import group_acts, group_form, group_question, group_status
from bot.messages.text import clean
from bot.ports import Clock
from bot.slack.conversation import Conversation
from bot.slack.handlers.pausing import REASON_KEPT
from bot.slack.handlers.registry import Accepted, Call, handles
from bot.slack.payloads import Interaction
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
    told_at: datetime = field(init=False)
    told: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.told_at = self.clock.now()

    async def __call__(self, progress: Progress) -> None:
        is_replaced = self.conversation.on_private_message
        gaps = GAPS if is_replaced else GAPS[:1]
        now = self.clock.now()
        is_over = progress.done >= progress.total
        if is_over or self.told >= len(gaps) or now - self.told_at < gaps[self.told]:
            return
        self.told += 1
        self.told_at = now
        message = group_acts.progress(
            progress.group.name, progress.action, progress.done, progress.total
        )
        tell = self.conversation.put_in_place if is_replaced else self.conversation.tell_actor
        await tell(message)


@handles.command("status @group")
async def show_group(call: Call, group: Group, *, first: int) -> None:
    page = await call.bot.use.show_group.page(group, first)
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
        await ask_why(call, group, wanted.lasting)
        return
    lifts_at = await call.bot.use.pause_group.lifts_at(request)
    if is_confirmed and read_as_end(asked) is None:
        await act(call, Action.PAUSE, request)
        return
    read = await call.bot.use.show_group.run(group)
    await call.tell_actor(group_question.confirm(group, asked, read, lifts_at))


async def ask_why(call: Call, group: Group, lasting: Lasting | None) -> None:
    """A trigger is valid for three seconds, so the queues are read once the form is open."""
    form = partial(
        group_form.form,
        group,
        command=call.bot.command,
        channel_id=call.channel_id,
        lasting=written(lasting) if lasting is not None else None,
    )
    opened = await call.open_modal(form())
    await opened.show(form(read=await call.bot.use.show_group.run(group)))


@handles.form(actions.PAUSE_GROUP_VIEW, mistakes_at=actions.REASON_BLOCK)
def submit_reason(call: Call, form: Interaction) -> Accepted:
    """A reason may begin with a duration, as in the command."""
    typed = clean(form.filled_in(actions.REASON_BLOCK, actions.REASON_ACTION), REASON_KEPT)
    chosen = form.filled_in(actions.LASTING_BLOCK, actions.LASTING_ACTION)
    asked = f"{chosen} {typed}".strip()
    group = call.bot.groups.named(form.carried.group)
    check_reason(read_asked(asked).reason)
    begun = group_form.begun(group, Action.PAUSE, call.channel_id)
    request = GroupRequest(group, call.caller, asked)
    return Accepted(begun, act(call, Action.PAUSE, request))


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
    await call.bot.use.pause_group.permit(request)
    await ask_why(call, request.group, wanted.lasting)
    await call.take_away()


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
    await call.open_modal(group_form.extend_form(group, call.channel_id, had_end=had_end))


@handles.click(actions.AGAIN_EXTEND_GROUP)
async def extend_again(call: Call, click: Interaction) -> None:
    await act(call, Action.EXTEND, _request_of(call, click))


@handles.form(actions.EXTEND_GROUP_VIEW, mistakes_at=actions.LASTING_BLOCK)
def submit_end(call: Call, form: Interaction) -> Accepted:
    asked = clean(form.filled_in(actions.LASTING_BLOCK, actions.LASTING_ACTION), REASON_KEPT)
    group = call.bot.groups.named(form.carried.target)
    read_whole(asked)
    begun = group_form.begun(group, Action.EXTEND, call.channel_id)
    return Accepted(begun, act(call, Action.EXTEND, GroupRequest(group, call.caller, asked)))


async def act(call: Call, action: Action, request: GroupRequest) -> None:
    """Act, and show the progress and the result."""
    if call.on_private_message:
        # The pressed button goes before anything happens.
        total = len(request.group.repositories)
        await call.put_in_place(group_acts.progress(request.group.name, action, 0, total))
    acts = {
        Action.PAUSE: call.bot.use.pause_group.run,
        Action.RESUME: call.bot.use.resume_group.run,
        Action.EXTEND: call.bot.use.extend_group.run,
    }
    ended = await acts[action](request, ProgressLine(call, call.bot.clock))
    await _end(call, ended, request.group)


async def _end(call: Call, ended: GroupAct | SinceThen | NothingHeld, group: Group) -> None:
    if isinstance(ended, SinceThen):
        message = group_acts.since_then(group.name, ended.latest)
    elif isinstance(ended, NothingHeld):
        message = group_acts.nothing_held(group.name)
    else:
        is_told = await _tell_channel(call, ended)
        if is_told and call.view_id is None:
            # Everybody in the channel sees the result, the actor too.
            if call.on_private_message:
                await call.take_away()
            return
        message = group_acts.answer(ended, posted_here=is_told)
    tell = call.put_in_place if call.on_private_message else call.tell_actor
    await tell(message)


async def _tell_channel(call: Call, ended: GroupAct) -> bool:
    """Whether the channel sees the result: as a post, or as a reply where the bot can't post."""
    if not ended.has_changed or call.channel_id is None:
        return False
    if call.channel_id not in ended.notified_together:
        await call.tell_channel(group_acts.act(ended))
    return True


def _request_of(call: Call, click: Interaction) -> GroupRequest:
    target = actions.read_group_target(click.chosen)
    group = call.bot.groups.named(target.group)
    return GroupRequest(group, call.caller, target.asked, target.again)
