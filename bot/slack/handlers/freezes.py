"""Freezes, and the button on the plan of a pause: commands, buttons and forms."""

from dataclasses import replace
from functools import partial

from bot.domain.audit import Action
from bot.domain.durations import DurationProblem
from bot.domain.errors import FreezesNotOffered, InvalidDuration, MergeQueueError
from bot.domain.freezing import FreezeOutcome, TypedFreeze, read_freeze, read_options
from bot.domain.groups import Group, Target, target_value
from bot.domain.message import Message
from bot.domain.pauses import check_reason
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import Snapshot
from bot.messages import actions, freezes, freezing, pause_form
from bot.messages.text import clean
from bot.slack.handlers import groups, pausing
from bot.slack.handlers.registry import Accepted, Call, field_checked, handles
from bot.slack.payloads import TEXT_KEPT, Interaction
from bot.usecases.asking.queues import read_queues
from bot.usecases.pausing.group_work import GroupRequest


@handles.command("freeze", "freeze @group")
async def type_freeze(
    call: Call, target: Target, *, typed: TypedFreeze, is_confirmed: bool
) -> None:
    """Without a reason, open the form; ask first if the freeze is long, or of several queues."""
    use, typed = call.bot.use.freeze_queue, replace(typed, reason=clean(typed.reason, TEXT_KEPT))
    await call.permit(Action.FREEZE, target)
    if not typed.reason:
        await open_form(call, target, typed)
        return
    check_reason(typed.reason)
    terms = await use.terms(call.caller, typed)
    try:
        is_several = isinstance(target, Group)
        if is_confirmed or not (is_several or await use.asks_first(call.caller, terms)):
            await freeze(call, target, typed)
            return
        queued = await _queued(call, target)
        await call.reply(freezing.confirm(target, typed, terms, queued, call.bot.command))
    except FreezesNotOffered:
        await call.reply(freezing.not_offered(target, typed, call.bot.command))


async def _queued(call: Call, target: Target) -> int | None:
    """How many pull requests would wait; None if unknown. Raises FreezesNotOffered."""
    if isinstance(target, Group):
        await call.bot.use.freeze_group.require_offered(GroupRequest(target, call.caller))
        read = await read_queues(target.repositories, call.bot.sources)
        return sum(one.impact().queued for one in read if isinstance(one, Snapshot))
    await call.bot.use.freeze_queue.freezes(target)
    return await call.bot.use.freeze_queue.queued(target)


async def freeze(call: Call, target: Target, typed: TypedFreeze) -> None:
    if isinstance(target, Group):
        await groups.act(call, Action.FREEZE, GroupRequest(target, call.caller, typed.written))
        return
    outcome = await call.bot.use.freeze_queue.freeze(call.caller, target, typed)
    if outcome.because is not None:
        await call.reply_in_place(unchanged(call, target, outcome))
        return
    (made,) = outcome.freezes
    if outcome.posted_here or call.view_id is not None or call.on_private_message:
        await call.reply_in_place(freezing.frozen_reply(made))
    if not outcome.posted_here and (call.response_url or call.asked):
        await call.post_in_channel(freezing.frozen(made, call.bot.clock.now()))


def unchanged(
    call: Call, where: RepositoryName, outcome: FreezeOutcome, pull_request: int | None = None
) -> Message:
    return freezing.unchanged(where, outcome, call.bot.clock.now(), pull_request)


async def open_form(call: Call, target: Target, typed: TypedFreeze) -> None:
    """A trigger is valid for three seconds, so the queue is read once the form is open."""
    form = partial(freezing.form, target, typed, channel_id=call.channel_id)
    opened = await call.open_modal(form([freezing.READING]))
    note = freezing.UNREADABLE
    try:
        queued = await _queued(call, target)
        if queued is not None:
            note = freezing.impact(queued)
    except FreezesNotOffered:
        message = freezing.not_offered(target, typed, call.bot.command)
        await call.show_in_modal(opened, pause_form.result_modal(message, call.channel_id))
        return
    except MergeQueueError:
        pass
    await call.show_in_modal(opened, form([note]))


@handles.click(actions.HOLD)
async def choose_what_to_stop(call: Call, click: Interaction) -> None:
    """To stop the checks too takes a pause: the form becomes that one."""
    if click.chosen == freezing.PAUSE:
        await pausing.show_form(call, click, None, click.reason)


@handles.form(actions.FREEZE_VIEW)
async def submit_freeze(call: Call, form: Interaction) -> Accepted:
    with field_checked(actions.REASON_BLOCK):
        target = call.bot.groups.target(form.target)
        reason = check_reason(form.reason)
    with field_checked(actions.END_BLOCK):
        # From the menu or in words.
        typed = read_freeze(form.end.split())
        if typed.reason or typed.limits:
            raise InvalidDuration(DurationProblem.UNREADABLE, form.typed_end)
        await call.bot.use.freeze_queue.terms(call.caller, typed)
    with field_checked(actions.BRANCH_BLOCK):
        branches = _conditions(form, actions.BRANCH_BLOCK).branches
    with field_checked(actions.EXCEPT_BLOCK):
        excepted = _conditions(form, actions.EXCEPT_BLOCK).excepted
    typed = replace(typed, reason=reason, branches=branches, excepted=excepted)
    return freezing.working_modal("Freezing", target), partial(freeze, call, target, typed)


def _conditions(form: Interaction, block_id: str) -> TypedFreeze:
    return read_options(freezing.words_of(block_id, form.filled_in(block_id, block_id)))[0]


@handles.command("freezes")
async def show_freezes(call: Call, repository: RepositoryName) -> None:
    known = await call.bot.use.freeze_queue.freezes(repository)
    await call.answer(freezing.freezes(repository, known, call.bot.clock.now()))


@handles.command("unfreeze", "unfreeze @group")
async def type_unfreeze(call: Call, target: Target, *, reason: str) -> None:
    """Without a reason, a form asks for it."""
    if reason:
        await unfreeze(call, target, clean(reason, TEXT_KEPT))
    else:
        await _ask_why(call, target, target_value(target))


@handles.click(actions.UNFREEZE)
async def press_unfreeze(call: Call, click: Interaction) -> None:
    target = actions.read_freeze_target(click.chosen, call.bot.repositories)
    await _ask_why(call, target.repository, click.chosen)


async def _ask_why(call: Call, target: Target, value: str) -> None:
    await call.permit(Action.FREEZE, target)
    form = freezing.unfreeze_form(freezing.named(target), value, call.channel_id)
    await call.open_modal(form)


@handles.form(actions.UNFREEZE_VIEW)
async def submit_unfreeze(call: Call, form: Interaction) -> Accepted:
    with field_checked(actions.REASON_BLOCK):
        value, _, freeze_id = form.target.partition(" ")
        target: Target = (
            actions.read_freeze_target(form.target, call.bot.repositories).repository
            if freeze_id
            else call.bot.groups.target(value)
        )
        reason = check_reason(form.reason)
    work = partial(unfreeze, call, target, reason, freeze_id or None)
    return freezing.working_modal("Unfreezing", target), work


async def unfreeze(call: Call, target: Target, reason: str, freeze_id: str | None = None) -> None:
    if isinstance(target, Group):
        await groups.act(call, Action.UNFREEZE, GroupRequest(target, call.caller, reason))
        return
    outcome = await call.bot.use.freeze_queue.unfreeze(
        call.caller, target, reason, freeze_id=freeze_id
    )
    if outcome.because is not None:
        await call.reply(unchanged(call, target, outcome))
        return
    if outcome.posted_here or call.view_id is not None:
        await call.reply(freezing.unfrozen_reply(outcome.freezes))
    if not outcome.posted_here and (call.response_url or call.asked):
        await call.post_in_channel(freezing.unfrozen(outcome.freezes, call.actor.name, reason))


@handles.command("allow")
async def allow(call: Call, repository: RepositoryName, *, pull_request: int, reason: str) -> None:
    reason = clean(reason, TEXT_KEPT)
    outcome = await call.bot.use.freeze_queue.allow(call.caller, repository, pull_request, reason)
    if outcome.because is not None:
        await call.reply(unchanged(call, repository, outcome, pull_request))
        return
    name = call.actor.name
    await call.post_in_channel(freezing.allowed(pull_request, outcome.freezes, name, reason))


@handles.click(actions.SKIP)
async def skip(call: Call, click: Interaction) -> None:
    """Skip the planned pause of a recurring window."""
    target = actions.read_value(actions.OccurrenceTarget, click.chosen, call.bot.repositories)
    repository, key = target.repository, target.key
    settled, is_new = await call.bot.use.hold_windows.skip(call.caller, repository, key)
    await call.reply(freezes.skip_reply(settled, is_new=is_new))
