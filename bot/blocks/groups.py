"""Names of groups and their queues."""

from collections.abc import Sequence

from bot.blocks import blocks, controls
from bot.blocks.text import escape, listed, plural
from bot.kernel.groups import OF_OWNER, Group, Target, mention_of
from bot.kernel.repository import RepositoryName


def named(target: Target) -> str:
    """Escaped."""
    return name_of(target.name) if isinstance(target, Group) else escape(target)


NAMED_IN_FULL = 20


def name_of(group: str) -> str:
    """A group in a message, where the star of `owner/*` would end bold text."""
    if group.endswith(OF_OWNER):
        return f"all of {escape(group.removesuffix(OF_OWNER))}"
    return escape(mention_of(group))


def queues(count: int) -> str:
    return plural(count, "queue")


def names(repositories: Sequence[RepositoryName], rest: str = "") -> str:
    """As many names as fit; `rest` says where to see the others."""
    return listed([escape(repository) for repository in repositories], rest=rest)


def show_all(group: str, count: int) -> list[blocks.Element]:
    """A button that lists all queues, for groups too large to be named in full."""
    if count <= NAMED_IN_FULL:
        return []
    value = f"status {mention_of(group)}"
    return [blocks.button("Show all queues", action_id=controls.RETRY, value=value)]
