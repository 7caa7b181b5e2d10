"""Base branches with queue activity: how many wait for each, and what merged last."""

from datetime import timedelta

from bot.blocks import blocks
from bot.blocks.groups import name_of
from bot.blocks.message import Message
from bot.blocks.overview import GROUP_QUEUES_PER_PAGE as GROUP_PAGE, of_those_read, overview
from bot.blocks.paging import page_buttons, since_option
from bot.blocks.text import NAME_LIMIT, code, escape, listed, local_time, period, plural, portions
from bot.feed.texts.event_posts import subject
from bot.kernel.groups import Group, GroupAnswers
from bot.kernel.repository import RepositoryName
from bot.questions.snapshots import BranchActivity, BranchNames, BranchPage

BRANCHES_PER_PAGE = 10
PAGE_LENGTH = 8400
BRANCHES_NAMED = 5
"""Branches of each queue of a group."""

NO_EARLIER = "The service no longer offers earlier activity."


def branches(repository: RepositoryName, since: timedelta, found: BranchPage) -> Message:
    """A page of them."""
    name = escape(repository)
    back = period(since)
    if not found.branches:
        seen = "has a queue now" if found.is_now else f"had queue activity in the last {back}"
        return blocks.sentence(f"No base branch of {name} {seen}. {_limits(found)}".rstrip())
    count = plural(found.total, "base branch", "base branches")
    seen = "a queue now" if found.is_now else f"queue activity in the last {back}"
    head = f"*{name}*: {count} with {seen}"
    lines = [f"{at}. {_line(branch)}" for at, branch in enumerate(found.branches, found.first + 1)]
    lines = portions(lines, PAGE_LENGTH)[0]
    shown = [blocks.section(f":deciduous_tree: {head}"), *blocks.lines(lines)]
    command = f"branches {repository} {since_option(since)}"
    next_at = found.first + len(lines)
    shown += page_buttons(command, found.first, found.total, BRANCHES_PER_PAGE, next_at=next_at)
    if found.is_now:
        shown.append(blocks.context(_limits(found)))
    return blocks.message(*shown)


def of_group(group: Group, since: timedelta, found: GroupAnswers[BranchNames]) -> Message:
    """The names of the active branches of each queue."""
    count = plural(
        sum(len(repository.names) for repository in found.known), "base branch", "base branches"
    )
    is_now = any(repository.is_now for repository in found.known)
    seen = "a queue now" if is_now else f"queue activity in the last {period(since)}"
    title = f":deciduous_tree: *{name_of(group.name)}*: {count} with {seen}{of_those_read(found)}"
    command = f"branches {group.mention} {since_option(since)}"
    context = NO_EARLIER if is_now else ""
    return overview(title, found, _names, command=command, size=GROUP_PAGE, context=context)


def _names(found: BranchNames) -> str:
    names = [code(name, NAME_LIMIT) for name in found.names]
    return listed(names, most=BRANCHES_NAMED) or "none"


def _limits(found: BranchPage) -> str:
    return NO_EARLIER if found.is_now else ""


def _line(branch: BranchActivity) -> str:
    facts = [code(branch.name)]
    if branch.queued is not None:
        facts.append(f"{branch.queued:,} queued" if branch.queued else "queue empty")
    if branch.merge is not None:
        linked = subject(branch.merge, branch.merged)
        facts.append(f"last merge {linked}, {local_time(branch.merge.received_at)}")
    return " · ".join(facts)
