"""The live queue of a repository, with its buttons."""

from datetime import datetime

from bot.blocks import blocks
from bot.blocks.controls import NEXT_PAGE, REFRESH, SHARE
from bot.blocks.message import Block, Message
from bot.blocks.paging import from_place
from bot.blocks.text import clean, clock_time, duration, listed, portions, quote
from bot.freezes.texts.cards import freeze_blocks, next_freeze_line
from bot.merge_queue.queue import QueuedPullRequest
from bot.queues import picture as queue_picture
from bot.queues.estimate import NO_OUTLOOK, Outlook
from bot.queues.snapshot import Snapshot
from bot.queues.texts import parts as queue_parts
from bot.queues.texts.parts import filling

PAGE_LENGTH = 8400
SHOWN_WAITING = 10
WAITING_PER_PAGE = 25
REPOSITORY_LIMIT = 150
PRIORITY_LIMIT = 30
USUAL_PRIORITY = "medium"


def status(snapshot: Snapshot, outlook: Outlook = NO_OUTLOOK) -> Message:
    """The answer to `status`; only the head of a long queue is shown."""
    return blocks.message(*queue_parts.fitting(lambda room: _blocks(snapshot, outlook, room)))


def _blocks(snapshot: Snapshot, outlook: Outlook, room: int) -> list[Block]:
    """At most `room` characters of batches, and as many of waiting pull requests."""
    picture = queue_picture.picture(snapshot)
    counts = "" if queue_parts.is_idle(picture) else queue_parts.queue_counts(picture)
    facts = blocks.context(
        counts,
        queue_parts.next_merge(picture, snapshot.read_at),
        queue_parts.unreadable(picture),
        f"Updated {clock_time(snapshot.read_at)}",
    )
    full = {batch.id: filling(batch) for batch in snapshot.status.batches}
    return [
        status_headline(snapshot),
        facts,
        *queue_parts.own_outlook(outlook, snapshot.read_at),
        *reason(snapshot),
        *next_freeze_line(snapshot.next_freeze),
        *queue_parts.batch_blocks(picture, room, snapshot.read_at, full),
        *_waiting_blocks(snapshot, room),
        _status_buttons(snapshot),
    ]


def status_headline(snapshot: Snapshot) -> Block:
    picture = queue_picture.picture(snapshot)
    return queue_parts.queue_headline(snapshot.repository, picture, branch=snapshot.branch)


def reason(snapshot: Snapshot) -> list[Block]:
    """Why the queue is paused or frozen."""
    paused = queue_parts.pause_blocks(queue_picture.picture(snapshot).pause)
    return [*paused, *freeze_blocks(snapshot.freezes)]


def waiting_page(snapshot: Snapshot, first: int) -> Message:
    """A page of the waiting pull requests; `first` counts from 0."""
    waiting = snapshot.status.waiting_pull_requests
    page = waiting[first : first + WAITING_PER_PAGE]
    if not page:
        return status(snapshot)
    lines = [_waiting(queued, snapshot.read_at) for queued in page]
    on_page = portions(lines, PAGE_LENGTH)[0]
    last = first + len(on_page)
    which = f"{first + 1:,} to {last:,} of {len(waiting):,}"
    title = blocks.section(f"*{quote(snapshot.repository, REPOSITORY_LIMIT)}*: waiting {which}")

    buttons = [blocks.button("Back", action_id=REFRESH, value=_command(snapshot))]
    if last < len(waiting):
        buttons.append(_more_button(snapshot, last))
    return blocks.message(title, *blocks.lines(on_page), blocks.actions(buttons))


def _more_button(snapshot: Snapshot, first: int) -> blocks.Element:
    value = from_place(_command(snapshot), first)
    return blocks.button("Show more", action_id=NEXT_PAGE, value=value)


def _command(snapshot: Snapshot) -> str:
    branch = f" branch:{snapshot.branch}" if snapshot.branch is not None else ""
    return f"status {snapshot.repository}{branch}"


def _waiting_blocks(snapshot: Snapshot, room: int) -> list[Block]:
    waiting = snapshot.status.waiting_pull_requests
    if not waiting:
        return []
    lines = [_waiting(queued, snapshot.read_at) for queued in waiting]
    head = f"*Waiting* {queue_parts.waiting_for(queue_picture.picture(snapshot))}"
    shown = listed(lines, "\n", length=room, most=SHOWN_WAITING)
    return [blocks.section(f"{head}\n{shown}")]


def _waiting(queued: QueuedPullRequest, now: datetime) -> str:
    """Without a number, because those waiting may stand in several lines."""
    shown = queue_picture.shown(queued)
    facts = [queue_parts.authored(shown), duration(now - queued.queued_at)]
    priority = clean(queued.priority_alias, PRIORITY_LIMIT)
    if priority not in {"", USUAL_PRIORITY}:
        facts.append(f"{quote(priority, PRIORITY_LIMIT)} priority")
    return f"• {' · '.join(facts)}{queue_parts.waits_for(shown)}"


def _status_buttons(snapshot: Snapshot) -> Block:
    value = _command(snapshot)
    picture = queue_picture.picture(snapshot)
    buttons = [
        queue_parts.toggle(snapshot.repository, picture),
        *queue_parts.why_buttons(snapshot.repository, picture),
        refresh_button(snapshot),
        blocks.button("Share in channel", action_id=SHARE, value=value),
    ]
    if len(snapshot.status.waiting_pull_requests) > SHOWN_WAITING:
        buttons.append(_more_button(snapshot, SHOWN_WAITING))
    return blocks.actions(buttons)


def refresh_button(snapshot: Snapshot) -> blocks.Element:
    return blocks.button(
        "Refresh",
        action_id=REFRESH,
        value=_command(snapshot),
        spoken=f"Refresh {snapshot.repository}",
    )
