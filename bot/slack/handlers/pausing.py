"""Pausing and resuming one queue: commands, buttons and the form."""

from datetime import datetime

from bot.domain.commands.readers import TypedPause
from bot.domain.durations import Lasting, read_lasting, written
from bot.domain.errors import MergeQueueError
from bot.domain.message import View
from bot.domain.pauses import (
    AlreadyPaused,
    NotPaused,
    OtherPause,
    Paused,
    PauseOutcome,
    Resumed,
    WouldStop,
    check_reason,
)
from bot.domain.repository import RepositoryName
from bot.messages import actions, pause, pause_card, pause_form, status
from bot.messages.text import clean
from bot.slack.conversation import OpenedModal
from bot.slack.handlers.registry import Accepted, Call, handles
from bot.slack.payloads import Interaction

REASON_KEPT = 4000
"""Longer reasons are cut before their length is checked, so that the error can name it."""


@handles.command("pause")
async def type_pause(call: Call, repository: RepositoryName, *, typed: TypedPause) -> None:
    """Without a reason, open the form."""
    if typed.reason is None:
        await open_form(call, repository, _as_typed(typed.lasting))
        return
    reason = clean(typed.reason, REASON_KEPT)
    if typed.doubtful is not None:
        await permit(call, repository)
        wanted = actions.PauseChoice(repository, check_reason(reason), typed.doubtful)
        before = clean(typed.reason_before or "", REASON_KEPT)
        impact = await call.bot.use.pause_queue.impact(call.caller, repository)
        question = pause.is_it_an_end(repository, wanted.reason, before, typed.doubtful, impact)
        await call.tell_actor(question)
        return
    wanted = actions.PauseChoice(repository, reason, typed.lasting)
    if typed.is_confirmed:
        await pause_queue(call, wanted, in_place=False)
        return
    outcome = await call.bot.use.pause_queue.run_or_ask(
        call.caller, repository, reason, typed.lasting
    )
    if isinstance(outcome, WouldStop):
        await call.tell_actor(pause.confirm(wanted, outcome.impact, call.bot.command))
        return
    await _show_outcome(call, repository, outcome, in_place=False)


async def pause_queue(
    call: Call,
    wanted: actions.PauseChoice,
    *,
    replacing: datetime | None = None,
    in_place: bool = True,
) -> None:
    """`in_place`: the result replaces the question, or the form."""
    outcome = await call.bot.use.pause_queue.run(
        call.caller,
        wanted.repository,
        wanted.reason,
        lasting=wanted.lasting,
        replacing=replacing,
    )
    await _show_outcome(call, wanted.repository, outcome, in_place=in_place)


async def _show_outcome(
    call: Call, repository: RepositoryName, outcome: PauseOutcome, *, in_place: bool
) -> None:
    match outcome:
        case Paused(told=told):
            if in_place:
                await call.put_in_place(pause.paused_reply(told.act))
            if not told.posted_here and call.response_url is not None:
                await call.tell_channel(pause.act(told.act))
        case AlreadyPaused(known, reason, lasting, is_same):
            question = pause.already_paused(repository, known, reason, lasting, is_same=is_same)
            tell = call.put_in_place if in_place else call.tell_actor
            await tell(question)


@handles.click(actions.REPLACE)
async def replace_pause(call: Call, click: Interaction) -> None:
    wanted = actions.read_replacement(click.chosen, call.bot.repositories)
    choice = actions.PauseChoice(wanted.repository, wanted.reason, wanted.lasting)
    await pause_queue(call, choice, replacing=wanted.paused_at)


@handles.click(actions.PAUSE_CONFIRMED, actions.PAUSE_FOR, actions.PAUSE_WITHOUT_END)
async def choose_end(call: Call, click: Interaction) -> None:
    """The answer to what was asked back: what stops, or whether the reason ends with an end."""
    wanted = actions.read_choice(click.chosen, call.bot.repositories)
    if wanted.reason:
        await pause_queue(call, wanted)
        return
    await open_form(call, wanted.repository, _as_typed(wanted.lasting))
    await call.take_away()


@handles.click(actions.DISMISS)
async def dismiss(call: Call, _click: Interaction) -> None:
    await call.admit()
    await call.take_away()


@handles.command("resume")
async def type_resume(call: Call, repository: RepositoryName) -> None:
    await resume_queue(call, repository)


@handles.click(actions.RESUME)
async def press_resume(call: Call, click: Interaction) -> None:
    target = actions.read_pause_target(click.chosen, call.bot.repositories)
    on_card = click.action.block_id.startswith(pause_card.CARD_BLOCK)
    await resume_queue(call, target.repository, target.paused_at, on_card=on_card)
    if call.response_url is not None and not call.in_channel_message:
        snapshot = await call.bot.use.show_status.run(target.repository)
        await call.put_in_place(status.status(snapshot))


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
        case Resumed(told=told):
            if not told.posted_here:
                # There is no card here, so the button was on an earlier answer of the bot.
                if call.in_channel_message:
                    await call.put_in_place(pause_card.card(told.pause))
                await call.tell_channel(pause_card.ended(told.pause))
        case NotPaused(ended=ended):
            if call.in_channel_message and not on_card:
                shown = pause.over(repository)
                if ended is not None and ended.is_of(expected):
                    shown = pause_card.card(ended)
                await call.put_in_place(shown)
            await call.tell_actor(pause.not_paused(repository, ended))
        case OtherPause(known=known):
            await call.tell_actor(pause.other_pause(repository, known))


@handles.shortcut(actions.PAUSE_SHORTCUT)
async def open_from_shortcut(call: Call, _shortcut: Interaction) -> None:
    names = call.bot.repositories.names
    await open_form(call, names[0] if len(names) == 1 else None)


@handles.click(actions.PAUSE)
async def press_pause(call: Call, click: Interaction) -> None:
    await open_form(call, call.bot.repositories.allowed(click.chosen))


@handles.click(actions.PAUSE_REPOSITORY)
async def choose_in_form(call: Call, click: Interaction) -> None:
    if click.view is None:
        return
    repository = call.bot.repositories.allowed(click.repository)
    await permit(call, repository)
    opened = OpenedModal(call.client, click.view.id, click.view.hash)
    await _show_impact(call, repository, opened, click.carried.lasting)


@handles.form(actions.PAUSE_VIEW, mistakes_at=actions.REASON_BLOCK)
def submit_reason(call: Call, form: Interaction) -> Accepted:
    reason = check_reason(
        clean(form.filled_in(actions.REASON_BLOCK, actions.REASON_ACTION), REASON_KEPT)
    )
    repository = call.bot.repositories.allowed(form.repository)
    lasting, _ = read_lasting(form.filled_in(actions.LASTING_BLOCK, actions.LASTING_ACTION).split())
    wanted = actions.PauseChoice(repository, reason, lasting)
    return Accepted(pause_form.working_modal(repository), pause_queue(call, wanted), repository)


async def open_form(call: Call, chosen: RepositoryName | None, lasting: str | None = None) -> None:
    """A trigger is valid for three seconds, so the queue is read once the form is open.

    Raises PermissionDenied before the form opens. The check takes two seconds at most.
    """
    await permit(call, chosen)
    note = pause_form.READING if chosen else pause_form.CHOOSE_FIRST
    opened = await call.open_modal(_form(call, chosen, note, lasting))
    if chosen is not None:
        await _show_impact(call, chosen, opened, lasting)


async def permit(call: Call, chosen: RepositoryName | None) -> None:
    """Raises PermissionDenied, recorded once even if several repositories may be meant."""
    names = call.bot.repositories.names if chosen is None else (chosen,)
    await call.bot.use.pause_queue.permit(call.caller, names)


async def _show_impact(
    call: Call, chosen: RepositoryName, opened: OpenedModal, lasting: str | None
) -> None:
    """Show in the form what pausing `chosen` would stop."""
    try:
        note = pause_form.impact_note(await call.bot.use.show_status.run(chosen))
    except MergeQueueError:
        note = pause_form.UNREADABLE
    await opened.show(_form(call, chosen, note, lasting))


def _form(call: Call, chosen: RepositoryName | None, note: str, lasting: str | None) -> View:
    return pause_form.reason_modal(
        call.bot.repositories.names,
        chosen=chosen,
        channel_id=call.channel_id,
        note=note,
        lasting=lasting,
    )


def _as_typed(lasting: Lasting | None) -> str | None:
    return written(lasting) if lasting is not None else None
