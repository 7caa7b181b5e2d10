"""Asking which repository is meant, and going on with the chosen one."""

from collections.abc import Sequence

from bot.domain.message import Message
from bot.domain.repository import RepositoryName
from bot.messages import actions, blocks
from bot.messages.blocks import Element
from bot.messages.text import clean, escape, listed

BLOCK_PREFIX = "choose:"

LISTED_LENGTH = 3500
"""Of the names in the text for notifications and screen readers."""


def can_carry(typed: str) -> bool:
    """Whether the typed command fits into the question, to be gone on with afterwards."""
    return len(BLOCK_PREFIX + typed) <= blocks.ID_LIMIT


def which_repository(names: Sequence[RepositoryName], typed: str) -> Message:
    menu = repository_menu(names, action_id=actions.CHOOSE)
    known = listed([escape(name) for name in names], length=LISTED_LENGTH)
    return Message(
        text=f"Which repository? {known}",
        blocks=(
            blocks.section("Which repository?"),
            blocks.actions([menu], block_id=BLOCK_PREFIX + typed),
        ),
    )


def repository_menu(
    names: Sequence[RepositoryName], *, action_id: str, chosen: RepositoryName | None = None
) -> Element:
    """A menu of all repositories; with more than fit, Slack asks for `suggestions`."""
    initial = None if chosen is None else _option(chosen)
    if len(names) > blocks.OPTIONS_LIMIT:
        placeholder = f"Type part of a name ({len(names):,} repositories)"
        return blocks.external_select(placeholder, action_id=action_id, initial=initial)
    options = [_option(name) for name in names]
    return blocks.select(
        "Choose a repository", action_id=action_id, options=options, initial=initial
    )


def suggestions(names: Sequence[RepositoryName], typed: str) -> list[Element]:
    """The repositories whose names contain what was typed; as many as Slack takes."""
    part = typed.strip().casefold()
    found = [name for name in names if part in name.casefold()]
    return [_option(name) for name in found[: blocks.OPTIONS_LIMIT]]


def _option(name: RepositoryName) -> Element:
    return blocks.option(clean(name, blocks.OPTION_LIMIT), name)


def continued(block_id: str, repository: str) -> str:
    """The typed command with the chosen repository in its place."""
    verb, _, rest = block_id.removeprefix(BLOCK_PREFIX).partition(" ")
    return f"{verb or 'status'} {repository} {rest}".strip()
