"""Questions that the bot asks people: which queue they mean by what they typed."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Asker:
    """Whom the bot asks which queue they mean, and where."""

    user_id: str
    channel_id: str | None  #: None on Home


@dataclass(frozen=True, slots=True)
class Question:
    """What somebody typed for a command, of which the bot asks more."""

    asker: Asker
    verb: str  #: the command's word
    typed: str
