"""Ends of pauses, and snoozing reminders."""

from bot.domain.durations import For, Lasting, read_lasting, read_whole
from bot.domain.pause_records import SHORTEST_SNOOZE
from bot.domain.pauses import Extended, NotPaused, OtherEnd, OtherPause
from bot.messages import actions, pause, reminders, timers
from bot.messages.text import escape
from bot.slack.handlers.registry import Call, handles
from bot.slack.payloads import Interaction
from bot.usecases.pausing.reminders import Snoozed


@handles.click(actions.EXTEND)
async def press_extend(call: Call, click: Interaction) -> None:
    length, value, had_end = actions.read_extend_value(click.chosen)
    target = actions.read_pause_target(value, call.bot.repositories)
    lasting, _ = read_lasting([length])
    if lasting is not None:
        await extend(call, target, lasting, had_end=had_end)
        return
    await call.bot.use.extend_pause.permit(call.caller, target.repository)
    form = timers.extend_form(escape(target.repository), value, call.channel_id, had_end=had_end)
    await call.open_modal(form)


@handles.click(actions.KEEP)
async def press_keep(call: Call, click: Interaction) -> None:
    target = actions.read_pause_target(click.chosen, call.bot.repositories)
    await extend(call, target, None, had_end=True)


async def extend(
    call: Call, target: actions.PauseTarget, lasting: Lasting | None, *, had_end: bool | None
) -> None:
    """`had_end`: whether the pause had an end when the menu was shown; None if irrelevant."""
    repository = target.repository
    outcome = await call.bot.use.extend_pause.run(
        call.caller, repository, lasting, expected=target.paused_at, had_end=had_end
    )
    match outcome:
        case Extended(change=change):
            if not change.posted_here:
                await call.reply(timers.extended_reply(change.act))
            elif call.view_id is not None:
                await call.replace_message(timers.extended_reply(change.act))
        case NotPaused():
            await call.reply(pause.not_paused(repository))
        case OtherPause(known=known):
            await call.reply(pause.other_pause(repository, known))
        case OtherEnd(known=known):
            await call.reply(timers.other_end(repository, known))


@handles.click(actions.SNOOZE)
async def snooze(call: Call, click: Interaction) -> None:
    length, value, _ = actions.read_extend_value(click.chosen)
    target = actions.read_pause_target(value, call.bot.repositories)
    lasting = read_whole(length)
    wanted = lasting.length if isinstance(lasting, For) else SHORTEST_SNOOZE
    outcome = await call.bot.use.snooze_reminders.run(
        call.caller, target.repository, target.paused_at, wanted
    )
    match outcome:
        case NotPaused():
            await call.reply(pause.not_paused(target.repository))
        case OtherPause(known=known):
            await call.reply(pause.other_pause(target.repository, known))
        case Snoozed(next_at, repository, group):
            await call.reply(reminders.snoozed(repository, next_at, group))
