"""Groups, queues and repositories by their names, within the length of a line."""

from collections.abc import Sequence

from bot.domain.groups import ALL
from bot.domain.repository import RepositoryName
from bot.messages.text import escape, plural

LINE_LENGTH = 1500
"""Of a line that names repositories; with all its lines a message stays within Slack's size."""


def name_of(group: str) -> str:
    """As people write it."""
    return ALL if group == ALL else f"@{escape(group)}"


def queues(count: int) -> str:
    return plural(count, "queue")


def names(repositories: Sequence[RepositoryName]) -> str:
    return listed([escape(one) for one in repositories])


def listed(parts: Sequence[str], joined_by: str = ", ", length: int = LINE_LENGTH) -> str:
    """As many of the parts as fit, and how many more there are."""
    shown, room = 0, length
    for part in parts:
        room -= len(part) + len(joined_by)
        if room < 0:
            break
        shown += 1
    left = len(parts) - shown
    more = f"{joined_by if joined_by != ', ' else ' '}and {left:,} more" if left else ""
    return joined_by.join(parts[:shown]) + more
