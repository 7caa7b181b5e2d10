"""Base branches with queue activity: how many wait for each, and what merged last."""

from datetime import timedelta

from bot.domain.message import Message
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import BranchActivity, BranchPage
from bot.messages import blocks
from bot.messages.events.event_posts import subject
from bot.messages.paging import page_buttons, since_option
from bot.messages.text import code, escape, local_time, period, plural, portions

PAGE = 10
PAGE_LENGTH = 8400


def branches(repository: RepositoryName, since: timedelta, found: BranchPage) -> Message:
    """A page of them."""
    name, back = escape(repository), period(since)
    if not found.branches:
        seen = "has a queue now" if found.is_now else f"had queue activity in the last {back}"
        return blocks.sentence(f"No base branch of {name} {seen}. {_limits(found)}".rstrip())
    count = plural(found.total, "base branch", "base branches")
    seen = "a queue now" if found.is_now else f"queue activity in the last {back}"
    head = f"*{name}*: {count} with {seen}"
    lines = [f"{at}. {_line(one)}" for at, one in enumerate(found.branches, found.first + 1)]
    lines = portions(lines, PAGE_LENGTH)[0]
    shown = [blocks.section(f":deciduous_tree: {head}"), *blocks.lines(lines)]
    command, next_at = f"branches {repository} {since_option(since)}", found.first + len(lines)
    shown += page_buttons(command, found.first, found.total, PAGE, next_at=next_at)
    if found.is_now:
        shown.append(blocks.context(_limits(found)))
    return blocks.message(*shown)


def _limits(found: BranchPage) -> str:
    return "The service no longer offers earlier activity." if found.is_now else ""


def _line(one: BranchActivity) -> str:
    facts = [code(one.name)]
    if one.queued is not None:
        facts.append(f"{one.queued:,} queued" if one.queued else "queue empty")
    if one.merge is not None:
        linked = subject(one.merge, one.merged)
        facts.append(f"last merge {linked} {local_time(one.merge.received_at)}")
    return " · ".join(facts)
