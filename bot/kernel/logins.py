"""Logins at the code host: what they look like, and which belong to programs.

Nobody links a program's login, and no message asks a program for anything.
"""

import re
from dataclasses import dataclass

LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?(?:\[bot\])?", re.ASCII)
"""What code hosts take for a login, at its widest."""

LOGIN_RULE = "A login has letters, digits, dots, hyphens and underscores, at most 100 of them."

APP = "[bot]"
"""Ends the login of every app at the code host. Some of the host's interfaces leave it out."""

ENDING = "*"
"""Begins the setting's word for all logins with an ending."""

KNOWN_BOTS = (
    "*-bot",
    "dependabot",
    "github-actions",
    "mergify",
    "pre-commit-ci",
    "renovate",
)


@dataclass(frozen=True, slots=True)
class BotLogins:
    """Logins that belong to programs: those of apps, and these words of the settings."""

    words: tuple[str, ...] = KNOWN_BOTS  #: in lower case

    def __contains__(self, login: str) -> bool:
        folded = login.lower()
        name = folded.removesuffix(APP)
        return name != folded or any(_is_meant(word, name) for word in self.words)


def login_in(text: str) -> str:
    """The login in a profile field: alone, after an @, or at the end of a profile's address."""
    return text.strip().rstrip("/").rpartition("/")[2].removeprefix("@")


def _is_meant(word: str, name: str) -> bool:
    if word.startswith(ENDING):
        return name.endswith(word.removeprefix(ENDING))
    return name == word
