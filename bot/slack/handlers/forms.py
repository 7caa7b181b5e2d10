"""Forms that were sent: they pause, or give a pause another end, as the commands do."""

from bot.domain.audit import Action
from bot.domain.durations import DurationProblem, For, Lasting, read_end, resumes_at, written
from bot.domain.errors import InvalidDuration
from bot.domain.group_acts import Asked, read_asked
from bot.domain.groups import Group, Target
from bot.domain.message import View
from bot.domain.pauses import check_reason
from bot.messages import actions, pause_form, timers
from bot.messages.groups import group_acts
from bot.messages.text import clean
from bot.slack.handlers import groups, pause_ends, pausing
from bot.slack.handlers.pause_form import REASON_KEPT
from bot.slack.handlers.registry import Accepted, Call, field_checked, handles
from bot.slack.payloads import Interaction
from bot.usecases.pausing.group_work import GroupRequest


@handles.form(actions.PAUSE_VIEW)
async def submit_pause(call: Call, form: Interaction) -> Accepted:
    """The reason may begin with the end, as in the command."""
    is_menu = form.filled_in(actions.TARGET_BLOCK, actions.PAUSE_TARGET)
    with field_checked(actions.TARGET_BLOCK if is_menu else actions.REASON_BLOCK):
        target = call.bot.groups.target(form.target)
    with field_checked(actions.END_BLOCK):
        lasting = await _chosen_end(call, form)
    with field_checked(actions.REASON_BLOCK):
        asked = _asked(form, lasting)
        await _require_end(call, asked.lasting)
    return _pause(call, target, asked)


def _pause(call: Call, target: Target, asked: Asked) -> Accepted:
    if isinstance(target, Group):
        request = GroupRequest(target, call.caller, _typed(asked))
        work = groups.act(call, Action.PAUSE, request)
        return Accepted(_begun(call, target, Action.PAUSE), work)
    wanted = actions.PauseChoice(target, asked.reason, asked.lasting)
    return Accepted(pause_form.working_modal(target), pausing.pause_queue(call, wanted), target)


async def _chosen_end(call: Call, form: Interaction) -> Lasting | None:
    """The end from the menu or in words; raises InvalidDuration."""
    length = form.filled_in(actions.LASTING_BLOCK, actions.LASTING_ACTION)
    typed = clean(form.filled_in(actions.END_BLOCK, actions.END_ACTION), REASON_KEPT)
    if length and typed:
        raise InvalidDuration(DurationProblem.TWO_ENDS, typed)
    if not (length or typed):
        return None
    lasting = read_end(length or typed)
    await _require_end(call, lasting)
    return lasting


async def _require_end(call: Call, lasting: Lasting | None) -> None:
    """Raise InvalidDuration for an end that can't be, in the person's own time zone."""
    if lasting is not None:
        zone = await call.bot.use.check_permission.zone(call.actor)
        resumes_at(lasting, call.bot.clock.now(), zone)


def _asked(form: Interaction, lasting: Lasting | None) -> Asked:
    """The reason and the end; raises InvalidReason and InvalidDuration."""
    typed = clean(form.filled_in(actions.REASON_BLOCK, actions.REASON_ACTION), REASON_KEPT)
    asked = read_asked(typed) if lasting is None else Asked(typed, lasting)
    read_asked(_typed(asked))
    return Asked(check_reason(asked.reason), asked.lasting)


def _typed(asked: Asked) -> str:
    """As it is typed after the name of a group."""
    return asked.reason if asked.lasting is None else f"{written(asked.lasting)} {asked.reason}"


@handles.form(actions.EXTEND_VIEW)
async def submit_end(call: Call, form: Interaction) -> Accepted:
    with field_checked(actions.END_BLOCK):
        lasting = read_end(
            clean(form.filled_in(actions.END_BLOCK, actions.END_ACTION), REASON_KEPT)
        )
        await _require_end(call, lasting)
        if form.target.startswith("@"):
            return _extend_group(call, call.bot.groups.named(form.target[1:]), lasting)
        target = actions.read_pause_target(form.target, call.bot.repositories)
    # A time of day doesn't depend on the earlier end.
    had_end = form.carried.had_end if isinstance(lasting, For) else None
    work = pause_ends.extend(call, target, lasting, had_end=had_end)
    return Accepted(timers.working_modal(), work, target.repository)


def _extend_group(call: Call, group: Group, lasting: Lasting) -> Accepted:
    request = GroupRequest(group, call.caller, written(lasting))
    return Accepted(_begun(call, group, Action.EXTEND), groups.act(call, Action.EXTEND, request))


def _begun(call: Call, group: Group, action: Action) -> View:
    progress = group_acts.progress(group.name, action, 0, len(group.repositories))
    return pause_form.result_modal(progress, call.channel_id)
