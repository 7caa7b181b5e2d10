"""A line for each queue of a group."""

from collections.abc import Callable, Sequence

from bot.blocks import blocks, paging
from bot.blocks.groups import queues
from bot.blocks.message import Block, Message
from bot.blocks.text import cut_markup, escape, portions
from bot.kernel.groups import Answer, GroupAnswers

STATUS_LENGTH = 8500


GROUP_QUEUES_PER_PAGE = 50
"""Queues on a page; as many are read at a time."""


LINE_LENGTH = 800


UNREAD = "couldn't be read just now"


def page_of_lines(
    title: str, lines: Sequence[str], command: str, first: int, total: int, size: int
) -> list[Block]:
    """A line for each queue, as many as fit, and buttons for the others."""
    fitting = portions(lines, STATUS_LENGTH)[0]
    shown = [blocks.section(title), *blocks.lines(fitting)]
    if len(fitting) < total:
        last = first + len(fitting)
        shown.append(blocks.context(f"Queues {first + 1:,} to {last:,} of {total:,}"))
        shown += paging.page_buttons(command, first, total, size, next_at=last)
    return shown


def overview(
    title: str,
    found: GroupAnswers[Answer],
    say: Callable[[Answer], str],
    *,
    command: str,
    size: int,
    context: str = "",
) -> Message:
    """What the repositories of a group answer, or a page of them, a line for each.

    `say`: what a line says of an answer, behind the repository's name.
    `command`: shows another page, which has at most `size` repositories.
    """
    lines = []
    for repository, answer in found.answers:
        said = UNREAD if answer is None else say(answer)
        lines.append(cut_markup(f"• *{escape(repository)}* {said}", LINE_LENGTH))
    shown = page_of_lines(title, lines, command, found.first, found.total, size)
    if context:
        shown.append(blocks.context(context))
    return blocks.message(*shown)


def of_those_read(found: GroupAnswers[Answer]) -> str:
    """What the figures of a headline are of, where not every queue is in them."""
    return "" if found.is_all else f" ({len(found.known):,} of {queues(found.total)})"
