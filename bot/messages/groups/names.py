"""Groups, queues and repositories by their names, within the length of a line."""

from collections.abc import Sequence

from bot.domain.groups import ALL
from bot.domain.repository import RepositoryName
from bot.messages import actions, blocks
from bot.messages.text import escape, listed, plural

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
