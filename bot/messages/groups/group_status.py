"""The queues of a group at a glance."""

from collections.abc import Sequence

from bot.domain.groups import Group
from bot.domain.message import Block, Message
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import Snapshot
from bot.messages import actions, blocks
from bot.messages.groups.names import name_of, queues
from bot.messages.text import NAME_LIMIT, cut_markup, escape, plural, quote
from bot.messages.timers import lifts

STATUS_LENGTH = 8500
SECTION_LENGTH = 2800
PAGE = 50
"""How far *Back* goes back; as many are read at a time."""


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
    lines = _fitting([_status_line(one) for one in read])
    last = first + len(lines)
    place = f"Queues {first + 1:,} to {last:,} of {total:,}" if len(lines) < total else ""
    plain = "; ".join([line.removeprefix("• ") for line in lines] + ([place] if place else []))
    return Message(
        text=cut_markup(f"{headline}. {plain}", blocks.FALLBACK_LIMIT),
        blocks=(
            blocks.section(f"*{headline}*"),
            *(blocks.section(part) for part in _sections(lines)),
            *_pages(group, place, first, last, total),
        ),
    )


def _fitting(lines: Sequence[str]) -> list[str]:
    room, shown = STATUS_LENGTH, list[str]()
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        shown.append(line)
    return shown


def _pages(group: Group, place: str, first: int, last: int, total: int) -> list[Block]:
    if not place:
        return []
    buttons = []
    if first > 0:
        value = f"{max(first - PAGE, 0)} {group.name}"
        buttons.append(blocks.button("Back", action_id=actions.GROUP_STATUS_BACK, value=value))
    if last < total:
        value = f"{last} {group.name}"
        buttons.append(blocks.button("Show more", action_id=actions.GROUP_STATUS_ON, value=value))
    return [blocks.context(place), *([blocks.actions(buttons)] if buttons else [])]


def _counted(read: Sequence[Snapshot | RepositoryName], total: int, paused_elsewhere: int) -> str:
    """A queue that could not be read is never counted as one that is not paused."""
    known = [one for one in read if isinstance(one, Snapshot)]
    unread = len(read) - len(known)
    if not known:
        return f"{queues(unread)} could not be read just now"
    paused = sum(one.pause is not None for one in known) + paused_elsewhere
    besides = f", {unread:,} could not be read" if unread else ""
    return f"{paused:,} of {queues(total)} paused{besides}"


def _sections(lines: Sequence[str]) -> list[str]:
    """Whole lines, as many in each as a section holds."""
    sections: list[str] = []
    for line in lines:
        if sections and len(sections[-1]) + len(line) < SECTION_LENGTH:
            sections[-1] += f"\n{line}"
        else:
            sections.append(line)
    return sections


def _status_line(one: Snapshot | RepositoryName) -> str:
    if not isinstance(one, Snapshot):
        return f"• *{escape(one)}* could not be read just now"
    impact = one.impact()
    queued = f"{plural(impact.waiting + impact.in_batches, 'pull request')} in the queue"
    if one.pause is None:
        state = "frozen" if one.freezes else "running"
        state = state if one.is_pause_known else "running or paused"
        return f"• *{escape(one.repository)}* {state} · {queued}"
    by = f" by {quote(one.pause.by, NAME_LIMIT)}" if one.pause.by is not None else ""
    end = lifts(one.pause.lifts_at, is_overdue=one.pause.is_overdue)
    reason = quote(one.pause.reason, NAME_LIMIT)
    return f"• *{escape(one.repository)}* paused{by}{end and f', {end}'}: {reason} · {queued}"
