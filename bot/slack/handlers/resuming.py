"""Resuming a queue or a group, and snoozing reminders."""

from datetime import datetime

from bot.domain.audit import Action
from bot.domain.durations import For, read_whole
from bot.domain.groups import Group, Target
from bot.domain.pause_records import SHORTEST_SNOOZE
from bot.domain.pauses import NotPaused, PauseChange
from bot.messages import actions, pause, pause_card, reminders, status
from bot.slack.handlers import groups
from bot.slack.handlers.registry import Call, handles
from bot.slack.payloads import Interaction
from bot.usecases.asking.queues import read_queue
from bot.usecases.pausing.group_work import GroupRequest
from bot.usecases.pausing.reminders import Snoozed


@handles.click(actions.RESUME, actions.RESUME_OTHER)
async def press_resume(call: Call, click: Interaction) -> None:
    held, on_card = call.held(click), click.block_id.startswith(pause_card.CARD_BLOCK)
    await resume(call, held.target, held.paused_at, on_card=on_card)
    is_private = call.response_url is not None and not call.in_channel_message
    if is_private and not isinstance(held.target, Group):
        snapshot = await read_queue(held.target, call.bot.sources)
        await call.replace_message(status.status(snapshot))


@handles.command("resume")
async def resume(
    call: Call, target: Target, expected: datetime | None = None, *, on_card: bool = False
) -> None:
    """`on_card`: the button was on a pause card, which is a live message."""
    if isinstance(target, Group):
        await groups.act(call, GroupRequest(Action.RESUME, target, call.caller))
        return
    outcome = await call.bot.use.resume_queue.run(call.caller, target, expected=expected)
    if isinstance(outcome, PauseChange):
        await _show_resumed(call, outcome)
        return
    if isinstance(outcome, NotPaused) and call.in_channel_message and not on_card:
        shown, ended = pause.over(target), outcome.ended
        if ended is not None and ended.is_of(expected):
            shown = pause_card.card(ended)
        await call.replace_message(shown)
    await call.reply(pause.left_alone(target, outcome))


async def _show_resumed(call: Call, change: PauseChange) -> None:
    if change.posted_here:
        if call.in_thread:
            await call.answer(pause_card.ended(change.pause))
        return
    if call.in_channel_message:
        # There is no card here, so the button was on an earlier answer of the bot.
        await call.replace_message(pause_card.card(change.pause))
    await call.post_in_channel(pause_card.ended(change.pause))


@handles.click(actions.SNOOZE)
async def snooze(call: Call, click: Interaction) -> None:
    length, value, _ = actions.read_extend_value(click.chosen)
    held, lasting = call.held(value), read_whole(length)
    wanted = lasting.length if isinstance(lasting, For) else SHORTEST_SNOOZE
    outcome = await call.bot.use.remind_of_pauses.snooze(
        call.caller, held.repository, held.paused_at, wanted
    )
    if isinstance(outcome, Snoozed):
        said = reminders.snoozed(outcome.repository, outcome.next_at, outcome.group)
    else:
        said = pause.left_alone(held.repository, outcome)
    await call.reply(said)
