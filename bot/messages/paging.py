"""Pages of a list that is read anew at every click: where they start, and their buttons."""

from collections.abc import Sequence
from typing import TypeVar

from bot.domain.message import Block
from bot.messages import blocks

Item = TypeVar("Item")


def slice_from(items: Sequence[Item], first: int, size: int) -> tuple[int, Sequence[Item]]:
    """The page at `first`, or the last page of a list that has become shorter meanwhile."""
    last_page = (len(items) - 1) // size * size
    first = max(min(first, last_page), 0)
    return first, items[first : first + size]


def offset_buttons(
    what: str, first: int, total: int, size: int, *, on: str, back: str
) -> Block | None:
    """*Back* and *Show more*, by the action ids `back` and `on`; None where all is shown.

    Each carries the place of the first item to show, then `what`.
    """
    buttons = []
    if first > 0:
        value = f"{max(first - size, 0)} {what}"
        buttons.append(blocks.button("Back", action_id=back, value=value))
    if first + size < total:
        buttons.append(blocks.button("Show more", action_id=on, value=f"{first + size} {what}"))
    return blocks.actions(buttons) if buttons else None
