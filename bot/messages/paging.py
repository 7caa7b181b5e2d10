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
    what: str,
    first: int,
    total: int,
    size: int,
    *,
    turn: tuple[str, str],
    next_at: int | None = None,
) -> Block | None:
    """*Back* and *Show more*, by the action ids in `turn`; None where all is shown.

    Each carries the place of the first item to show, then `what`. The next page begins at
    `next_at`, where this one has no room for `size` items.
    """
    next_at = first + size if next_at is None else next_at
    back, on = turn
    buttons = []
    if first > 0:
        value = f"{max(first - size, 0)} {what}"
        buttons.append(blocks.button("Back", action_id=back, value=value))
    if next_at < total:
        buttons.append(blocks.button("Show more", action_id=on, value=f"{next_at} {what}"))
    return blocks.actions(buttons) if buttons else None
