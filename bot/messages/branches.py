"""Base branches with queue activity."""

from bot.domain.branches import Branches
from bot.domain.message import Message
from bot.messages import blocks
from bot.messages.actions import BRANCHES_BACK, BRANCHES_ON
from bot.messages.paging import offset_buttons, slice_from
from bot.messages.text import code, cut_markup, escape, period, plural

PAGE = 20
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
    shown = [blocks.section(f":deciduous_tree: {head}"), blocks.section("\n".join(lines))]
    value = f"{int(found.since.total_seconds())} {found.repository}"
    buttons = offset_buttons(
        value, first, len(found.names), PAGE, on=BRANCHES_ON, back=BRANCHES_BACK
    )
    if buttons is not None:
        shown.append(buttons)
    text = f"{head.replace('*', '')}: {', '.join(code(one, NAME_LIMIT) for one in page)}"
    return Message(text=cut_markup(text, blocks.FALLBACK_LIMIT), blocks=tuple(shown))
