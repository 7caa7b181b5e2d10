"""Whose token the bot uses."""

from dataclasses import dataclass

from pydantic import SecretStr


@dataclass(frozen=True, slots=True)
class OwnToken:
    """A credential of some repositories only; `setting` is its name in the file."""

    setting: str
    secret: SecretStr
