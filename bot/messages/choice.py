"""Asking which repository is meant, and going on with the chosen one."""

from collections.abc import Sequence

from bot.domain.message import Message
from bot.domain.repository import RepositoryName
from bot.messages import actions, blocks
from bot.messages.text import clean, escape

BLOCK_PREFIX = "choose:"
BLOCK_ID_LIMIT = 255


def can_carry(typed: str) -> bool:
    """Whether the typed command fits into the question, to be gone on with afterwards."""
    return len(BLOCK_PREFIX + typed) <= BLOCK_ID_LIMIT


def which_repository(names: Sequence[RepositoryName], typed: str) -> Message:
    options = [blocks.option(clean(name, 75), name) for name in names]
    menu = blocks.select("Choose a repository", action_id=actions.CHOOSE, options=options)
    listed = ", ".join(escape(name) for name in names[: blocks.OPTIONS_LIMIT])
    return Message(
        text=f"Which repository? {listed}",
        blocks=(
            blocks.section("Which repository?"),
            blocks.actions([menu], block_id=BLOCK_PREFIX + typed),
        ),
    )


def continued(block_id: str, repository: str) -> str:
    """The typed command with the chosen repository in its place."""
    verb, _, rest = block_id.removeprefix(BLOCK_PREFIX).partition(" ")
    return f"{verb or 'status'} {repository} {rest}".strip()
