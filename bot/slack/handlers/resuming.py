"""Resuming a queue, the end of its pause, and snoozing reminders."""

from datetime import datetime

from bot.domain.audit import Action
from bot.domain.durations import (
    For,
    Lasting,
    read_end,
    read_lasting,
    read_whole,
    resumes_at,
    written,
)
from bot.domain.pause_records import SHORTEST_SNOOZE
from bot.domain.pauses import NotPaused, OtherEnd, OtherPause, PauseChange
from bot.domain.repository import RepositoryName
from bot.messages import actions, pause, pause_card, reminders, status, timers
from bot.messages.text import escape
from bot.slack.handlers import groups
from bot.slack.handlers.registry import Accepted, Call, field_checked, handles
from bot.slack.payloads import Interaction
from bot.usecases.asking.queues import read_queue
from bot.usecases.pausing.group_work import GroupRequest
from bot.usecases.pausing.reminders import Snoozed


@handles.command("resume")
async def type_resume(call: Call, repository: RepositoryName) -> None:
    await resume_queue(call, repository)


@handles.click(actions.RESUME, actions.RESUME_OTHER)
async def press_resume(call: Call, click: Interaction) -> None:
    target = actions.read_pause_target(click.chosen, call.bot.repositories)
    on_card = click.action.block_id.startswith(pause_card.CARD_BLOCK)
    await resume_queue(call, target.repository, target.paused_at, on_card=on_card)
    if call.response_url is not None and not call.in_channel_message:
        snapshot = await read_queue(target.repository, call.bot.sources)
        await call.replace_message(status.status(snapshot))


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


@handles.click(actions.EXTEND)
async def press_extend(call: Call, click: Interaction) -> None:
    length, value, had_end = actions.read_extend_value(click.chosen)
    target = actions.read_pause_target(value, call.bot.repositories)
    lasting, _ = read_lasting([length])
    if lasting is not None:
        await extend(call, target, lasting, had_end=had_end)
        return
    await call.bot.use.pause_queue.permit(call.caller, [target.repository], Action.EXTEND)
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
    outcome = await call.bot.use.pause_queue.extend(
        call.caller, repository, lasting, expected=target.paused_at, had_end=had_end
    )
    match outcome:
        case PauseChange(act=act, posted_here=posted_here):
            if not posted_here:
                await call.reply(timers.extended_reply(act))
            elif call.view_id is not None:
                await call.replace_message(timers.extended_reply(act))
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


@handles.form(actions.EXTEND_VIEW)
async def submit_end(call: Call, form: Interaction) -> Accepted:
    with field_checked(actions.END_BLOCK):
        lasting = read_end(form.typed_end)
        await require_end(call, lasting)
        if form.target.startswith("@"):
            group = call.bot.groups.named(form.target[1:])
            request = GroupRequest(group, call.caller, written(lasting))
            return groups.accept(call, Action.EXTEND, request)
        target = actions.read_pause_target(form.target, call.bot.repositories)
    # A time of day doesn't depend on the earlier end.
    had_end = form.carried.had_end if isinstance(lasting, For) else None
    work = extend(call, target, lasting, had_end=had_end)
    return Accepted(timers.working_modal(), work, target.repository)


async def require_end(call: Call, lasting: Lasting | None) -> None:
    """Raise InvalidDuration for an end that can't be, in the person's own time zone."""
    if lasting is not None:
        zone = await call.bot.use.check_permission.zone(call.actor)
        resumes_at(lasting, call.bot.clock.now(), zone)
