"""Pausing a queue or a group: the command, the questions that it asks back, and the form."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from bot.domain.asked import NOTHING, Asked, read_asked
from bot.domain.audit import Action
from bot.domain.durations import read_end, written
from bot.domain.groups import Group, Target, repositories_of
from bot.domain.message import View
from bot.domain.pauses import AlreadyPaused, check_reason
from bot.domain.snapshots import ReadQueue
from bot.messages import actions, groups as group_messages, pause, pause_form
from bot.slack.conversation import Opened
from bot.slack.handlers import groups
from bot.slack.handlers.registry import Accepted, Call, field_checked, handles
from bot.slack.payloads import Interaction
from bot.usecases.asking.queues import read_queues


@handles.command("pause")
async def type_pause(call: Call, target: Target, *, asked: Asked, is_confirmed: bool) -> None:
    """Without a reason, open the form.

    Ask first if that stops something, or if the reason may end with a duration.
    """
    if not asked.reason:
        await open_form(call, target, asked)
        return
    timed = asked.with_end
    if is_confirmed and timed is None:
        await pause_target(call, target, asked, in_place=False)
        return
    await call.permit(Action.PAUSE, target, asked)
    check_reason(asked.reason)
    resumes_at = await call.end_of(asked.lasting)
    if isinstance(target, Group):
        read = await read_queues(target.repositories, call.bot.sources)
        await call.reply(group_messages.confirm(target, asked, read, resumes_at))
        return
    impact = await call.bot.use.pause_queue.impact(call.caller, target)
    if timed is not None:
        await call.reply(pause.is_it_an_end(target, asked, timed, impact))
    elif impact is not None:
        await call.reply(pause.confirm(target, asked, impact, call.bot.command))
    else:
        await pause_target(call, target, asked, in_place=False)


async def pause_target(
    call: Call,
    target: Target,
    asked: Asked,
    *,
    replacing: datetime | None = None,
    in_place: bool = True,
) -> None:
    """`in_place`: the result replaces the question, or the form."""
    if isinstance(target, Group):
        await groups.act(call, Action.PAUSE, target, asked)
        return
    outcome = await call.bot.use.pause_queue.run(
        call.caller, target, asked.reason, lasting=asked.lasting, replacing=replacing
    )
    if isinstance(outcome, AlreadyPaused):
        show = call.replace_message if in_place else call.reply
        known = outcome.known
        await show(pause.already_paused(target, known, asked, is_same=outcome.is_same))
        return
    if in_place:
        await call.replace_message(pause.paused_reply(outcome.act))
    elif outcome.posted_here and call.in_thread:
        await call.answer(pause.paused_reply(outcome.act))
    if not outcome.posted_here and (call.response_url or call.asked):
        await call.post_in_channel(pause.act(outcome.act))


@handles.click(
    actions.PAUSE_CONFIRMED, actions.PAUSE_FOR, actions.PAUSE_WITHOUT_END, actions.REPLACE
)
async def answer_question(call: Call, click: Interaction) -> None:
    """Whether to stop what runs or replace a pause, or whether the reason ends with an end."""
    choice = actions.read_value(actions.PauseChoice, click.chosen, call.bot.repositories)
    target = call.bot.groups.target(choice.target)
    if choice.asked.reason:
        await pause_target(call, target, choice.asked, replacing=choice.replacing)
        return
    await open_form(call, target, choice.asked)
    await call.remove_message()


@handles.click(actions.DISMISS)
async def dismiss(call: Call, _click: Interaction) -> None:
    await call.admit()
    await call.remove_message()


@handles.shortcut(actions.PAUSE_SHORTCUT, actions.PAUSE_BECAUSE_SHORTCUT)
async def open_from_shortcut(call: Call, shortcut: Interaction) -> None:
    """On a message, the reason begins with its address."""
    names, address = call.bot.repositories.names, await call.address_of(shortcut.message_ts)
    await open_form(call, names[0] if len(names) == 1 else None, Asked(address or ""))


@handles.click(actions.PAUSE)
async def press_pause(call: Call, click: Interaction) -> None:
    await open_form(call, call.held(click).target)


@handles.click(actions.PAUSE_TARGET)
async def choose_in_form(call: Call, click: Interaction) -> None:
    await show_form(call, click, click.carried.end, click.carried.reason)


async def open_form(call: Call, target: Target | None, asked: Asked = NOTHING) -> None:
    """A trigger is valid for three seconds, so the queues are read once the form is open.

    Raises PermissionDenied before the form opens. The check takes two seconds at most.
    """
    await call.permit(Action.PAUSE, target)
    end = written(asked.lasting) if asked.lasting is not None else None
    opened = await call.open_modal(_form(call, target, end, asked.reason))
    if target is not None:
        await _show_impact(call, target, opened, end, asked.reason)


async def show_form(call: Call, click: Interaction, end: str | None, reason: str) -> None:
    """Turn the form of the click into this one; raises PermissionDenied before."""
    target = call.bot.groups.target(click.target)
    await call.permit(Action.PAUSE, target)
    await _show_impact(call, target, (click.view_id, click.view_hash), end, reason)


async def _show_impact(
    call: Call, target: Target, opened: Opened, end: str | None, reason: str
) -> None:
    """Show in the form what pausing `target` would stop."""
    read = await read_queues(repositories_of(target), call.bot.sources)
    await call.show_in_modal(opened, _form(call, target, end, reason, read))


def _form(
    call: Call,
    target: Target | None,
    end: str | None,
    reason: str,
    read: Sequence[ReadQueue] = (),
) -> View:
    return pause_form.form(
        call.bot.targets,
        chosen=target,
        channel_id=call.channel_id,
        notes=group_messages.notes(target, call.bot.command, read),
        end=end,
        reason=reason,
    )


@handles.form(actions.PAUSE_VIEW)
async def submit_pause(call: Call, form: Interaction) -> Accepted:
    """The reason may begin with the end, as in the command."""
    is_menu = form.filled_in(actions.TARGET_BLOCK, actions.PAUSE_TARGET)
    with field_checked(actions.TARGET_BLOCK if is_menu else actions.REASON_BLOCK):
        target = call.bot.groups.target(form.target)
    with field_checked(actions.END_BLOCK):
        lasting = read_end(form.end) if form.end else None
        await call.end_of(lasting)
    with field_checked(actions.REASON_BLOCK):
        asked = read_asked(form.reason) if lasting is None else Asked(form.reason, lasting)
        read_asked(asked.written)
        check_reason(asked.reason)
        await call.end_of(asked.lasting)
    if isinstance(target, Group):
        return groups.accept(call, Action.PAUSE, target, asked)
    return pause_form.working_modal(target), partial(pause_target, call, target, asked)
