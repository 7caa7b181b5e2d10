"""A person's login and notifications."""

import re
from dataclasses import dataclass
from difflib import get_close_matches

from bot.domain.commands.command import Arguments, Command, GeneralCommand, Verb
from bot.domain.notices import DIRECT, Notice

LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?(?:\[bot\])?", re.ASCII)
"""What code hosts take for a login, at its widest."""

ON = "on"
OFF = "off"

_NOTICES = {one.value: frozenset({one}) for one in Notice}
_GROUPS = {"dm": DIRECT, "all": frozenset(Notice)}


@dataclass(frozen=True)
class LinkCommand(GeneralCommand):
    """Connect the person with their login of the code host; None ends the connection."""

    login: str | None


@dataclass(frozen=True)
class MeCommand(GeneralCommand):
    """What the bot knows of the person and tells them; `notices`, if any, are switched."""

    notices: frozenset[Notice] = frozenset()
    is_on: bool = False


def read_link(arguments: Arguments) -> Command:
    if len(arguments.words) != 1:
        raise arguments.problem("Type your login of the code host, one word.")
    login = arguments.words[0].removeprefix("@")
    if login.lower() == OFF:
        return LinkCommand(None)
    if LOGIN.fullmatch(login) is None:
        raise arguments.problem(
            "A login has letters, digits, dots, hyphens and underscores, at most 100 of them."
        )
    return LinkCommand(login)


def read_me(arguments: Arguments) -> Command:
    """Kinds of notices and `on` or `off`, in either order."""
    if not arguments.words:
        return MeCommand()
    states = [word.lower() for word in arguments.words if word.lower() in {ON, OFF}]
    kinds = [word for word in arguments.words if word.lower() not in {ON, OFF}]
    chosen = frozenset[Notice]().union(*(_notices(arguments, word) for word in kinds))
    if len(states) != 1:
        example = kinds[0].lower() if kinds else "dm"
        raise arguments.problem(f"Say on or off, for example “me {example} off”.")
    if not chosen:
        raise arguments.problem(f"Say what to turn {states[0]}: {_known()}.")
    return MeCommand(chosen, is_on=states[0] == ON)


def _notices(arguments: Arguments, word: str) -> frozenset[Notice]:
    """Raises CommandSyntaxError."""
    known = {**_NOTICES, **_GROUPS}
    typed = word.lower()
    found = known.get(typed) or known.get(f"{typed}s") or known.get(typed.removesuffix("s"))
    if found is not None:
        return found
    nearest = get_close_matches(typed, known, n=1, cutoff=0.6)
    meant = f" Did you mean {nearest[0]}?" if nearest else f" There are {_known()}."
    raise arguments.problem(f"I tell you nothing called “{word}”.{meant}")


def _known() -> str:
    return ", ".join([*_NOTICES, *_GROUPS])


VERBS = (
    Verb(
        "link",
        "link LOGIN|off",
        "Tell me your login of the code host, so that I know which pull requests are yours",
        ("link alice-m", "link off"),
        read=read_link,
    ),
    Verb(
        "me",
        "me [mentions|failures|merges|reminders|replacements|dm|all on|off]",
        "See what I know of you and when I mention or message you, and switch that",
        ("me", "me mentions off", "me failures merges on"),
        read=read_me,
    ),
)
"""Rows of the command table."""
