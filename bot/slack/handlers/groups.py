"""Acts on all repositories of a group, with their progress, and the status of a group."""

from datetime import datetime, timedelta
from functools import partial

from bot.domain.audit import Action
from bot.domain.group_acts import GroupAct
from bot.domain.groups import Group
from bot.messages import actions, group_acts, groups, pause_form
from bot.ports import Clock
from bot.slack.conversation import Conversation
from bot.slack.handlers.registry import Accepted, Call, handles
from bot.slack.payloads import Interaction
from bot.usecases.asking.queues import group_page
from bot.usecases.pausing.group_work import GroupRequest, Report, SinceThen

GAPS = (timedelta(seconds=1), timedelta(seconds=3))
"""Waits before each line. With the first line, the answer and the reply to the channel that makes
five replies, the most that Slack takes for one interaction."""

PRESSED = {
    actions.PAUSE_GROUP: Action.PAUSE,
    actions.AGAIN_PAUSE_GROUP: Action.PAUSE,
    actions.RESUME_GROUP: Action.RESUME,
    actions.AGAIN_RESUME_GROUP: Action.RESUME,
    actions.AGAIN_EXTEND_GROUP: Action.EXTEND,
    actions.AGAIN_FREEZE_GROUP: Action.FREEZE,
    actions.AGAIN_UNFREEZE_GROUP: Action.UNFREEZE,
}
"""The buttons that act on a group immediately."""


def progress_line(conversation: Conversation, clock: Clock) -> Report:
    """Shows only the actor how far an act on a group has come.

    If they pressed a button in a message that only they see, that message is updated. Otherwise
    one line appears if the act takes longer than a moment, and the result follows it.
    """
    gaps = iter(GAPS if conversation.on_private_message else GAPS[:1])
    due_at: datetime | None = clock.now() + next(gaps)

    async def report(act: GroupAct, done: int) -> None:
        nonlocal due_at
        now, total = clock.now(), len(act.repositories)
        if due_at is None or now < due_at or done >= total:
            return
        gap = next(gaps, None)
        due_at = now + gap if gap is not None else None
        line = group_acts.progress(act.group, act.action, done, total)
        await conversation.reply_in_place(line)

    return report


@handles.command("status @group")
async def show_group(call: Call, group: Group, *, first: int) -> None:
    page = await group_page(group, first, call.bot.sources)
    message = groups.status(
        group,
        page.read,
        first=page.first,
        total=page.total,
        paused_elsewhere=page.paused_elsewhere,
    )
    await call.answer(message)


@handles.command("resume @group")
async def type_resume(call: Call, group: Group) -> None:
    await act(call, Action.RESUME, GroupRequest(group, call.caller))


@handles.click(*PRESSED)
async def press(call: Call, click: Interaction) -> None:
    await act(call, PRESSED[click.action_id], request_of(call, click))


def request_of(call: Call, click: Interaction) -> GroupRequest:
    target = actions.read_value(actions.GroupTarget, click.chosen, call.bot.repositories)
    group = call.bot.groups.named(target.group)
    return GroupRequest(group, call.caller, target.asked, target.again)


async def act(call: Call, action: Action, request: GroupRequest) -> None:
    """Act, and show the progress and the result."""
    group, use = request.group, call.bot.use
    if call.on_private_message:
        # The pressed button goes before anything happens.
        begun = group_acts.progress(group.name, action, 0, len(group.repositories))
        await call.replace_message(begun)
    acts = {
        Action.PAUSE: use.pause_groups.pause,
        Action.RESUME: use.pause_groups.resume,
        Action.EXTEND: use.pause_groups.extend,
        Action.FREEZE: use.freeze_group.freeze,
        Action.UNFREEZE: use.freeze_group.unfreeze,
    }
    ended = await acts[action](request, progress_line(call, call.bot.clock))
    if isinstance(ended, SinceThen):
        await call.reply_in_place(group_acts.since_then(group.name, ended.latest))
    elif ended is None:
        await call.reply_in_place(group_acts.nothing_held(group.name))
    else:
        await _show_result(call, ended)


async def _show_result(call: Call, ended: GroupAct) -> None:
    """To the channel as a post, or as a reply where the bot can't post; if nobody sees that, here.

    Everybody in the channel sees it, the actor too.
    """
    is_posted = ended.has_changed and call.channel_id is not None
    if is_posted and call.channel_id not in ended.notified_together:
        await call.post_in_channel(group_acts.act(ended))
    if not is_posted or call.view_id is not None or call.in_thread:
        await call.reply_in_place(group_acts.answer(ended, posted_here=is_posted))
    elif call.on_private_message:
        await call.remove_message()


def accept(call: Call, action: Action, request: GroupRequest) -> Accepted:
    """A form that acts on a group shows the progress."""
    begun = group_acts.progress(request.group.name, action, 0, len(request.group.repositories))
    shown = pause_form.result_modal(begun, call.channel_id)
    return shown, partial(act, call, action, request)
