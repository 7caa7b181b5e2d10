"""Base branches with queue activity."""

from collections.abc import Sequence
from datetime import timedelta

from bot.domain.message import Message
from bot.domain.repository import RepositoryName
from bot.messages import blocks
from bot.messages.paging import page_buttons, since_option, slice_from
from bot.messages.text import code, escape, listed, period, plural, portions

PAGE = 20
PAGE_LENGTH = 8400
TEXT_LENGTH = 3500
NAME_LIMIT = 120


def branches(
    repository: RepositoryName, since: timedelta, found: Sequence[str], first: int = 0
) -> Message:
    """A page of them; `first` counts from 0."""
    name, back = escape(repository), period(since)
    if not found:
        text = f"No base branch of {name} had queue activity in the last {back}."
        return blocks.sentence(text)
    first, page = slice_from(found, first, PAGE)
    count = plural(len(found), "base branch", "base branches")
    head = f"*{name}*: {count} with queue activity in the last {back}"
    lines = [f"{at}. {code(one, NAME_LIMIT)}" for at, one in enumerate(page, first + 1)]
    lines = portions(lines, PAGE_LENGTH)[0]
    shown = [blocks.section(f":deciduous_tree: {head}"), *blocks.lines(lines)]
    command = f"branches {repository} {since_option(since)}"
    shown += page_buttons(command, first, len(found), PAGE, next_at=first + len(lines))
    plain = listed([code(one, NAME_LIMIT) for one in page], length=TEXT_LENGTH)
    return Message(text=f"{head.replace('*', '')}: {plain}", blocks=tuple(shown))
