"""A typed command as its reader gives it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.acts.asked import Asked
from bot.desk.words import Words
from bot.kernel.groups import Target, target_value

NOW = "now"
"""Typed in front of a reason, it pauses without a question."""

IN_ONE = "a pull request is in one of them"
BEGINNING = frozenset({"freeze", "pause"})
"""Verbs of what another command ends."""


@dataclass(frozen=True, slots=True)
class TypedCommand:
    """A typed command."""

    action: str  #: the handler, a verb or a verb with the word that makes it another command
    where: Target | None = None
    options: Mapping[str, Any] = field(default_factory=dict)  #: the handler's keyword arguments
    needs_repository: bool = True  #: ask for a repository when `where` is None


Read = Callable[[Words], TypedCommand]


def with_where(verb: str, where: Target | None) -> str:
    return f"{verb} {target_value(where)}" if where is not None else verb


def with_times(verb: str, where: Target | None, times: Asked) -> str:
    return f"{with_where(verb, where)} {times.written}".rstrip()
