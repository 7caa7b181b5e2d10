"""The end of a pause, of a group's pauses and of a freeze: resuming, changing it, reminders."""

from datetime import datetime
from functools import partial

from bot.domain.asked import Asked
from bot.domain.audit import Action
from bot.domain.durations import For, Lasting, read_end, read_lasting, read_whole
from bot.domain.groups import Group, Target
from bot.domain.pause_records import SHORTEST_SNOOZE
from bot.domain.pauses import NotPaused, PauseChange
from bot.messages import actions, freezing, pause, pause_card, reminders, status, timers
from bot.slack.handlers import groups
from bot.slack.handlers.freezes import unchanged
from bot.slack.handlers.registry import Accepted, Call, field_checked, handles
from bot.slack.payloads import Interaction
from bot.usecases.asking.queues import read_queue
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
        await groups.act(call, Action.RESUME, target)
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


@handles.click(actions.EXTEND, actions.FREEZE_END)
async def choose_end(call: Call, click: Interaction) -> None:
    """Any other time than those of the menu is typed into a form."""
    length, value, had_end = actions.read_extend_value(click.chosen)
    held, is_freeze = call.held(value), click.action_id == actions.FREEZE_END
    lasting, _ = read_lasting([length])
    if lasting is not None:
        change = _change_end_of_freeze if is_freeze else _extend
        await change(call, held, lasting, had_end=had_end)
        return
    await call.permit(Action.FREEZE if is_freeze else Action.EXTEND, held.target)
    form = timers.extend_form(
        freezing.named(held.target),
        value,
        call.channel_id,
        had_end=had_end,
        callback_id=actions.FREEZE_END_VIEW if is_freeze else actions.EXTEND_VIEW,
    )
    await call.open_modal(form)


@handles.form(actions.EXTEND_VIEW, actions.FREEZE_END_VIEW)
async def submit_end(call: Call, form: Interaction) -> Accepted:
    is_freeze = form.callback_id == actions.FREEZE_END_VIEW
    with field_checked(actions.END_BLOCK):
        lasting = read_end(form.typed_end)
        await call.end_of(lasting)
        held = call.held(form.target)
    if isinstance(held.target, Group):
        return groups.accept(call, Action.EXTEND, held.target, Asked(lasting=lasting))
    # A time of day doesn't depend on the earlier end.
    had_end = form.carried.had_end if isinstance(lasting, For) else None
    change = _change_end_of_freeze if is_freeze else _extend
    return timers.working_modal(), partial(change, call, held, lasting, had_end=had_end)


async def _change_end_of_freeze(
    call: Call, held: actions.Held, lasting: Lasting, *, had_end: bool | None
) -> None:
    """`had_end`: whether it had an end when the menu was shown; None if irrelevant."""
    repository = held.repository
    outcome = await call.bot.use.freeze_queue.change_end(
        call.caller, repository, lasting, freeze_id=held.drawn_for, had_end=had_end
    )
    if outcome.because is not None:
        await call.reply(unchanged(call, repository, outcome))
    else:
        await call.reply(freezing.end_changed(outcome.freezes[0]))


@handles.click(actions.KEEP)
async def press_keep(call: Call, click: Interaction) -> None:
    await _extend(call, call.held(click), None, had_end=True)


async def _extend(
    call: Call, held: actions.Held, lasting: Lasting | None, *, had_end: bool | None
) -> None:
    if isinstance(held.target, Group):
        await groups.act(call, Action.EXTEND, held.target, Asked(lasting=lasting))
        return
    outcome = await call.bot.use.pause_queue.extend(
        call.caller, held.target, lasting, expected=held.paused_at, had_end=had_end
    )
    if not isinstance(outcome, PauseChange):
        await call.reply(pause.left_alone(held.target, outcome))
    elif call.view_id is not None or not outcome.posted_here:
        await call.reply(timers.extended_reply(outcome.act))


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
