"""Freezes, and the button on the plan of a pause: commands, buttons and forms."""

from dataclasses import replace
from functools import partial

from bot.domain.asked import Asked, read_freeze, read_options
from bot.domain.audit import Action
from bot.domain.durations import DurationProblem
from bot.domain.errors import FreezesNotOffered, InvalidDuration, MergeQueueError
from bot.domain.freezing import FreezeOutcome
from bot.domain.groups import Group, Target, target_value
from bot.domain.message import Message
from bot.domain.pauses import check_reason
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import Snapshot
from bot.messages import actions, freezes, freezing, pause_form
from bot.slack.handlers import groups, pausing
from bot.slack.handlers.registry import Accepted, Call, field_checked, handles
from bot.slack.payloads import Interaction
from bot.usecases.asking.queues import read_queues


@handles.command("freeze")
async def type_freeze(call: Call, target: Target, *, asked: Asked, is_confirmed: bool) -> None:
    """Without a reason, open the form; ask first if the freeze is long, or of several queues."""
    use, is_several = call.bot.use.freeze_queue, isinstance(target, Group)
    await call.permit(Action.FREEZE, target)
    if not asked.reason:
        await open_form(call, target, asked)
        return
    check_reason(asked.reason)
    terms = await use.terms(call.caller, asked)
    try:
        if is_confirmed or not (is_several or await use.asks_first(call.caller, terms)):
            await freeze(call, target, asked)
            return
        queued = await _queued(call, target)
        await call.reply(freezing.confirm(target, asked, terms, queued, call.bot.command))
    except FreezesNotOffered:
        await call.reply(freezing.not_offered(target, asked, call.bot.command))


async def _queued(call: Call, target: Target) -> int | None:
    """How many pull requests would wait; None if unknown. Raises FreezesNotOffered."""
    if isinstance(target, Group):
        await call.bot.use.freeze_queue.require_offered(target.repositories[0])
        read = await read_queues(target.repositories, call.bot.sources)
        return sum(len(one.status.queued) for one in read if isinstance(one, Snapshot))
    await call.bot.use.freeze_queue.freezes(target)
    return await call.bot.use.freeze_queue.queued(target)


async def freeze(call: Call, target: Target, asked: Asked) -> None:
    if isinstance(target, Group):
        await groups.act(call, Action.FREEZE, target, asked)
        return
    outcome = await call.bot.use.freeze_queue.freeze(call.caller, target, asked)
    if outcome.because is not None:
        await call.reply_in_place(unchanged(call, target, outcome))
        return
    (made,) = outcome.freezes
    said, post = freezing.frozen_reply(made), freezing.frozen(made, call.bot.clock.now())
    await _show(call, said, post, posted_here=outcome.posted_here)


async def _show(call: Call, said: Message, post: Message, *, posted_here: bool) -> None:
    """To the actor where the channel has a card; to the channel, as a reply, where it has none."""
    if posted_here or call.view_id is not None or call.on_private_message:
        await call.reply_in_place(said)
    if not posted_here and (call.response_url or call.asked):
        await call.post_in_channel(post)


def unchanged(
    call: Call, where: RepositoryName, outcome: FreezeOutcome, pull_request: int | None = None
) -> Message:
    return freezing.unchanged(where, outcome, call.bot.clock.now(), pull_request)


async def open_form(call: Call, target: Target, asked: Asked) -> None:
    """A trigger is valid for three seconds, so the queue is read once the form is open."""
    form = partial(freezing.form, target, asked, channel_id=call.channel_id)
    opened = await call.open_modal(form([freezing.READING]))
    note = freezing.UNREADABLE
    try:
        queued = await _queued(call, target)
        if queued is not None:
            note = freezing.impact(queued)
    except FreezesNotOffered:
        message = freezing.not_offered(target, asked, call.bot.command)
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
        times = read_freeze(form.end.split())
        if times.reason or times.limits:
            raise InvalidDuration(DurationProblem.UNREADABLE, form.typed_end)
        await call.bot.use.freeze_queue.terms(call.caller, times)
    with field_checked(actions.BRANCH_BLOCK):
        branches = _conditions(form, actions.BRANCH_BLOCK).branches
    with field_checked(actions.EXCEPT_BLOCK):
        excepted = _conditions(form, actions.EXCEPT_BLOCK).excepted
    asked = replace(times, reason=reason, branches=branches, excepted=excepted)
    return freezing.working_modal("Freezing", target), partial(freeze, call, target, asked)


def _conditions(form: Interaction, block_id: str) -> Asked:
    return read_options(freezing.words_of(block_id, form.filled_in(block_id, block_id)))[0]


@handles.command("freezes")
async def show_freezes(call: Call, repository: RepositoryName) -> None:
    known = await call.bot.use.freeze_queue.freezes(repository)
    await call.answer(freezing.freezes(repository, known, call.bot.clock.now()))


@handles.command("unfreeze")
async def type_unfreeze(call: Call, target: Target, *, reason: str) -> None:
    """Without a reason, a form asks for it."""
    if reason:
        await unfreeze(call, actions.Held(target), reason)
    else:
        await _ask_why(call, target, target_value(target))


@handles.click(actions.UNFREEZE)
async def press_unfreeze(call: Call, click: Interaction) -> None:
    await _ask_why(call, call.held(click).target, click.chosen)


async def _ask_why(call: Call, target: Target, value: str) -> None:
    await call.permit(Action.FREEZE, target)
    form = freezing.unfreeze_form(freezing.named(target), value, call.channel_id)
    await call.open_modal(form)


@handles.form(actions.UNFREEZE_VIEW)
async def submit_unfreeze(call: Call, form: Interaction) -> Accepted:
    with field_checked(actions.REASON_BLOCK):
        held, reason = call.held(form.target), check_reason(form.reason)
    shown = freezing.working_modal("Unfreezing", held.target)
    return shown, partial(unfreeze, call, held, reason)


async def unfreeze(call: Call, held: actions.Held, reason: str) -> None:
    target = held.target
    if isinstance(target, Group):
        await groups.act(call, Action.UNFREEZE, target, Asked(reason))
        return
    outcome = await call.bot.use.freeze_queue.unfreeze(
        call.caller, target, reason, freeze_id=held.drawn_for or None
    )
    if outcome.because is not None:
        await call.reply(unchanged(call, target, outcome))
        return
    said = freezing.unfrozen_reply(outcome.freezes)
    post = freezing.unfrozen(outcome.freezes, call.actor.name, reason)
    await _show(call, said, post, posted_here=outcome.posted_here)


@handles.command("allow")
async def allow(call: Call, repository: RepositoryName, *, pull_request: int, reason: str) -> None:
    outcome = await call.bot.use.freeze_queue.allow(call.caller, repository, pull_request, reason)
    if outcome.because is not None:
        await call.reply(unchanged(call, repository, outcome, pull_request))
        return
    name = call.actor.name
    await call.post_in_channel(freezing.allowed(pull_request, outcome.freezes, name, reason))


@handles.click(actions.SKIP)
async def skip(call: Call, click: Interaction) -> None:
    """Skip the planned pause of a recurring window."""
    held = call.held(click)
    windows = call.bot.use.hold_windows
    settled, is_new = await windows.skip(call.caller, held.repository, held.drawn_for)
    await call.reply(freezes.skip_reply(settled, is_new=is_new))
