"""Pages of a list that is read again at every click: where they start, and their buttons."""

from collections.abc import Sequence
from datetime import timedelta
from typing import TypeVar

from bot.blocks import blocks
from bot.blocks.controls import BACK, NEXT_PAGE
from bot.blocks.message import Block

Item = TypeVar("Item")


def slice_from(items: Sequence[Item], first: int, size: int) -> tuple[int, Sequence[Item]]:
    """The page at `first`, or the last page of a list that has become shorter meanwhile."""
    last_page = (len(items) - 1) // size * size
    first = max(first if first < len(items) else last_page, 0)
    return first, items[first : first + size]


def page_buttons(
    command: str,
    first: int,
    total: int,
    size: int,
    *,
    ids: tuple[str, str] = (BACK, NEXT_PAGE),
    next_at: int | None = None,
) -> list[Block]:
    """*Back* and *Show more*, which run `command` from another place; none if everything is shown.

    The next page begins at `next_at`, where this one has no room for `size` items.
    """
    next_at = first + size if next_at is None else next_at
    back, on = ids
    buttons = []
    if first > 0:
        value = from_place(command, max(first - size, 0))
        buttons.append(blocks.button("Back", action_id=back, value=value))
    if next_at < total:
        value = from_place(command, next_at)
        buttons.append(blocks.button("Show more", action_id=on, value=value))
    return [blocks.actions(buttons)] if buttons else []


def from_place(command: str, first: int) -> str:
    """The command for the page that begins at `first`, counted from 0."""
    return f"{command} from:{first + 1}"


def since_option(length: timedelta) -> str:
    """A length of time as commands expect it."""
    return f"since:{length // timedelta(minutes=1)}m"
