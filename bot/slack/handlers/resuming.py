"""Resuming a queue, and snoozing reminders."""

from datetime import datetime

from bot.domain.durations import For, read_whole
from bot.domain.pause_records import SHORTEST_SNOOZE
from bot.domain.pauses import NotPaused, OtherPause, PauseChange
from bot.domain.repository import RepositoryName
from bot.messages import actions, pause, pause_card, reminders, status
from bot.slack.handlers.registry import Call, handles
from bot.slack.payloads import Interaction
from bot.usecases.asking.queues import read_queue
from bot.usecases.pausing.reminders import Snoozed


@handles.click(actions.RESUME, actions.RESUME_OTHER)
async def press_resume(call: Call, click: Interaction) -> None:
    target = actions.read_pause_target(click.chosen, call.bot.repositories)
    on_card = click.block_id.startswith(pause_card.CARD_BLOCK)
    await resume_queue(call, target.repository, target.paused_at, on_card=on_card)
    if call.response_url is not None and not call.in_channel_message:
        snapshot = await read_queue(target.repository, call.bot.sources)
        await call.replace_message(status.status(snapshot))


@handles.command("resume")
async def resume_queue(
    call: Call,
    repository: RepositoryName,
    expected: datetime | None = None,
    *,
    on_card: bool = False,
) -> None:
    """`on_card`: the button was on a pause card, which is a live message."""
    outcome = await call.bot.use.resume_queue.run(call.caller, repository, expected=expected)
    match outcome:
        case PauseChange():
            await _show_resumed(call, outcome)
        case NotPaused(ended=ended):
            if call.in_channel_message and not on_card:
                shown = pause.over(repository)
                if ended is not None and ended.is_of(expected):
                    shown = pause_card.card(ended)
                await call.replace_message(shown)
            await call.reply(pause.not_paused(repository, ended))
        case OtherPause(known=known):
            await call.reply(pause.other_pause(repository, known))


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
    target = actions.read_pause_target(value, call.bot.repositories)
    lasting = read_whole(length)
    wanted = lasting.length if isinstance(lasting, For) else SHORTEST_SNOOZE
    outcome = await call.bot.use.remind_of_pauses.snooze(
        call.caller, target.repository, target.paused_at, wanted
    )
    match outcome:
        case NotPaused():
            await call.reply(pause.not_paused(target.repository))
        case OtherPause(known=known):
            await call.reply(pause.other_pause(target.repository, known))
        case Snoozed(next_at, repository, group):
            await call.reply(reminders.snoozed(repository, next_at, group))
