"""The queues of a group at a glance."""

from collections.abc import Sequence

from bot.domain.groups import Group
from bot.domain.message import Message
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import Snapshot
from bot.messages import blocks
from bot.messages.groups.group_acts import listed, name_of, queues
from bot.messages.text import NAME_LIMIT, cut_markup, escape, plural, quote
from bot.messages.timers import lifts

STATUS_LENGTH = 8500
SECTION_LENGTH = 2800


def status(group: Group, read: Sequence[Snapshot | RepositoryName]) -> Message:
    """A compact line for each repository of a group."""
    headline = f"{name_of(group.name)}: {_counted(read)}"
    lines = listed([_status_line(one) for one in read], "\n", STATUS_LENGTH)
    plain = lines.replace("\n• ", "; ").removeprefix("• ")
    return Message(
        text=cut_markup(f"{headline}. {plain}", blocks.FALLBACK_LIMIT),
        blocks=(
            blocks.section(f"*{headline}*"),
            *(blocks.section(part) for part in _sections(lines)),
        ),
    )


def _counted(read: Sequence[Snapshot | RepositoryName]) -> str:
    """A queue that could not be read is never counted as one that is not paused."""
    known = [one for one in read if isinstance(one, Snapshot)]
    unread = len(read) - len(known)
    if not known:
        return f"{queues(unread)} could not be read just now"
    paused = sum(one.pause is not None for one in known)
    besides = f", {unread:,} could not be read" if unread else ""
    return f"{paused:,} of {queues(len(read))} paused{besides}"


def _sections(text: str) -> list[str]:
    """Whole lines, as many in each as a section holds."""
    sections: list[str] = []
    for line in text.split("\n"):
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
        return f"• *{escape(one.repository)}* running · {queued}"
    by = f" by {quote(one.pause.by, NAME_LIMIT)}" if one.pause.by is not None else ""
    end = lifts(one.pause.lifts_at, is_overdue=one.pause.is_overdue)
    reason = quote(one.pause.reason, NAME_LIMIT)
    return f"• *{escape(one.repository)}* paused{by}{end and f', {end}'}: {reason} · {queued}"
