"""Acts on all repositories of a group, with their progress."""

from datetime import datetime, timedelta
from functools import partial

from bot.domain.group_acts import GroupAct
from bot.domain.message import Message
from bot.messages import actions, group_acts, pause_form
from bot.ports import Clock
from bot.slack.conversation import Conversation
from bot.slack.handlers.registry import Accepted, Call, handles
from bot.slack.payloads import Interaction
from bot.usecases.pausing.group_work import GroupRequest, Report, SinceThen

GAPS = (timedelta(seconds=1), timedelta(seconds=3))
"""Waits before each line. With the first line, the answer and the reply to the channel that makes
five replies, the most that Slack takes for one interaction."""


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


@handles.click(actions.AGAIN)
async def try_again(call: Call, click: Interaction) -> None:
    """Retry what failed of the act, as it was asked for."""
    await call.admit()
    mention, _, act_id = click.chosen.partition(" ")
    group = call.bot.groups.named(mention.removeprefix("@"))
    request = await call.bot.use.groups.again(call.caller, group, int(act_id))
    if request is None:
        await call.reply_in_place(group_acts.since_then(group.name, None))
    else:
        await act(call, request)


async def act(call: Call, request: GroupRequest) -> None:
    """Act, and show the progress and the result."""
    group = request.group
    if call.on_private_message:
        # The pressed button goes before anything happens.
        await call.replace_message(begun(request))
    ended = await call.bot.use.groups.act(request, progress_line(call, call.bot.clock))
    if isinstance(ended, SinceThen):
        await call.reply_in_place(group_acts.since_then(group.name, ended.latest))
    elif ended is None:
        await call.reply_in_place(group_acts.nothing_held(group.name))
    else:
        await _show_result(call, ended)


def begun(request: GroupRequest) -> Message:
    group = request.group
    return group_acts.progress(group.name, request.action, 0, len(group.repositories))


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


def accept(call: Call, request: GroupRequest) -> Accepted:
    """A form that acts on a group shows the progress."""
    shown = pause_form.result_modal(begun(request), call.channel_id)
    return shown, partial(act, call, request)
