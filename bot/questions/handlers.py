"""Commands that only read: status, statistics, why, log, audit, rules, branches and help.

Only the caller sees the answer, until they share it. A button replaces the answer it belongs to.
"""

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

from bot.acts.record import AuditSelection
from bot.blocks import controls, overview
from bot.blocks.blocks import without_controls
from bot.blocks.message import Message
from bot.desk import help as desk_help
from bot.desk.registry import Call, handles
from bot.kernel.groups import ALL, Group, Target
from bot.kernel.repository import RepositoryName
from bot.questions import actions as question_actions, reading_audit
from bot.questions.explaining import explain_pull_request
from bot.questions.reading_log import newest_page, page_at
from bot.questions.reading_statistics import (
    PAGES_OF_EACH,
    read_check_statistics,
    read_statistics,
)
from bot.questions.rules_and_branches import active_branches, branch_names, queue_rules
from bot.questions.snapshots import LogPlace
from bot.questions.texts import (
    audit as question_audit,
    branches,
    event_log,
    rules,
    statistics as question_statistics,
    why,
)
from bot.queues.reading import group_answers, group_page, read_queue
from bot.queues.texts import group_status, status as queue_status
from bot.slack.conversation import Answers
from bot.slack.payloads import Interaction


@handles.command("status")
async def show_status(call: Call, target: Target, *, first: int, branch: str | None = None) -> None:
    if isinstance(target, Group):
        page = await group_page(target, first, call.bot.sources)
        others = {"total": page.total, "paused_elsewhere": page.paused_elsewhere}
        await call.answer(group_status.status(target, page.read, first=page.first, **others))
        return
    snapshot = await read_queue(target, call.bot.sources, branch)
    if first:
        await call.answer(queue_status.waiting_page(snapshot, first))
        return
    outlook = await call.bot.use.foresee_queue.of(snapshot)
    await call.answer(queue_status.status(snapshot, outlook))


@handles.command("stats")
async def show_statistics(
    call: Call, target: Target, *, since: timedelta, branch: str | None, first: int = 0
) -> None:
    zone = await call.bot.use.check_permission.zone(call.actor)
    count = partial(
        read_statistics, since=since, branch=branch, zone=zone, sources=call.bot.sources
    )
    if isinstance(target, Group):
        few = partial(count, most_pages=PAGES_OF_EACH)
        found = await group_answers(target, first, question_statistics.GROUP_PAGE, few)
        await call.answer(question_statistics.statistics_of_group(target, since, branch, found))
        return
    await _answer_once(call, question_statistics.statistics(await count(target)))


@handles.command("stats checks")
async def show_check_statistics(
    call: Call, target: Target, *, since: timedelta, first: int = 0
) -> None:
    count = partial(read_check_statistics, since=since, sources=call.bot.sources)
    if isinstance(target, Group):
        few = partial(count, most_pages=PAGES_OF_EACH)
        found = await group_answers(target, first, question_statistics.GROUP_PAGE, few)
        await call.answer(question_statistics.checks_of_group(target, since, found))
        return
    await _answer_once(call, question_statistics.check_statistics(await count(target)))


async def _answer_once(call: Call, message: Message) -> None:
    """What the whole channel sees already has no *Share in channel*."""
    is_shared = call.answers is Answers.TO_CHANNEL
    await call.answer(without_controls(message) if is_shared else message)


@handles.command("why")
async def show_why(call: Call, repository: RepositoryName, *, pull_request: int) -> None:
    found = await explain_pull_request(repository, pull_request, call.bot.sources)
    await call.answer(why.why(found))


@handles.command("log")
async def show_log(
    call: Call,
    target: Target,
    *,
    first: int = 0,
    **asked: Any,  # noqa: ANN401 - as `newest_page` takes it
) -> None:
    if isinstance(target, Group):
        read = partial(newest_page, sources=call.bot.sources, per_page=1, **asked)
        found = await group_answers(target, first, overview.GROUP_QUEUES_PER_PAGE, read)
        await call.answer(event_log.log_of_group(target, found, **asked))
        return
    page = await newest_page(target, call.bot.sources, **asked)
    await call.answer(event_log.event_log(page))


@handles.click(question_actions.LOG_OLDER, question_actions.LOG_NEWER)
async def turn_log(call: Call, click: Interaction) -> None:
    await call.admit()
    place = controls.read_value(LogPlace, click.chosen, call.bot.repositories)
    page = await page_at(place, call.bot.sources)
    await call.replace_message(event_log.event_log(page))


@handles.command("audit")
async def show_newest_audit(call: Call, target: Target | None, *, since: timedelta) -> None:
    from_then = call.bot.clock.now() - since
    selection = AuditSelection(since=from_then)
    if isinstance(target, RepositoryName):
        selection = AuditSelection(target, from_then)
    elif target is not None and target.name != ALL:
        selection = AuditSelection(None, from_then, group=target.name)
    page = await reading_audit.older(call.bot.sources.store, _of_group_now(call, selection))
    await call.reply(question_audit.audit(page))


@handles.click(question_actions.AUDIT_OLDER, question_actions.AUDIT_NEWER)
async def turn_audit(call: Call, click: Interaction) -> None:
    """Raises PermissionDenied."""
    await call.admit()
    target = controls.read_value(question_actions.AuditTarget, click.chosen, call.bot.repositories)
    is_older = click.action_id == question_actions.AUDIT_OLDER
    turn = reading_audit.older if is_older else reading_audit.newer
    selection = _of_group_now(call, target.selection)
    page = await turn(call.bot.sources.store, selection, target.place)
    await call.replace_message(question_audit.audit(page))


def _of_group_now(call: Call, selection: AuditSelection) -> AuditSelection:
    """Raises UnknownGroup for a group that is no longer configured."""
    if selection.group is None:
        return selection
    group = call.bot.groups.named(selection.group)
    return replace(selection, repositories=group.repositories)


@handles.command("rules")
async def show_rules(call: Call, target: Target, *, first: int, whole: bool = False) -> None:
    if isinstance(target, Group):
        read = partial(queue_rules, sources=call.bot.sources)
        of_all = await group_answers(target, first, overview.GROUP_QUEUES_PER_PAGE, read)
        await call.answer(rules.rules_of_group(target, of_all))
        return
    found = await queue_rules(target, call.bot.sources)
    await call.answer(rules.rules(target, found, first, whole=whole))


@handles.command("branches")
async def show_branches(call: Call, target: Target, *, since: timedelta, first: int) -> None:
    if isinstance(target, Group):
        read = partial(branch_names, since=since, sources=call.bot.sources)
        of_all = await group_answers(target, first, overview.GROUP_QUEUES_PER_PAGE, read)
        await call.answer(branches.branches_of_group(target, since, of_all))
        return
    found = await active_branches(target, since, first, call.bot.sources)
    await call.answer(branches.branches(target, since, found))


@handles.command("help")
async def show_help(call: Call, _: None, *, verb: str | None, is_whole: bool) -> None:
    await call.reply(desk_help.help_text(call.bot.command, verb, is_whole=is_whole))
