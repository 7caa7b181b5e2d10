"""Ends of pauses, and snoozing reminders."""

from bot.domain.durations import For, Lasting, read_lasting, read_whole
from bot.domain.pauses import Extended, NotPaused, OtherEnd, OtherPause
from bot.messages import actions, pause, reminders, timers
from bot.messages.text import clean
from bot.slack.handlers.pausing import REASON_KEPT
from bot.slack.handlers.registry import Accepted, Call, handles
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
    form = timers.extend_modal(target.repository, value, call.channel_id, had_end=had_end)
    await call.open_modal(form)


@handles.form(actions.EXTEND_VIEW, mistakes_at=actions.LASTING_BLOCK)
def submit_end(call: Call, form: Interaction) -> Accepted:
    typed = form.filled_in(actions.LASTING_BLOCK, actions.LASTING_ACTION)
    lasting = read_whole(clean(typed, REASON_KEPT))
    target = actions.read_pause_target(form.carried.target, call.bot.repositories)
    # A time of day doesn't depend on the earlier end.
    had_end = form.carried.had_end if isinstance(lasting, For) else None
    work = extend(call, target, lasting, had_end=had_end)
    return Accepted(timers.working_modal(), work, target.repository)


async def extend(
    call: Call, target: actions.PauseTarget, lasting: Lasting, *, had_end: bool | None
) -> None:
    """`had_end`: whether the pause had an end when the menu was shown; None if irrelevant."""
    repository = target.repository
    outcome = await call.bot.use.extend_pause.run(
        call.caller, repository, lasting, expected=target.paused_at, had_end=had_end
    )
    match outcome:
        case Extended(told=told):
            if not told.posted_here:
                await call.tell_actor(timers.extended_reply(told.act))
            elif call.view_id is not None:
                await call.put_in_place(timers.extended_reply(told.act))
        case NotPaused():
            await call.tell_actor(pause.not_paused(repository))
        case OtherPause(known=known):
            await call.tell_actor(pause.other_pause(repository, known))
        case OtherEnd(known=known):
            await call.tell_actor(timers.other_end(repository, known))


@handles.click(actions.SNOOZE)
async def snooze(call: Call, click: Interaction) -> None:
    target = actions.read_pause_target(click.chosen, call.bot.repositories)
    outcome = await call.bot.use.snooze_reminders.run(
        call.caller, target.repository, target.paused_at
    )
    match outcome:
        case NotPaused():
            await call.tell_actor(pause.not_paused(target.repository))
        case OtherPause(known=known):
            await call.tell_actor(pause.other_pause(target.repository, known))
        case Snoozed(next_at, repository, group):
            await call.tell_actor(reminders.snoozed(repository, next_at, group))
