"""Pausing and resuming one queue: commands and buttons."""

from datetime import datetime

from bot.domain.commands.readers import TypedPause
from bot.domain.pauses import (
    AlreadyPaused,
    NotPaused,
    OtherPause,
    PauseChange,
    Paused,
    PauseOutcome,
    Resumed,
    WouldStop,
    check_reason,
)
from bot.domain.repository import RepositoryName
from bot.messages import actions, pause, pause_card, status
from bot.messages.text import clean
from bot.slack.handlers.pause_form import REASON_KEPT, open_form, permit
from bot.slack.handlers.registry import Call, handles
from bot.slack.payloads import Interaction
from bot.usecases.asking.queues import read_queue


@handles.command("pause")
async def type_pause(call: Call, repository: RepositoryName, *, typed: TypedPause) -> None:
    """Without a reason, open the form."""
    if typed.reason is None:
        await open_form(call, repository, typed.lasting)
        return
    reason = clean(typed.reason, REASON_KEPT)
    if typed.doubtful is not None:
        await permit(call, repository)
        wanted = actions.PauseChoice(repository, check_reason(reason), typed.doubtful)
        before = clean(typed.reason_before or "", REASON_KEPT)
        impact = await call.bot.use.pause_queue.impact(call.caller, repository)
        question = pause.is_it_an_end(repository, wanted.reason, before, typed.doubtful, impact)
        await call.reply(question)
        return
    wanted = actions.PauseChoice(repository, reason, typed.lasting)
    if typed.is_confirmed:
        await pause_queue(call, wanted, in_place=False)
        return
    outcome = await call.bot.use.pause_queue.run_or_ask(
        call.caller, repository, reason, typed.lasting
    )
    if isinstance(outcome, WouldStop):
        await call.reply(pause.confirm(wanted, outcome.impact, call.bot.command))
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
        case Paused(change=change):
            if in_place:
                await call.replace_message(pause.paused_reply(change.act))
            elif change.posted_here and call.in_thread:
                await call.answer(pause.paused_reply(change.act))
            if not change.posted_here and (call.response_url or call.asked):
                await call.post_in_channel(pause.act(change.act))
        case AlreadyPaused(known, reason, lasting, is_same):
            question = pause.already_paused(repository, known, reason, lasting, is_same=is_same)
            show = call.replace_message if in_place else call.reply
            await show(question)


@handles.click(actions.REPLACE)
async def replace_pause(call: Call, click: Interaction) -> None:
    wanted = actions.read_value(actions.Replacement, click.chosen, call.bot.repositories)
    choice = actions.PauseChoice(wanted.repository, wanted.reason, wanted.lasting)
    await pause_queue(call, choice, replacing=wanted.paused_at)


@handles.click(actions.PAUSE_CONFIRMED, actions.PAUSE_FOR, actions.PAUSE_WITHOUT_END)
async def choose_end(call: Call, click: Interaction) -> None:
    """The answer to what was asked back: what stops, or whether the reason ends with an end."""
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
        case Resumed(change=change):
            await _show_resumed(call, change)
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
