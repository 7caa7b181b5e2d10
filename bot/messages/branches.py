"""Base branches with queue activity."""

from bot.domain.branches import Branches
from bot.domain.message import Message
from bot.messages import blocks
from bot.messages.paging import page_buttons, since_option, slice_from
from bot.messages.text import code, escape, listed, period, plural, portions

PAGE = 20
PAGE_LENGTH = 8400
TEXT_LENGTH = 3500
NAME_LIMIT = 120


def branches(found: Branches, first: int = 0) -> Message:
    """A page of them; `first` counts from 0."""
    name, since = escape(found.repository), period(found.since)
    if not found.names:
        text = f"No base branch of {name} had queue activity in the last {since}."
        return blocks.sentence(text)
    first, page = slice_from(found.names, first, PAGE)
    count = plural(len(found.names), "base branch", "base branches")
    head = f"*{name}*: {count} with queue activity in the last {since}"
    lines = [f"{at}. {code(one, NAME_LIMIT)}" for at, one in enumerate(page, first + 1)]
    lines = portions(lines, PAGE_LENGTH)[0]
    shown = [blocks.section(f":deciduous_tree: {head}"), *blocks.lines(lines)]
    command = f"branches {found.repository} {since_option(found.since)}"
    buttons = page_buttons(command, first, len(found.names), PAGE, next_at=first + len(lines))
    if buttons is not None:
        shown.append(buttons)
    plain = listed([code(one, NAME_LIMIT) for one in page], length=TEXT_LENGTH)
    return Message(text=f"{head.replace('*', '')}: {plain}", blocks=tuple(shown))
