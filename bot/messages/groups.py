"""The queues of a group: by name, at a glance, and in the question before they are paused."""

from collections.abc import Sequence
from datetime import datetime

from bot.domain.freezes import Freeze
from bot.domain.group_acts import read_as_end, read_asked, read_kept
from bot.domain.groups import ALL, Group
from bot.domain.message import Block, Message
from bot.domain.pauses import REASON_LIMIT
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import Snapshot
from bot.messages import actions, blocks, paging, timers
from bot.messages.freezes import freeze_period, freeze_reason
from bot.messages.pause_card import by_whom
from bot.messages.pause_form import will_stop
from bot.messages.text import NAME_LIMIT, escape, listed, local_time, plural, portions, quote

NAMED_IN_FULL = 20


def name_of(group: str) -> str:
    """The group's name as people write it."""
    return ALL if group == ALL else f"@{escape(group)}"


def queues(count: int) -> str:
    return plural(count, "queue")


def names(repositories: Sequence[RepositoryName], rest: str = "") -> str:
    """As many names as fit; `rest` says where to see the others."""
    return listed([escape(one) for one in repositories], rest=rest)


def show_all(group: str, count: int) -> list[blocks.Element]:
    """A button that lists all queues, for groups too large to be named in full."""
    if count <= NAMED_IN_FULL:
        return []
    value = f"status {name_of(group)}"
    return [blocks.button("Show all queues", action_id=actions.RETRY, value=value)]


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
    end = timers.resumes(one.pause.resumes_at, is_overdue=one.pause.is_overdue)
    reason = quote(one.pause.reason, NAME_LIMIT)
    return f"• *{escape(one.repository)}* paused{by}{end and f', {end}'}: {reason} · {queued}"


def _frozen(freeze: Freeze) -> str:
    by = f" by {quote(freeze.by, NAME_LIMIT)}" if freeze.by else ""
    period = ", ".join(filter(None, [f"frozen{by}", freeze_period(freeze.terms)]))
    reason = freeze_reason(freeze, NAME_LIMIT)
    return f"{period}: {reason}" if reason else period


def confirm(
    group: Group,
    asked: str,
    read: Sequence[Snapshot | RepositoryName],
    resumes_at: datetime | None = None,
) -> Message:
    """The question before a group is paused: what would stop, and what stays as it is.

    `asked` is the typed text, kept in the button; `resumes_at` is when the pause ends.
    A duration at the end of the reason gives another button, which takes it for the end.
    """
    count = queues(len(group.repositories))
    question = f"Pause {_all_of(group)}?"
    reason = f"Reason: {quote(read_kept(asked).reason, REASON_LIMIT)}"
    ending = f"It resumes {local_time(resumes_at)}." if resumes_at is not None else ""
    facts = [ending, *impact(read)]
    value = actions.value_of(actions.GroupTarget(group.name, asked))
    label = f"Pause {count}"
    timed = read_as_end(asked)
    buttons = [blocks.button(label, action_id=actions.PAUSE_GROUP, value=value, style="danger")]
    if timed is not None:
        lasting = read_asked(timed).lasting
        end = timers.said(timers.spelled(lasting)) if lasting is not None else ""
        facts.insert(0, f"Did you mean to pause {end}? Without an end they stay paused.")
        as_end = actions.value_of(actions.GroupTarget(group.name, timed))
        buttons = [
            blocks.button(f"{label} {end}", action_id=actions.PAUSE_GROUP_FOR, value=as_end),
            blocks.button(
                f"{label} without an end",
                action_id=actions.PAUSE_GROUP,
                value=value,
                style="danger",
            ),
        ]
    return blocks.post(
        f":double_vertical_bar: *{question}* {reason}",
        names(group.repositories),
        details=["\n".join(fact for fact in facts if fact)],
        buttons=[
            *buttons,
            blocks.button("Leave it", action_id=actions.DISMISS, value=group.name),
            *show_all(group.name, len(group.repositories)),
        ],
    )


def _all_of(group: Group) -> str:
    count = queues(len(group.repositories))
    if group.name != ALL:
        return f"{count} of {group.mention}"
    return (
        f"all {count}"
        if len(group.repositories) > 1
        else f"{count}, {escape(group.repositories[0])}"
    )


def impact(read: Sequence[Snapshot | RepositoryName]) -> list[str]:
    """What would stop, what stays as it is, and what couldn't be read; may be empty."""
    snapshots = [one for one in read if isinstance(one, Snapshot)]
    paused = [one for one in snapshots if one.pause is not None]
    return [_stopping(snapshots), _already(paused), _unread(len(read) - len(snapshots))]


READING = "Reading the queues …"


def notes(
    group: Group, command: str, read: Sequence[Snapshot | RepositoryName] | None = None
) -> list[str]:
    """The form's notes on a group; `read` is None while its queues are being read."""
    count = queues(len(group.repositories))
    which = f"All {count}" if group.name == ALL else f"{count} of {name_of(group.name)}"
    rest = f" (`{escape(command)} status {name_of(group.name)}` lists them all)"
    facts = [READING] if read is None else impact(read)
    known = "\n".join(fact for fact in facts if fact)
    return [f"*{which}*: {names(group.repositories, rest)}", known]


def _stopping(snapshots: Sequence[Snapshot]) -> str:
    running = [one.impact() for one in snapshots if one.pause is None]
    if not running:
        return ""
    waiting = sum(one.waiting + one.in_batches for one in running)
    batches = sum(one.running_batches for one in running)
    due = min((one.next_merge_at for one in running if one.next_merge_at), default=None)
    next_merge = f", next merge was due {local_time(due)}" if due is not None else ""
    return f"{plural(waiting, 'pull request')} in the queues, {will_stop(batches)}{next_merge}."


def _already(paused: Sequence[Snapshot]) -> str:
    if not paused:
        return ""
    named = []
    for one in paused:
        by = by_whom(one.pause) if one.pause is not None else ""
        named.append(f"{escape(one.repository)}{by}")
    left = "it is" if len(paused) == 1 else "they are"
    return f"{len(paused)} already paused, left as {left}: {listed(named)}."


def _unread(count: int) -> str:
    if not count:
        return ""
    tried = "it" if count == 1 else "them"
    return f"{queues(count)} couldn't be read just now; I'll try to pause {tried} anyway."
