"""What somebody wanted to do and may not, and why."""

from dataclasses import dataclass
from enum import StrEnum


class Right(StrEnum):
    """What somebody wants to do. Everything needs a full member; the last two are by setting."""

    READ = "read"
    SUBSCRIBE = "subscribe"
    PAUSE = "pause"
    UNPAUSE = "unpause"


class DenialReason(StrEnum):
    """Why not. `UNVERIFIABLE`: Slack could not be asked, or would not say."""

    OTHER_ORGANISATION = "other_organisation"
    GUEST = "guest"
    BOT = "bot"
    DEACTIVATED = "deactivated"
    UNKNOWN_PERSON = "unknown_person"
    NOT_LISTED = "not_listed"
    UNVERIFIABLE = "unverifiable"


@dataclass(frozen=True, slots=True)
class Denied:
    """Not allowed. `code` is what Slack said, or what kept it from saying anything."""

    reason: DenialReason
    code: str | None = None


@dataclass(frozen=True, slots=True)
class WhoCan:
    """Those who may, by the names people know; those of user groups begin with `@`.

    `more` counts those left out. All empty: every full member may.
    """

    groups: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    more: int = 0
