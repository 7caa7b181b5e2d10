"""The queues of a group at a glance."""

from collections.abc import Sequence

from bot.domain.freezes import Freeze
from bot.domain.groups import Group
from bot.domain.message import Block, Message
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import Snapshot
from bot.messages import blocks, paging
from bot.messages.freezes import freeze_period
from bot.messages.groups.names import name_of, queues
from bot.messages.pause_card import by_whom
from bot.messages.text import NAME_LIMIT, escape, plural, portions, quote
from bot.messages.timers import resumes

STATUS_LENGTH = 8500
PAGE = 50
"""Queues on a page; as many are read at a time."""


def status(
    group: Group,
    read: Sequence[Snapshot | RepositoryName],
    *,
    first: int = 0,
    total: int | None = None,
    paused_elsewhere: int = 0,
) -> Message:
    """A compact line for each repository of a group, or of a page of it.

    `read` begins at place `first` of `total`; `paused_elsewhere` of the others are paused.
    """
    total = len(read) if total is None else total
    headline = f"{name_of(group.name)}: {_counted(read, total, paused_elsewhere)}"
    lines = portions([_status_line(one) for one in read], STATUS_LENGTH)[0]
    last = first + len(lines)
    place = f"Queues {first + 1:,} to {last:,} of {total:,}" if len(lines) < total else ""
    return blocks.message(
        blocks.section(f"*{headline}*"),
        *blocks.lines(lines),
        *_pages(group, place, first, last, total),
    )


def _pages(group: Group, place: str, first: int, last: int, total: int) -> list[Block]:
    if not place:
        return []
    buttons = paging.page_buttons(f"status {group.mention}", first, total, PAGE, next_at=last)
    return [blocks.context(place), *buttons]


def _counted(read: Sequence[Snapshot | RepositoryName], total: int, paused_elsewhere: int) -> str:
    """The counts; a queue that couldn't be read never counts as running."""
    known = [one for one in read if isinstance(one, Snapshot)]
    unread = len(read) - len(known)
    if not known:
        return f"{queues(unread)} couldn't be read just now"
    paused = sum(one.pause is not None for one in known) + paused_elsewhere
    besides = f", {unread:,} could not be read" if unread else ""
    return f"{paused:,} of {queues(total)} paused{besides}"


def _status_line(one: Snapshot | RepositoryName) -> str:
    if not isinstance(one, Snapshot):
        return f"• *{escape(one)}* couldn't be read just now"
    impact = one.impact()
    queued = f"{plural(impact.waiting + impact.in_batches, 'pull request')} in the queue"
    if one.pause is None:
        state = _frozen(one.freezes[0]) if one.freezes else "running"
        state = state if one.is_pause_known or one.freezes else "running or paused"
        return f"• *{escape(one.repository)}* {state} · {queued}"
    by = by_whom(one.pause)
    end = resumes(one.pause.resumes_at, is_overdue=one.pause.is_overdue)
    reason = quote(one.pause.reason, NAME_LIMIT)
    return f"• *{escape(one.repository)}* paused{by}{end and f', {end}'}: {reason} · {queued}"


def _frozen(freeze: Freeze) -> str:
    by = f" by {quote(freeze.by, NAME_LIMIT)}" if freeze.by else ""
    period = ", ".join(filter(None, [f"frozen{by}", freeze_period(freeze.terms)]))
    reason = quote(freeze.terms.reason or "", NAME_LIMIT)
    return f"{period}: {reason}" if reason else period
