"""Opens the form that pauses a queue or a group, and shows in it what that would stop."""

from bot.domain.durations import Lasting, written
from bot.domain.errors import MergeQueueError
from bot.domain.groups import Group, Target
from bot.domain.message import View
from bot.domain.repository import RepositoryName
from bot.messages import actions, pause_form
from bot.messages.groups import group_question
from bot.slack.conversation import OpenedModal
from bot.slack.handlers.registry import Call, handles
from bot.slack.payloads import Interaction
from bot.usecases.asking.queues import read_queue, read_queues
from bot.usecases.pausing.group_work import GroupRequest

REASON_KEPT = 4000
"""Longer reasons are cut before their length is checked, so that the error can name it."""


@handles.shortcut(actions.PAUSE_SHORTCUT)
async def open_from_shortcut(call: Call, _shortcut: Interaction) -> None:
    await open_form(call, _only_repository(call))


@handles.shortcut(actions.PAUSE_BECAUSE_SHORTCUT)
async def open_because_of_message(call: Call, shortcut: Interaction) -> None:
    """The reason begins with the address of the message."""
    address = await call.address_of(shortcut.message_ts)
    await open_form(call, _only_repository(call), reason=address or "")


def _only_repository(call: Call) -> RepositoryName | None:
    names = call.bot.repositories.names
    return names[0] if len(names) == 1 else None


@handles.click(actions.PAUSE)
async def press_pause(call: Call, click: Interaction) -> None:
    await open_form(call, call.bot.repositories.allowed(click.chosen))


@handles.click(actions.PAUSE_TARGET)
async def choose_in_form(call: Call, click: Interaction) -> None:
    if click.view is None:
        return
    target = call.bot.groups.target(click.target)
    await permit(call, target)
    opened = OpenedModal(call.client, click.view.id, click.view.hash)
    await _show_impact(call, target, opened, click.carried.end, click.carried.reason)


async def open_form(
    call: Call, target: Target | None, lasting: Lasting | None = None, reason: str = ""
) -> None:
    """A trigger is valid for three seconds, so the queues are read once the form is open.

    Raises PermissionDenied before the form opens. The check takes two seconds at most.
    """
    await permit(call, target)
    end = written(lasting) if lasting is not None else None
    notes = [pause_form.READING if target is not None else pause_form.CHOOSE_FIRST]
    if isinstance(target, Group):
        notes = group_question.notes(target, call.bot.command)
    opened = await call.open_modal(_form(call, target, notes, end, reason))
    if target is not None:
        await _show_impact(call, target, opened, end, reason)


async def show_form(call: Call, target: Target, opened: OpenedModal, reason: str) -> None:
    """Turn an open form into this one; raises PermissionDenied before."""
    await permit(call, target)
    await _show_impact(call, target, opened, None, reason)


async def permit(call: Call, target: Target | None) -> None:
    """Raises PermissionDenied, recorded once even if several repositories may be meant."""
    if isinstance(target, Group):
        await call.bot.use.pause_group.permit(GroupRequest(target, call.caller))
        return
    names = call.bot.repositories.names if target is None else (target,)
    await call.bot.use.pause_queue.permit(call.caller, names)


async def _show_impact(
    call: Call, target: Target, opened: OpenedModal, end: str | None, reason: str
) -> None:
    """Show in the form what pausing `target` would stop."""
    await opened.show(_form(call, target, await _impact(call, target), end, reason))


async def _impact(call: Call, target: Target) -> list[str]:
    if isinstance(target, Group):
        read = await read_queues(target.repositories, call.bot.sources)
        return group_question.notes(target, call.bot.command, read)
    try:
        return pause_form.queue_notes(await read_queue(target, call.bot.sources))
    except MergeQueueError:
        return [pause_form.UNREADABLE]


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
