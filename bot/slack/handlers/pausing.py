"""Pausing a queue or a group: the commands, the questions that they ask back, and the form."""

from functools import partial

from bot.domain.audit import Action
from bot.domain.commands.readers import TypedPause
from bot.domain.durations import Lasting, read_end, written
from bot.domain.errors import MergeQueueError
from bot.domain.group_acts import Asked, read_as_end, read_asked, read_kept
from bot.domain.groups import Group, Target
from bot.domain.message import View
from bot.domain.pauses import AlreadyPaused, PauseChange, PauseOutcome, check_reason
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import Impact
from bot.messages import actions, groups as group_messages, pause, pause_form
from bot.messages.text import clean
from bot.slack.conversation import Opened
from bot.slack.handlers import groups
from bot.slack.handlers.registry import Accepted, Call, field_checked, handles
from bot.slack.payloads import TEXT_KEPT, Interaction
from bot.usecases.asking.queues import read_queue, read_queues
from bot.usecases.pausing.group_work import GroupRequest


@handles.command("pause")
async def type_pause(call: Call, repository: RepositoryName, *, typed: TypedPause) -> None:
    """Without a reason, open the form."""
    if typed.reason is None:
        await open_form(call, repository, typed.lasting)
        return
    reason, use = clean(typed.reason, TEXT_KEPT), call.bot.use.pause_queue
    wanted = actions.PauseChoice(repository, reason, typed.lasting)
    if typed.doubtful is not None:
        await call.permit(Action.PAUSE, repository)
        before = clean(typed.reason_before or "", TEXT_KEPT)
        reason, impact = check_reason(reason), await use.impact(call.caller, repository)
        await call.reply(pause.is_it_an_end(repository, reason, before, typed.doubtful, impact))
    elif typed.is_confirmed:
        await pause_queue(call, wanted, in_place=False)
    else:
        outcome = await use.run_or_ask(call.caller, repository, reason, typed.lasting)
        if isinstance(outcome, Impact):
            await call.reply(pause.confirm(wanted, outcome, call.bot.command))
        else:
            await _show_outcome(call, wanted, outcome, in_place=False)


async def pause_queue(call: Call, wanted: actions.PauseChoice, *, in_place: bool = True) -> None:
    """`in_place`: the result replaces the question, or the form."""
    outcome = await call.bot.use.pause_queue.run(
        call.caller,
        wanted.repository,
        wanted.reason,
        lasting=wanted.lasting,
        replacing=wanted.replacing,
    )
    await _show_outcome(call, wanted, outcome, in_place=in_place)


async def _show_outcome(
    call: Call, wanted: actions.PauseChoice, outcome: PauseOutcome, *, in_place: bool
) -> None:
    match outcome:
        case PauseChange(act=act, posted_here=posted_here):
            if in_place:
                await call.replace_message(pause.paused_reply(act))
            elif posted_here and call.in_thread:
                await call.answer(pause.paused_reply(act))
            if not posted_here and (call.response_url or call.asked):
                await call.post_in_channel(pause.act(act))
        case AlreadyPaused(known, is_same):
            question = pause.already_paused(
                wanted.repository, known, wanted.reason, wanted.lasting, is_same=is_same
            )
            show = call.replace_message if in_place else call.reply
            await show(question)


@handles.click(
    actions.PAUSE_CONFIRMED, actions.PAUSE_FOR, actions.PAUSE_WITHOUT_END, actions.REPLACE
)
async def answer_question(call: Call, click: Interaction) -> None:
    """Whether to stop what runs or replace a pause, or whether the reason ends with an end."""
    wanted = actions.read_value(actions.PauseChoice, click.chosen, call.bot.repositories)
    if wanted.reason:
        await pause_queue(call, wanted)
        return
    await open_form(call, wanted.repository, wanted.lasting)
    await call.remove_message()


@handles.click(actions.DISMISS)
async def dismiss(call: Call, _click: Interaction) -> None:
    await call.admit()
    await call.remove_message()


@handles.command("pause @group")
async def type_group_pause(call: Call, group: Group, *, asked: str, is_confirmed: bool) -> None:
    """Ask for confirmation, showing the impact. Without a reason, open a form.

    Raises PermissionDenied, InvalidReason and InvalidDuration before anything is read.
    """
    asked = clean(asked, TEXT_KEPT)
    request = GroupRequest(group, call.caller, asked)
    await call.bot.use.pause_groups.work.permit(request, Action.PAUSE)
    wanted = read_asked(asked)
    if not wanted.reason:
        await open_form(call, group, wanted.lasting)
        return
    resumes_at = await call.bot.use.pause_groups.resumes_at(request)
    if is_confirmed and read_as_end(asked) is None:
        await groups.act(call, Action.PAUSE, request)
        return
    read = await read_queues(group.repositories, call.bot.sources)
    await call.reply(group_messages.confirm(group, asked, read, resumes_at))


@handles.click(actions.PAUSE_GROUP_FOR)
async def choose_group_end(call: Call, click: Interaction) -> None:
    """The end was typed after the reason, or instead of it: then a form asks for a reason."""
    request = groups.request_of(call, click)
    wanted = read_kept(request.asked)
    if wanted.reason:
        await groups.act(call, Action.PAUSE, request)
        return
    await open_form(call, request.group, wanted.lasting)
    await call.remove_message()


@handles.shortcut(actions.PAUSE_SHORTCUT, actions.PAUSE_BECAUSE_SHORTCUT)
async def open_from_shortcut(call: Call, shortcut: Interaction) -> None:
    """On a message, the reason begins with its address."""
    names, address = call.bot.repositories.names, await call.address_of(shortcut.message_ts)
    await open_form(call, names[0] if len(names) == 1 else None, reason=address or "")


@handles.click(actions.PAUSE)
async def press_pause(call: Call, click: Interaction) -> None:
    await open_form(call, call.bot.repositories.allowed(click.chosen))


@handles.click(actions.PAUSE_TARGET)
async def choose_in_form(call: Call, click: Interaction) -> None:
    await show_form(call, click, click.carried.end, click.carried.reason)


async def open_form(
    call: Call, target: Target | None, lasting: Lasting | None = None, reason: str = ""
) -> None:
    """A trigger is valid for three seconds, so the queues are read once the form is open.

    Raises PermissionDenied before the form opens. The check takes two seconds at most.
    """
    await call.permit(Action.PAUSE, target)
    end = written(lasting) if lasting is not None else None
    notes = [pause_form.READING if target is not None else pause_form.CHOOSE_FIRST]
    if isinstance(target, Group):
        notes = group_messages.notes(target, call.bot.command)
    opened = await call.open_modal(_form(call, target, notes, end, reason))
    if target is not None:
        await _show_impact(call, target, opened, end, reason)


async def show_form(call: Call, click: Interaction, end: str | None, reason: str) -> None:
    """Turn the form of the click into this one; raises PermissionDenied before."""
    target = call.bot.groups.target(click.target)
    await call.permit(Action.PAUSE, target)
    await _show_impact(call, target, (click.view_id, click.view_hash), end, reason)


async def _show_impact(
    call: Call, target: Target, opened: Opened, end: str | None, reason: str
) -> None:
    """Show in the form what pausing `target` would stop."""
    if isinstance(target, Group):
        read = await read_queues(target.repositories, call.bot.sources)
        notes = group_messages.notes(target, call.bot.command, read)
    else:
        try:
            notes = pause_form.queue_notes(await read_queue(target, call.bot.sources))
        except MergeQueueError:
            notes = [pause_form.UNREADABLE]
    await call.show_in_modal(opened, _form(call, target, notes, end, reason))


def _form(
    call: Call, target: Target | None, notes: list[str], end: str | None, reason: str
) -> View:
    return pause_form.form(
        call.bot.targets,
        chosen=target,
        channel_id=call.channel_id,
        notes=notes,
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
        await call.require_end(lasting)
    with field_checked(actions.REASON_BLOCK):
        asked = read_asked(form.reason) if lasting is None else Asked(form.reason, lasting)
        read_asked(asked.written)
        asked = Asked(check_reason(asked.reason), asked.lasting)
        await call.require_end(asked.lasting)
    if isinstance(target, Group):
        request = GroupRequest(target, call.caller, asked.written)
        return groups.accept(call, Action.PAUSE, request)
    wanted = actions.PauseChoice(target, asked.reason, asked.lasting)
    return pause_form.working_modal(target), partial(pause_queue, call, wanted)
