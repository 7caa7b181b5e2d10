"""Questions about which repository or group to use, and how a command continues with the answer."""

from collections.abc import Sequence
from datetime import timedelta

from bot.domain.groups import Group, Target, target_value
from bot.domain.message import Message
from bot.domain.repository import RepositoryName
from bot.messages import actions, blocks
from bot.messages.blocks import Element
from bot.messages.text import clean, code, escape, listed, plural

BLOCK_PREFIX = "choose:"

QUESTION_LASTS = timedelta(minutes=15)
"""After this time a question is out of date and its buttons do nothing."""

_ASKED_BY = {
    actions.REPLACE: "pause …",
    actions.PAUSE_CONFIRMED: "pause …",
    actions.PAUSE_FOR: "pause …",
    actions.PAUSE_WITHOUT_END: "pause …",
    actions.RESUME_OTHER: "resume",
    actions.REMOVE: "remove …",
    actions.FREEZE_CONFIRMED: "freeze …",
    actions.FREEZE_FOR: "freeze …",
    **dict.fromkeys(actions.INSTEAD, "…"),
}
"""The answers to questions, and the command that asks again."""

LISTED_LENGTH = 3500
"""Characters of the names in the fallback text."""


def can_carry(typed: str) -> bool:
    """Whether the typed command fits into the question's menu, to continue with the answer."""
    return len(BLOCK_PREFIX + typed) <= blocks.ID_LIMIT


def which_repository(
    names: Sequence[RepositoryName], typed: str, *, running: RepositoryName | None = None
) -> Message:
    """Ask for a repository. `running`: the channel's own queue, which isn't paused."""
    menu = target_menu(names, action_id=actions.CHOOSE, placeholder="Choose a repository")
    known = listed([escape(name) for name in names], length=LISTED_LENGTH)
    question = "Which repository?"
    if running is not None:
        question = f"{escape(running)} is running. Which paused queue do you want to resume?"
    return Message(
        text=f"{question} {known}",
        blocks=(
            blocks.section(question),
            blocks.actions([menu], block_id=BLOCK_PREFIX + typed),
        ),
    )


def target_menu(
    targets: Sequence[Target],
    *,
    action_id: str,
    chosen: Target | None = None,
    placeholder: str = "Choose a repository or a group",
) -> Element:
    """A menu of groups and repositories; with more than fit, Slack asks for `suggestions`."""
    initial = None if chosen is None else _option(chosen)
    if len(targets) > blocks.OPTIONS_LIMIT:
        count = sum(not isinstance(one, Group) for one in targets)
        placeholder = f"Type part of a name ({count:,} repositories)"
        return blocks.external_select(placeholder, action_id=action_id, initial=initial)
    options = [_option(one) for one in targets]
    return blocks.select(placeholder, action_id=action_id, options=options, initial=initial)


def suggestions(targets: Sequence[Target], typed: str) -> list[Element]:
    """The names that contain the typed text, up to Slack's limit."""
    part = typed.strip().casefold()
    found = [one for one in targets if part in _name(one).casefold()]
    return [_option(one) for one in found[: blocks.OPTIONS_LIMIT]]


def _option(target: Target) -> Element:
    return blocks.option(clean(_name(target), blocks.OPTION_LIMIT), target_value(target))


def _name(target: Target) -> str:
    if isinstance(target, Group):
        return f"{target.mention} ({plural(len(target.repositories), 'queue')})"
    return target


def continued(block_id: str, repository: str) -> str:
    """The typed command with the chosen repository in its place."""
    verb, _, rest = block_id.removeprefix(BLOCK_PREFIX).partition(" ")
    return f"{verb or 'status'} {repository} {rest}".strip()


def asked_by(action_id: str, block_id: str) -> str | None:
    """The command that asks a question again; None if the action answers no question."""
    if action_id == actions.CHOOSE:
        return block_id.removeprefix(BLOCK_PREFIX)
    return _ASKED_BY.get(action_id)


def expired(typed: str, command: str) -> Message:
    """The reply to a person who answered too late."""
    again = code(f"{command} {typed}".strip(), blocks.ID_LIMIT)
    return blocks.sentence(f"This question has expired. Nothing was changed: type {again} again.")
