"""Sentences for errors that need no subject."""

from dataclasses import replace
from datetime import datetime

from bot.blocks import blocks
from bot.blocks.message import Message
from bot.blocks.text import escape, since, without_markup
from bot.kernel.repository import RepositoryName

SENTENCE_LIMIT = 300


TOO_FAST = (
    "You're sending requests faster than I can handle. This one wasn't carried out: please wait a "
    "few seconds and try again."
)


BUSY = "I'm busy right now. Please try again in a moment."


def happened(at: datetime) -> str:
    return f"Happened {since(at)}"


def late(post: Message, at: datetime) -> Message:
    """The post about what happened long ago, which says when."""
    when = happened(at)
    text = f"{post.text} {without_markup(when)}"
    return replace(post, text=text, blocks=(*post.blocks, blocks.context(when)))


def unrendered(repository: RepositoryName, kind: str | None, *, updates: int) -> Message:
    """Replaces a post that could not be rendered because of a defect."""
    what = f"{updates} updates" if updates > 1 else kind.replace("_", " ") if kind else "an update"
    return Message(
        f"{escape(repository)}: {escape(what)}. I couldn't show the details because of a defect;"
        " my log has them.",
        updates=updates,
    )
