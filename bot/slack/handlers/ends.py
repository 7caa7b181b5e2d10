"""The end of a pause, of a group's pauses and of a freeze: one menu, and one form."""

from functools import partial

from bot.domain.audit import Action
from bot.domain.durations import For, Lasting, read_end, read_lasting, written
from bot.domain.freezing import TypedFreeze
from bot.domain.groups import Group
from bot.domain.pauses import NotPaused, OtherEnd, OtherPause, PauseChange
from bot.messages import actions, freezing, pause, timers
from bot.slack.handlers import groups
from bot.slack.handlers.freezes import unchanged
from bot.slack.handlers.registry import Accepted, Call, field_checked, handles
from bot.slack.payloads import Interaction
from bot.usecases.pausing.group_work import GroupRequest

Held = Group | actions.PauseTarget | actions.FreezeTarget


@handles.click(actions.EXTEND, actions.EXTEND_GROUP, actions.FREEZE_END)
async def choose_end(call: Call, click: Interaction) -> None:
    """Any other time than those of the menu is typed into a form."""
    length, value, had_end = actions.read_extend_value(click.chosen)
    is_freeze = click.action_id == actions.FREEZE_END
    held = _read(call, value, is_freeze=is_freeze)
    lasting, _ = read_lasting([length])
    if lasting is not None:
        await _change_end(call, held, lasting, had_end=had_end)
        return
    target = held if isinstance(held, Group) else held.repository
    await call.permit(Action.FREEZE if is_freeze else Action.EXTEND, target)
    form = timers.extend_form(
        freezing.named(target),
        value,
        call.channel_id,
        had_end=had_end,
        callback_id=actions.FREEZE_END_VIEW if is_freeze else actions.EXTEND_VIEW,
    )
    await call.open_modal(form)


def _read(call: Call, value: str, *, is_freeze: bool) -> Held:
    """Raises UnknownGroup and RepositoryNotAllowed."""
    if value.startswith("@"):
        return call.bot.groups.named(value[1:])
    read = actions.read_freeze_target if is_freeze else actions.read_pause_target
    return read(value, call.bot.repositories)


@handles.form(actions.EXTEND_VIEW, actions.FREEZE_END_VIEW)
async def submit_end(call: Call, form: Interaction) -> Accepted:
    is_freeze = form.callback_id == actions.FREEZE_END_VIEW
    with field_checked(actions.END_BLOCK):
        lasting = read_end(form.typed_end)
        if is_freeze:
            await call.bot.use.freeze_queue.terms(call.caller, TypedFreeze(lasting=lasting))
        else:
            await call.require_end(lasting)
        held = _read(call, form.target, is_freeze=is_freeze)
    if isinstance(held, Group):
        request = GroupRequest(held, call.caller, written(lasting))
        return groups.accept(call, Action.EXTEND, request)
    # A time of day doesn't depend on the earlier end.
    had_end = form.carried.had_end if isinstance(lasting, For) else None
    return timers.working_modal(), partial(_change_end, call, held, lasting, had_end=had_end)


async def _change_end(call: Call, held: Held, lasting: Lasting, *, had_end: bool | None) -> None:
    """`had_end`: whether it had an end when the menu was shown; None if irrelevant."""
    match held:
        case Group():
            request = GroupRequest(held, call.caller, written(lasting))
            await groups.act(call, Action.EXTEND, request)
        case actions.FreezeTarget(repository, freeze_id):
            outcome = await call.bot.use.freeze_queue.change_end(
                call.caller, repository, lasting, freeze_id=freeze_id, had_end=had_end
            )
            if outcome.because is not None:
                await call.reply(unchanged(call, repository, outcome))
            else:
                await call.reply(freezing.end_changed(outcome.freezes[0]))
        case actions.PauseTarget():
            await _extend(call, held, lasting, had_end=had_end)


@handles.click(actions.KEEP)
async def press_keep(call: Call, click: Interaction) -> None:
    target = actions.read_pause_target(click.chosen, call.bot.repositories)
    await _extend(call, target, None, had_end=True)


async def _extend(
    call: Call, target: actions.PauseTarget, lasting: Lasting | None, *, had_end: bool | None
) -> None:
    repository = target.repository
    outcome = await call.bot.use.pause_queue.extend(
        call.caller, repository, lasting, expected=target.paused_at, had_end=had_end
    )
    match outcome:
        case PauseChange(act=act, posted_here=posted_here):
            if call.view_id is not None or not posted_here:
                await call.reply(timers.extended_reply(act))
        case NotPaused():
            await call.reply(pause.not_paused(repository))
        case OtherPause(known=known):
            await call.reply(pause.other_pause(repository, known))
        case OtherEnd(known=known):
            await call.reply(timers.other_end(repository, known))
