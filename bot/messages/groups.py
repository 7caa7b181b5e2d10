"""The queues of a group: by name, at a glance, and in the question before they are paused."""

from collections.abc import Sequence
from datetime import datetime

from bot.domain.asked import Asked
from bot.domain.groups import ALL, Group, Target, target_value
from bot.domain.message import Message
from bot.domain.pauses import REASON_LIMIT
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import Snapshot
from bot.messages import actions, blocks, paging, pause_form, timers
from bot.messages.freezes import freeze_period, freeze_reason
from bot.messages.pause_card import by_whom
from bot.messages.text import NAME_LIMIT, by, escape, listed, local_time, plural, portions, quote

NAMED_IN_FULL = 20
STATUS_LENGTH = 8500
PAGE = 50
"""Queues on a page; as many are read at a time."""

READING = "Reading the queues …"


def name_of(group: str) -> str:
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
    known = [one for one in read if isinstance(one, Snapshot)]
    unread = len(read) - len(known)
    counted = f"{queues(unread)} couldn't be read just now"
    if known:
        paused = sum(one.pause is not None for one in known) + paused_elsewhere
        besides = f", {unread:,} could not be read" if unread else ""
        counted = f"{paused:,} of {queues(total)} paused{besides}"
    lines = portions([_status_line(one) for one in read], STATUS_LENGTH)[0]
    shown = [blocks.section(f"*{name_of(group.name)}: {counted}*"), *blocks.lines(lines)]
    if len(lines) < total:
        last = first + len(lines)
        shown += [
            blocks.context(f"Queues {first + 1:,} to {last:,} of {total:,}"),
            *paging.page_buttons(f"status {group.mention}", first, total, PAGE, next_at=last),
        ]
    return blocks.message(*shown)


def _status_line(one: Snapshot | RepositoryName) -> str:
    if not isinstance(one, Snapshot):
        return f"• *{escape(one)}* couldn't be read just now"
    if one.pause is not None:
        end = timers.resumes(one.pause.resumes_at, is_overdue=one.pause.is_overdue)
        state = ", ".join(filter(None, [f"paused{by_whom(one.pause)}", end]))
        state += f": {quote(one.pause.reason, NAME_LIMIT)}"
    elif one.freezes:
        freeze = one.freezes[0]
        frozen = f"frozen {by(freeze.by)}".rstrip()
        state = ", ".join(filter(None, [frozen, freeze_period(freeze.terms)]))
        reason = freeze_reason(freeze, NAME_LIMIT)
        state += f": {reason}" if reason else ""
    else:
        state = "running" if one.is_pause_known else "running or paused"
    queued = f"{plural(len(one.status.queued), 'pull request')} in the queue"
    return f"• *{escape(one.repository)}* {state} · {queued}"


def confirm(
    group: Group,
    asked: Asked,
    read: Sequence[Snapshot | RepositoryName],
    resumes_at: datetime | None = None,
) -> Message:
    """The question before a group is paused: what would stop, and what stays as it is.

    `resumes_at` is when the pause ends. A duration at the end of the reason gives another button,
    which takes it for the end.
    """
    count = queues(len(group.repositories))
    which = f"{count} of {group.mention}"
    if group.name == ALL:
        is_one = len(group.repositories) == 1
        which = f"{count}, {escape(group.repositories[0])}" if is_one else f"all {count}"
    ending = f"It stays paused {timers.NO_END}."
    if resumes_at is not None:
        ending = f"It resumes {local_time(resumes_at)}."
    label, timed, buttons = f"Pause {count}", asked.with_end, []
    if timed is not None:
        end = timers.ending(timed)
        ending = f"Did you mean to pause {end}? Without an end they stay paused."
        as_end = actions.value_of(actions.PauseChoice(target_value(group), timed))
        with_end = f"{label} {end}"
        buttons = [blocks.button(with_end, action_id=actions.PAUSE_FOR, value=as_end)]
        label = f"{label} without an end"
    value = actions.value_of(actions.PauseChoice(target_value(group), asked))
    return blocks.post(
        f":double_vertical_bar: *Pause {which}?* Reason: {quote(asked.reason, REASON_LIMIT)}",
        names(group.repositories),
        details=["\n".join([ending, *impact(read)])],
        buttons=[
            *buttons,
            blocks.button(label, action_id=actions.PAUSE_CONFIRMED, value=value, style="danger"),
            blocks.button("Leave it", action_id=actions.DISMISS, value=group.name),
            *show_all(group.name, len(group.repositories)),
        ],
    )


def impact(read: Sequence[Snapshot | RepositoryName]) -> list[str]:
    """What would stop, what stays as it is, and what couldn't be read; may be empty."""
    snapshots = [one for one in read if isinstance(one, Snapshot)]
    running = [one.status for one in snapshots if one.pause is None]
    facts = []
    if running:
        due = min((one.next_merge_at for one in running if one.next_merge_at), default=None)
        facts.append(
            f"{plural(sum(len(one.queued) for one in running), 'pull request')} in the queues, "
            + pause_form.will_stop(sum(len(one.running) for one in running))
            + (f", next merge was due {local_time(due)}." if due is not None else ".")
        )
    paused = [f"{escape(one.repository)}{by_whom(one.pause)}" for one in snapshots if one.pause]
    if paused:
        left = "it is" if len(paused) == 1 else "they are"
        facts.append(f"{len(paused)} already paused, left as {left}: {listed(paused)}.")
    unread = len(read) - len(snapshots)
    if unread:
        tried = "it" if unread == 1 else "them"
        facts.append(
            f"{queues(unread)} couldn't be read just now; I'll try to pause {tried} anyway."
        )
    return facts


def notes(
    target: Target | None, command: str, read: Sequence[Snapshot | RepositoryName] = ()
) -> list[str]:
    """The form's notes on what would be paused; `read` is empty while the queues are being read."""
    if isinstance(target, Group):
        count = queues(len(target.repositories))
        which = f"All {count}" if target.name == ALL else f"{count} of {name_of(target.name)}"
        rest = f" (`{escape(command)} status {name_of(target.name)}` lists them all)"
        facts = impact(read) if read else [READING]
        return [f"*{which}*: {names(target.repositories, rest)}", "\n".join(facts)]
    if target is None:
        return [pause_form.CHOOSE_FIRST]
    snapshots = [one for one in read if isinstance(one, Snapshot)]
    if snapshots:
        return pause_form.queue_notes(snapshots[0])
    return [pause_form.UNREADABLE if read else pause_form.READING]
