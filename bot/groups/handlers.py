"""Acts on all repositories of a group, with their progress, and what machines propose."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial

from bot.acts.asked import NOTHING_ASKED, Asked
from bot.acts.group_act import GroupAct, GroupOutcome
from bot.acts.record import Action, AuditRecord
from bot.blocks import modal
from bot.blocks.controls import Repeat
from bot.blocks.message import Message
from bot.desk.explain import sentence_of
from bot.desk.registry import Accepted, Call, handles
from bot.freezes.outcomes import FreezeOutcome
from bot.freezes.texts import forms as freeze_forms
from bot.groups.actions import APPROVE, REFUSE
from bot.groups.proposing import as_approver
from bot.kernel.actor import Origin
from bot.kernel.clock import Clock
from bot.kernel.errors import is_uncertain
from bot.kernel.groups import Group
from bot.pauses import actions as pause_actions
from bot.pauses.group_work import Report, SinceThen, ignore_progress
from bot.pauses.outcomes import NotPaused, OtherPause, PauseChange
from bot.pauses.requests import proposed_line
from bot.pauses.texts import group_acts, replies as pause_replies
from bot.slack.conversation import Conversation
from bot.slack.payloads import Interaction

GAPS = (timedelta(seconds=1), timedelta(seconds=3))
"""Waits before each line. With the first line, the answer and the reply to the channel that makes
five replies, the most that Slack takes for one interaction."""


def progress_line(conversation: Conversation, clock: Clock) -> Report:
    """Shows only the actor how far an act on a group has come.

    If they pressed a button in a message that only they see, that message is updated. Otherwise
    one line appears if the act takes longer than a moment, and the result follows it. After a
    click in the Home tab none does: it would stay in their direct messages.
    """
    if conversation.origin is Origin.HOME:
        return ignore_progress
    gaps = iter(GAPS if conversation.on_private_message else GAPS[:1])
    due_at: datetime | None = clock.now() + next(gaps)

    async def report(act: GroupAct, done: int) -> None:
        nonlocal due_at
        now = clock.now()
        if due_at is None or now < due_at or done >= len(act.repositories):
            return
        gap = next(gaps, None)
        due_at = now + gap if gap is not None else None
        await conversation.show_progress(group_acts.progress(act, done))

    return report


@handles.click(pause_actions.AGAIN)
async def try_again(call: Call, click: Interaction) -> None:
    """Retry what failed of the act, as it was asked for."""
    await call.admit()
    mention, _, act_id = click.chosen.partition(" ")
    group = call.bot.groups.named(mention.removeprefix("@"))
    wanted = await call.bot.use.groups.again(call.caller, group, int(act_id))
    if wanted is None:
        await call.reply_in_place(group_acts.since_then(group.name, None))
    elif wanted.approved is not None:
        await _approve(call, min(wanted.approved.records.values()), again=int(act_id))
    else:
        await carry_out(call, wanted, again=int(act_id))


async def act_on_group(
    call: Call, action: Action, group: Group, asked: Asked = NOTHING_ASKED
) -> None:
    await carry_out(call, _wanted(call, action, group, asked))


async def carry_out(call: Call, wanted: GroupAct, *, again: int | None = None) -> None:
    """Act, and show the progress and the result."""
    if call.on_private_message:
        # The pressed button goes before anything happens.
        await call.show_progress(group_acts.progress(wanted, 0))
    report = progress_line(call, call.bot.clock)
    ended = await call.bot.use.groups.act(wanted, report, again=again)
    if isinstance(ended, SinceThen):
        await call.reply_in_place(group_acts.since_then(wanted.group, ended.latest))
    elif ended is None:
        await call.reply_in_place(group_acts.nothing_held(wanted.group))
    else:
        await _show_result(call, ended)
        if ended.of(GroupOutcome.UNCERTAIN):
            call.promise_outcome()


def _wanted(call: Call, action: Action, group: Group, asked: Asked) -> GroupAct:
    return GroupAct.by(call.caller, call.bot.clock.now(), action, group, asked)


async def _show_result(call: Call, ended: GroupAct) -> None:
    """To the channel as a post, or as a reply where the bot can't post; if nobody sees that, here.

    Everybody in the channel sees it, the actor too.
    """
    is_posted = ended.has_changed and call.channel_id is not None
    if is_posted and call.channel_id not in ended.notified_together:
        await call.post_without_card(group_acts.group_act_post(ended))
    if not is_posted or call.view_id is not None or call.in_thread:
        await call.reply_in_place(group_acts.answer_to_actor(ended, posted_here=is_posted))
    elif call.on_private_message:
        await call.remove_message()


def accept(
    call: Call, action: Action, group: Group, asked: Asked, repeat: Repeat | None
) -> Accepted:
    """A form that acts on a group shows the progress."""
    wanted = _wanted(call, action, group, asked)
    shown = modal.result_modal(group_acts.progress(wanted, 0), call.channel_id)
    return Accepted(shown, partial(act_on_group, action=action, group=group, asked=asked), repeat)


@handles.click(APPROVE)
async def approve(call: Call, click: Interaction) -> None:
    """Carry out what a machine proposed, in the name of the person who presses."""
    await call.admit()
    await _approve(call, int(click.chosen))


async def _approve(call: Call, proposal_id: int, *, again: int | None = None) -> None:
    """Carry out what is open of it.

    `again`: the id of the act on a group that an earlier approval began, whose rest to retry.
    """
    async with call.bot.use.proposals.approved(call.caller, proposal_id) as parts:
        first = parts[0]
        confirmation = first.confirmation
        proposed = confirmation.proposed if confirmation is not None else None
        asked = proposed or NOTHING_ASKED
        if first.group.name is not None:
            await _carry_out_for_group(call, first.group.name, parts, asked, again)
            return
        said = await _CARRY_OUT[first.action](call, first, asked)
    await call.reply(said)


async def _carry_out_for_group(
    call: Call, name: str, parts: Sequence[AuditRecord], asked: Asked, again: int | None
) -> None:
    """Act on the repositories that the machine named, whichever the group has by now."""
    group = Group(name, tuple(part.repository for part in parts))
    caller = as_approver(call.caller, parts)
    now = call.bot.clock.now()
    await carry_out(call, GroupAct.by(caller, now, parts[0].action, group, asked), again=again)


@handles.click(REFUSE)
async def refuse(call: Call, click: Interaction) -> None:
    """The request says who refused it."""
    await call.admit()
    await call.bot.use.proposals.refuse(call.caller, int(click.chosen))


async def _carry_out_pause(call: Call, proposal: AuditRecord, asked: Asked) -> Message:
    paused = await call.bot.use.pause_queue.run(
        as_approver(call.caller, [proposal]),
        proposal.repository,
        asked.reason,
        lasting=asked.lasting,
    )
    if isinstance(paused, PauseChange):
        return pause_replies.paused_reply(paused.act)
    return pause_replies.left_as_paused(paused.known)


async def _carry_out_resume(call: Call, proposal: AuditRecord, _asked: Asked) -> Message:
    repository = proposal.repository
    resumed = await call.bot.use.resume_queue.run(
        as_approver(call.caller, [proposal]), repository, expected=proposed_line(proposal)
    )
    match resumed:
        case PauseChange():
            return pause_replies.resumed_reply(repository)
        case NotPaused(ended=ended):
            return pause_replies.not_paused(repository, ended)
        case OtherPause(known=known):
            return pause_replies.other_pause(repository, known)


async def _carry_out_freeze(call: Call, proposal: AuditRecord, asked: Asked) -> Message:
    frozen = await call.bot.use.freeze_queue.freeze(
        as_approver(call.caller, [proposal]), proposal.repository, asked
    )
    if frozen.because is not None:
        return _freezes_unchanged(call, proposal, frozen)
    return freeze_forms.frozen_reply(frozen.freezes[0], call.bot.clock.now(), frozen.beside)


async def _carry_out_unfreeze(call: Call, proposal: AuditRecord, asked: Asked) -> Message:
    unfrozen = await call.bot.use.freeze_queue.unfreeze(
        as_approver(call.caller, [proposal]),
        proposal.repository,
        asked.reason,
        freeze_id=min(proposal.freezes or (), default=None),
    )
    if unfrozen.because is not None:
        return _freezes_unchanged(call, proposal, unfrozen)
    return freeze_forms.unfrozen_reply(unfrozen.freezes, unfrozen.beside)


async def _let_through(call: Call, proposal: AuditRecord, asked: Asked) -> Message:
    caller = as_approver(call.caller, [proposal])
    number = proposal.about or 0
    reason = asked.reason
    outcome = await call.bot.use.freeze_queue.allow(caller, proposal.repository, number, reason)
    if outcome.because is not None:
        return _freezes_unchanged(call, proposal, outcome)
    if outcome.error is not None:
        if is_uncertain(outcome.error):
            call.promise_outcome()
        failure = sentence_of(outcome.error, call.bot.command)
        return freeze_forms.partly_allowed(number, outcome, failure, call.progress.repeat)
    return freeze_forms.allowed(number, outcome.freezes, call.actor.name, reason)


def _freezes_unchanged(call: Call, proposal: AuditRecord, outcome: FreezeOutcome) -> Message:
    now = call.bot.clock.now()
    return freeze_forms.why_unchanged(proposal.repository, outcome, now, proposal.about)


_CARRY_OUT: Mapping[Action, Callable[[Call, AuditRecord, Asked], Awaitable[Message]]] = {
    Action.PAUSE: _carry_out_pause,
    Action.RESUME: _carry_out_resume,
    Action.FREEZE: _carry_out_freeze,
    Action.UNFREEZE: _carry_out_unfreeze,
    Action.ALLOW: _let_through,
}
