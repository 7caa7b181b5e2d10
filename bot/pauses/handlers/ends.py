"""The end of a pause, of a group's pauses and of a freeze: resuming, changing it, reminders."""

from functools import partial

from bot.acts.asked import Asked
from bot.acts.record import Action
from bot.blocks import controls, groups as block_groups
from bot.blocks.controls import Repeat
from bot.blocks.message import Message, View
from bot.desk.registry import Accepted, Call, field_checked, handles
from bot.freezes import actions as freeze_actions
from bot.freezes.handlers import answer_unchanged
from bot.freezes.texts import forms as freeze_forms
from bot.groups import handlers as group_handlers
from bot.kernel.durations import DurationProblem, Lasting, read_length
from bot.kernel.ends.phrases import read_end
from bot.kernel.errors import InvalidDuration
from bot.kernel.groups import Group, Target, target_value
from bot.kernel.repository import RepositoryName
from bot.pauses import actions as pause_actions
from bot.pauses.outcomes import NotPaused, OtherEnd, OtherPause, PauseChange
from bot.pauses.pause import DrawnLine, read_drawn_line
from bot.pauses.reminding import Snoozed
from bot.pauses.texts import (
    card as pause_card,
    ends as pause_ends,
    group_acts,
    reminders,
    replies as pause_replies,
)
from bot.queues.reading import read_queue
from bot.queues.texts import status as queue_status
from bot.slack.payloads import Interaction


@handles.click(pause_actions.RESUME, pause_actions.RESUME_OTHER)
async def press_resume(call: Call, click: Interaction) -> None:
    control = call.control(click)
    on_card = click.block_id.startswith(pause_card.PAUSE_CARD_BLOCK)
    await resume(call, control.target, read_drawn_line(control.drawn_for), on_card=on_card)
    is_private = call.response_url is not None and not call.in_channel_message
    if is_private and not isinstance(control.target, Group):
        snapshot = await read_queue(control.target, call.bot.sources)
        await call.replace_message(queue_status.status(snapshot))


@handles.command("resume")
async def resume(
    call: Call,
    target: Target,
    expected: DrawnLine | None = None,
    *,
    reason: str = "",
    on_card: bool = False,
) -> None:
    """`on_card`: the button was on a pause card, which is a live message."""
    if isinstance(target, Group):
        alone = await call.bot.use.groups.paused_alone(call.caller, target)
        if alone:
            await call.reply(group_acts.paused_alone(target, alone))
        else:
            await group_handlers.act_on_group(call, Action.RESUME, target, Asked(reason))
        return
    resuming = call.bot.use.resume_queue
    outcome = await resuming.run(call.caller, target, expected=expected, reason=reason)
    if isinstance(outcome, PauseChange):
        await _show_resumed(call, outcome)
        return
    if isinstance(outcome, NotPaused) and call.in_channel_message and not on_card:
        shown = pause_replies.pause_is_over(target)
        ended = outcome.ended
        if ended is not None and ended.says_still(expected):
            shown = pause_card.card(ended)
        await call.replace_message(shown)
    await call.reply(await _left_alone(call, target, outcome))


async def _left_alone(
    call: Call, repository: RepositoryName, found: NotPaused | OtherPause | OtherEnd
) -> Message:
    """Why nothing was changed; a queue that isn't paused may be frozen."""
    if isinstance(found, NotPaused) and not found.is_answer_lost:
        frozen = await call.bot.use.freeze_queue.known_in_force(repository)
        if frozen:
            return freeze_forms.frozen_not_paused(repository, frozen, call.bot.clock.now())
    return pause_replies.left_alone(repository, found)


async def _show_resumed(call: Call, change: PauseChange) -> None:
    if change.posted_here:
        if call.in_thread:
            await call.answer(pause_card.ended(change.pause, change.act.reason))
        return
    if call.in_channel_message:
        # There is no card here, so the button was on an earlier answer of the bot.
        await call.replace_message(pause_card.card(change.pause))
    await call.post_in_channel(pause_card.ended(change.pause, change.act.reason))


@handles.command("extend")
async def type_extend(
    call: Call,
    target: Target,
    *,
    lasting: Lasting | None,
    is_endless: bool,
    expected: DrawnLine | None = None,
    freeze_id: str | None = None,
) -> None:
    """Without an end, open the form; ask first if the end is far away.

    `expected`: what the pause says in whose thread it was typed; `freeze_id`: of the freeze.
    """
    if freeze_id is not None:
        await _type_end_of_freeze(call, controls.Control(target, freeze_id), lasting)
        return
    await call.permit(Action.EXTEND, target)
    is_one = not isinstance(target, Group) and expected is not None
    control = controls.Control(target, expected.written if is_one and expected else "")
    value = target_value(target)
    if is_one:
        value = controls.control_value(control.repository, control.drawn_for)
    if lasting is None and not is_endless:
        form = pause_ends.end_form(block_groups.named(target), value, call.channel_id)
        await call.open_modal(form)
        return
    asked = Asked(lasting=lasting)
    typed = await call.typed_ends(asked)
    if typed.is_doubt:
        raise InvalidDuration(DurationProblem.UNCLEAR, asked.written)
    settled = typed.with_end(asked)
    if typed.is_far and not asked.is_exact and settled.lasting is not None:
        at = typed.ends[0].at
        question = pause_ends.far_extension(
            block_groups.named(target), value, settled.lasting, at, typed.now
        )
        await call.reply(question)
        return
    seen = pause_actions.end_seen_by(lasting, pause_actions.EndSeen.SOME)
    await _extend(call, control, settled.lasting, seen)


async def _type_end_of_freeze(
    call: Call, control: controls.Control, lasting: Lasting | None
) -> None:
    """Without an end, open the form."""
    if lasting is None:
        await call.permit(Action.FREEZE, control.target)
        value = controls.control_value(control.repository, control.drawn_for)
        name = block_groups.named(control.target)
        form = pause_ends.end_form(
            name, value, call.channel_id, action_id=freeze_actions.FREEZE_END
        )
        # Where only a click opens a form, the click is about the same freeze.
        other_time = f"{pause_ends.OTHER_TIME} {value}"
        call.progress.repeat = Repeat(freeze_actions.FREEZE_END, other_time)
        await call.open_modal(form)
        return
    asked = Asked(lasting=lasting)
    typed = await call.typed_ends(asked)
    settled = typed.with_end(asked).lasting
    if typed.is_doubt or settled is None:
        raise InvalidDuration(DurationProblem.UNCLEAR, asked.written)
    seen = pause_actions.end_seen_by(lasting, pause_actions.EndSeen.SOME)
    await _change_end_of_freeze(call, control, settled, seen)


@handles.click(pause_actions.EXTEND, freeze_actions.FREEZE_END)
async def choose_end(call: Call, click: Interaction) -> None:
    """Any other time than those of the menu is typed into a form."""
    chosen = pause_actions.read_extend_value(click.chosen)
    control = call.control(chosen.target)
    is_freeze = click.action_id == freeze_actions.FREEZE_END
    if chosen.end != pause_ends.OTHER_TIME:
        change = _change_end_of_freeze if is_freeze else _extend
        await change(call, control, read_end(chosen.end), chosen.seen)
        return
    await call.permit(Action.FREEZE if is_freeze else Action.EXTEND, control.target)
    form = pause_ends.end_form(
        block_groups.named(control.target),
        chosen.target,
        call.channel_id,
        end_seen=chosen.seen,
        action_id=click.action_id,
    )
    await call.open_modal(form)


@handles.form(pause_actions.END_VIEW)
async def submit_end(call: Call, form: Interaction) -> Accepted:
    is_freeze = form.carried.action == freeze_actions.FREEZE_END
    with field_checked(form.end_block):
        asked, question = await call.end_in_field(Asked(lasting=read_end(form.end)), form)
        control = call.control(form.target)
    lasting = asked.lasting
    if lasting is None or question is not None:
        return Accepted(_again(call, form, control, question))
    value = pause_actions.extend_value(lasting, form.target, _end_seen(form))
    repeat = Repeat(freeze_actions.FREEZE_END if is_freeze else pause_actions.EXTEND, value)
    if isinstance(control.target, Group):
        return group_handlers.accept(
            call, Action.EXTEND, control.target, Asked(lasting=lasting), repeat
        )
    seen = pause_actions.end_seen_by(lasting, _end_seen(form))
    change = _change_end_of_freeze if is_freeze else _extend
    work = partial(change, control=control, lasting=lasting, seen=seen)
    return Accepted(pause_ends.end_under_way(control.repository), work, repeat)


def _end_seen(form: Interaction) -> pause_actions.EndSeen:
    """The end that it had when the form was opened; a form without that shows *Extend*."""
    name = form.carried.end_seen
    return pause_actions.EndSeen[name] if name else pause_actions.EndSeen.SOME


def _again(
    call: Call,
    form: Interaction,
    control: controls.Control,
    question: pause_ends.EndQuestion | None,
) -> View:
    """The form once more, with the date of an end that is far away."""
    return pause_ends.end_form(
        block_groups.named(control.target),
        form.target,
        call.channel_id,
        end_seen=_end_seen(form),
        action_id=form.carried.action,
        again=question,
    )


async def _change_end_of_freeze(
    call: Call, control: controls.Control, lasting: Lasting, seen: pause_actions.EndSeen
) -> None:
    repository = control.repository
    outcome = await call.bot.use.freeze_queue.change_end(
        call.caller, repository, lasting, freeze_id=control.drawn_for, seen=seen
    )
    if outcome.because is not None:
        await call.reply(answer_unchanged(call, repository, outcome))
    else:
        await call.reply(freeze_forms.end_changed(outcome.freezes[0], outcome.beside))


@handles.click(pause_actions.KEEP)
async def press_keep(call: Call, click: Interaction) -> None:
    await _extend(call, call.control(click), None, pause_actions.EndSeen.SOME)


async def _extend(
    call: Call, control: controls.Control, lasting: Lasting | None, seen: pause_actions.EndSeen
) -> None:
    if isinstance(control.target, Group):
        await group_handlers.act_on_group(
            call, Action.EXTEND, control.target, Asked(lasting=lasting)
        )
        return
    outcome = await call.bot.use.pause_queue.extend(
        call.caller, control.target, lasting, expected=read_drawn_line(control.drawn_for), seen=seen
    )
    if isinstance(outcome, OtherEnd):
        await call.reply(pause_ends.other_end(control.target, outcome.known, lasting))
    elif not isinstance(outcome, PauseChange):
        await call.reply(await _left_alone(call, control.target, outcome))
    elif call.view_id is not None or not outcome.posted_here:
        await call.reply(pause_ends.extended_reply(outcome.act))


@handles.click(pause_actions.SNOOZE)
async def snooze(call: Call, click: Interaction) -> None:
    length, value, _ = pause_actions.read_extend_value(click.chosen)
    control = call.control(value)
    wanted = read_length(length).length
    outcome = await call.bot.use.remind_of_pauses.snooze(
        call.caller, control.repository, read_drawn_line(control.drawn_for), wanted
    )
    if isinstance(outcome, Snoozed):
        said = reminders.snoozed(outcome.repository, outcome.next_at, outcome.group)
    else:
        said = pause_replies.left_alone(control.repository, outcome)
    await call.reply(said)
