"""Status and figures of a group of queues."""

from collections.abc import Sequence

from bot.blocks import blocks
from bot.blocks.groups import name_of, queues
from bot.blocks.message import Message
from bot.blocks.overview import GROUP_QUEUES_PER_PAGE, UNREAD, page_of_lines
from bot.blocks.text import NAME_LIMIT, by, by_count, escape, listed, literal
from bot.freezes.texts.cards import freeze_period, freeze_reason
from bot.kernel.groups import Group
from bot.kernel.repository import RepositoryName
from bot.pauses.texts import ends as pause_ends
from bot.pauses.texts.card import by_whom
from bot.queues.snapshot import Snapshot

READING_THE_QUEUES = "Reading the queues …"


def status(
    group: Group,
    read: Sequence[Snapshot | RepositoryName],
    *,
    first: int = 0,
    total: int | None = None,
    paused_elsewhere: int = 0,
) -> Message:
    """A compact line for each repository of a group, or of a page of it.

    `read` begins at place `first` of `total`; `paused_elsewhere` of the others are paused. A queue
    that couldn't be read never counts as running.
    """
    total = len(read) if total is None else total
    known = [queue for queue in read if isinstance(queue, Snapshot)]
    unread = len(read) - len(known)
    counted = by_count(unread, "{count} queue couldn't be read", "{count} queues couldn't be read")
    if known:
        paused = sum(snapshot.pause is not None for snapshot in known) + paused_elsewhere
        besides = f", {unread:,} couldn't be read" if unread else ""
        counted = f"{paused:,} of {queues(total)} paused{besides}"
    title = f"*{name_of(group.name)}: {counted}*"
    command = f"status {group.mention}"
    lines = [_status_line(queue) for queue in read]
    return blocks.message(
        *page_of_lines(title, lines, command, first, total, GROUP_QUEUES_PER_PAGE)
    )


def _status_line(queue: Snapshot | RepositoryName) -> str:
    if not isinstance(queue, Snapshot):
        return f"• *{escape(queue)}* {UNREAD}"
    if queue.pause is not None:
        end = pause_ends.resumes(queue.pause.resumes_at, is_overdue=queue.pause.is_overdue)
        state = ", ".join(filter(None, [f"paused{by_whom(queue.pause)}", end]))
        state += f": {literal(queue.pause.line.reason, NAME_LIMIT)}"
    elif queue.is_frozen:
        freeze = queue.freezes[0]
        frozen = f"frozen {by(freeze.by)}".rstrip()
        state = ", ".join(filter(None, [frozen, freeze_period(freeze.terms)]))
        reason = freeze_reason(freeze, NAME_LIMIT)
        state += f": {reason}" if reason else ""
        if queue.freezes[1:]:
            count = len(queue.freezes) - 1
            state += by_count(count, ", and 1 other freeze", ", and {count} other freezes")
    elif queue.freezes and queue.is_pause_known:
        state = "partly frozen"
    else:
        state = "running" if queue.is_pause_known else "running or paused"
    return f"• *{escape(queue.repository)}* {state} · {len(queue.status.queued):,} queued"


def all_paused(group: Group, paused: Sequence[Snapshot]) -> Message:
    """Instead of the question about a group in which nothing would change."""
    names = listed(
        [
            f"{escape(snapshot.repository)}{by_whom(snapshot.pause) if snapshot.pause else ''}"
            for snapshot in paused
        ]
    )
    already = by_count(
        len(paused), "The queue is already paused", "All {count} queues are already paused"
    )
    said = f"*{name_of(group.name)}*: {already}: {names}. Nothing was changed."
    return blocks.sentence(f":double_vertical_bar: {said}")
