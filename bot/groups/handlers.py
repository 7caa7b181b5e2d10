"""Acts on all repositories of a group, with their progress."""

from datetime import datetime, timedelta
from functools import partial

from bot.acts.asked import NOTHING_ASKED, Asked
from bot.acts.group_act import GroupAct, GroupOutcome
from bot.acts.record import Action
from bot.blocks import modal
from bot.blocks.controls import Repeat
from bot.desk.registry import Accepted, Call, handles
from bot.kernel.clock import Clock
from bot.kernel.groups import Group
from bot.pauses import actions as pause_actions
from bot.pauses.group_work import Report, SinceThen
from bot.pauses.texts import group_acts
from bot.slack.conversation import Conversation
from bot.slack.payloads import Interaction

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
        now = clock.now()
        if due_at is None or now < due_at or done >= len(act.repositories):
            return
        gap = next(gaps, None)
        due_at = now + gap if gap is not None else None
        await conversation.show_progress(group_acts.progress(act, done))

    return report


@handles.click(pause_actions.AGAIN)
async def try_again(call: Call, click: Interaction) -> None:
    """Retry what failed of the act, as it was asked for."""
    await call.admit()
    mention, _, act_id = click.chosen.partition(" ")
    group = call.bot.groups.named(mention.removeprefix("@"))
    wanted = await call.bot.use.groups.again(call.caller, group, int(act_id))
    if wanted is None:
        await call.reply_in_place(group_acts.since_then(group.name, None))
    else:
        await carry_out(call, wanted, again=int(act_id))


async def act(call: Call, action: Action, group: Group, asked: Asked = NOTHING_ASKED) -> None:
    await carry_out(call, _wanted(call, action, group, asked))


async def carry_out(call: Call, wanted: GroupAct, *, again: int | None = None) -> None:
    """Act, and show the progress and the result."""
    if call.on_private_message:
        # The pressed button goes before anything happens.
        await call.show_progress(group_acts.progress(wanted, 0))
    report = progress_line(call, call.bot.clock)
    ended = await call.bot.use.groups.act(wanted, report, again=again)
    if isinstance(ended, SinceThen):
        await call.reply_in_place(group_acts.since_then(wanted.group, ended.latest))
    elif ended is None:
        await call.reply_in_place(group_acts.nothing_held(wanted.group))
    else:
        await _show_result(call, ended)
        if ended.of(GroupOutcome.UNCERTAIN):
            call.promise_outcome()


def _wanted(call: Call, action: Action, group: Group, asked: Asked) -> GroupAct:
    return GroupAct.by(call.caller, call.bot.clock.now(), action, group, asked)


async def _show_result(call: Call, ended: GroupAct) -> None:
    """To the channel as a post, or as a reply where the bot can't post; if nobody sees that, here.

    Everybody in the channel sees it, the actor too.
    """
    is_posted = ended.has_changed and call.channel_id is not None
    if is_posted and call.channel_id not in ended.notified_together:
        await call.post_without_card(group_acts.act(ended))
    if not is_posted or call.view_id is not None or call.in_thread:
        await call.reply_in_place(group_acts.answer(ended, posted_here=is_posted))
    elif call.on_private_message:
        await call.remove_message()


def accept(
    call: Call, action: Action, group: Group, asked: Asked, repeat: Repeat | None
) -> Accepted:
    """A form that acts on a group shows the progress."""
    wanted = _wanted(call, action, group, asked)
    shown = modal.result_modal(group_acts.progress(wanted, 0), call.channel_id)
    return Accepted(shown, partial(act, action=action, group=group, asked=asked), repeat)
