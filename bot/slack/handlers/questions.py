"""Commands that only read: status, statistics, why, log, audit, rules, branches and help.

Only the caller sees the answer, until they share it. A button replaces the answer it belongs to.
"""

from datetime import timedelta
from typing import Any

from bot.domain.audit import AuditSelection
from bot.domain.groups import Group, Target
from bot.domain.message import Message
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import LogPlace
from bot.messages import (
    actions,
    audit,
    branches,
    event_log,
    groups,
    help as help_messages,
    rules,
    statistics,
    status,
    why,
)
from bot.messages.blocks import without_controls
from bot.slack.conversation import Answers
from bot.slack.handlers.registry import Call, handles
from bot.slack.payloads import Interaction
from bot.usecases.asking import audit as show_audit
from bot.usecases.asking.event_log import newest_page, page_at
from bot.usecases.asking.queues import group_page, read_queue
from bot.usecases.asking.rules_and_branches import active_branches, queue_rules
from bot.usecases.asking.statistics import check_statistics, statistics as count_statistics
from bot.usecases.asking.why import explain


@handles.command("status")
async def show_status(call: Call, target: Target, *, first: int, branch: str | None = None) -> None:
    if isinstance(target, Group):
        page = await group_page(target, first, call.bot.sources)
        others = {"total": page.total, "paused_elsewhere": page.paused_elsewhere}
        await call.answer(groups.status(target, page.read, first=page.first, **others))
        return
    snapshot = await read_queue(target, call.bot.sources, branch)
    await call.answer(status.waiting_page(snapshot, first) if first else status.status(snapshot))


@handles.command("stats")
async def show_statistics(
    call: Call, repository: RepositoryName, *, since: timedelta, branch: str | None
) -> None:
    zone = await call.bot.use.check_permission.zone(call.actor)
    found = await count_statistics(repository, since, branch, zone, call.bot.sources)
    await _answer_once(call, statistics.statistics(found))


@handles.command("stats checks")
async def show_check_statistics(
    call: Call, repository: RepositoryName, *, since: timedelta
) -> None:
    found = await check_statistics(repository, since, call.bot.sources)
    await _answer_once(call, statistics.check_statistics(found))


async def _answer_once(call: Call, message: Message) -> None:
    """What the whole channel sees already has no *Share in channel*."""
    is_shared = call.answers is Answers.TO_CHANNEL
    await call.answer(without_controls(message) if is_shared else message)


@handles.command("why")
async def show_why(call: Call, repository: RepositoryName, *, pull_request: int) -> None:
    found = await explain(repository, pull_request, call.bot.sources)
    await call.answer(why.why(found))


@handles.command("log")
async def show_log(
    call: Call,
    repository: RepositoryName,
    **asked: Any,  # noqa: ANN401 - as `newest_page` takes it
) -> None:
    page = await newest_page(repository, call.bot.sources, **asked)
    await call.answer(event_log.event_log(page))


@handles.click(actions.LOG_OLDER, actions.LOG_NEWER)
async def turn_log(call: Call, click: Interaction) -> None:
    await call.admit()
    place = actions.read_value(LogPlace, click.chosen, call.bot.repositories)
    page = await page_at(place, call.bot.sources)
    await call.replace_message(event_log.event_log(page))


@handles.command("audit")
async def show_newest_audit(
    call: Call, repository: RepositoryName | None, *, since: timedelta
) -> None:
    selection = AuditSelection(repository, call.bot.clock.now() - since)
    page = await show_audit.older(call.bot.sources.store, selection)
    await call.reply(audit.audit(page))


@handles.click(actions.AUDIT_OLDER, actions.AUDIT_NEWER)
async def turn_audit(call: Call, click: Interaction) -> None:
    """Raises PermissionDenied."""
    await call.admit()
    target = actions.read_value(actions.AuditTarget, click.chosen, call.bot.repositories)
    is_older = click.action_id == actions.AUDIT_OLDER
    turn = show_audit.older if is_older else show_audit.newer
    page = await turn(call.bot.sources.store, target.selection, target.place)
    await call.replace_message(audit.audit(page))


@handles.command("rules")
async def show_rules(call: Call, repository: RepositoryName, *, first: int, whole: bool) -> None:
    found = await queue_rules(repository, call.bot.sources)
    await call.answer(rules.rules(repository, found, first, whole=whole))


@handles.command("branches")
async def show_branches(
    call: Call, repository: RepositoryName, *, since: timedelta, first: int
) -> None:
    found = await active_branches(repository, since, first, call.bot.sources)
    await call.answer(branches.branches(repository, since, found))


@handles.command("help")
async def show_help(call: Call, _: None, *, verb: str | None) -> None:
    await call.reply(help_messages.help_text(call.bot.command, verb))
