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
    """A page of the active branches of one queue."""
    if not found.branches:
        return blocks.sentence(_without_any(repository, since, is_now=found.is_now))

    count = plural(found.total, "base branch", "base branches")
    activity = _activity(since, is_now=found.is_now)
    title = f":deciduous_tree: *{escape(repository)}*: {count} with {activity}"

    numbered = enumerate(found.branches, found.first + 1)
    lines = [f"{number}. {_branch_line(branch)}" for number, branch in numbered]
    on_page = portions(lines, PAGE_LENGTH)[0]

    command = f"branches {repository} {since_option(since)}"
    next_at = found.first + len(on_page)
    turns = page_buttons(command, found.first, found.total, BRANCHES_PER_PAGE, next_at=next_at)

    shown = [blocks.section(title), *blocks.lines(on_page), *turns]
    if found.is_now:
        shown.append(blocks.context(NO_EARLIER))
    return blocks.message(*shown)


def _without_any(repository: RepositoryName, since: timedelta, *, is_now: bool) -> str:
    name = escape(repository)
    if is_now:
        return f"No base branch of {name} has a queue now. {NO_EARLIER}"
    return f"No base branch of {name} had queue activity in the last {period(since)}."


def _activity(since: timedelta, *, is_now: bool) -> str:
    """What the counted branches have. `is_now`: the service tells only of the present."""
    if is_now:
        return "a queue now"
    return f"queue activity in the last {period(since)}"


def branches_of_group(group: Group, since: timedelta, found: GroupAnswers[BranchNames]) -> Message:
    """The names of the active branches of each queue."""
    total = sum(len(queue.names) for queue in found.known)
    count = plural(total, "base branch", "base branches")
    is_now = any(queue.is_now for queue in found.known)
    counted = f"{count} with {_activity(since, is_now=is_now)}"
    title = f":deciduous_tree: *{name_of(group.name)}*: {counted}{of_those_read(found)}"
    command = f"branches {group.mention} {since_option(since)}"
    context = NO_EARLIER if is_now else ""
    return overview(title, found, _branch_names, command=command, size=GROUP_PAGE, context=context)


def _branch_names(found: BranchNames) -> str:
    names = [code(name, NAME_LIMIT) for name in found.names]
    return listed(names, most=BRANCHES_NAMED) or "none"


def _branch_line(branch: BranchActivity) -> str:
    facts = [code(branch.name)]
    if branch.queued:
        facts.append(f"{branch.queued:,} queued")
    elif branch.queued is not None:
        facts.append("queue empty")
    if branch.merge is not None:
        linked = subject(branch.merge, branch.merged)
        facts.append(f"last merge {linked}, {local_time(branch.merge.received_at)}")
    return " · ".join(facts)
