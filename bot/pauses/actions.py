"""Names and values of the buttons and fields about pauses."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum, StrEnum
from typing import NamedTuple, Self

from bot.acts.asked import Asked
from bot.blocks.controls import FROM_NOW, SPACE
from bot.kernel.durations import For, Lasting, written
from bot.kernel.groups import Repositories
from bot.pauses.pause import DrawnLine

PAUSE = "mq:pause"


RESUME = "mq:resume"


RESUME_OTHER = "mq:resume_other"
"""The answer to the question whether to resume a queue other than the channel's own."""


EXTEND = "mq:extend"


KEEP = "mq:keep"


SNOOZE = "mq:snooze"


MORE = "mq:more"
"""The menu behind three dots; its options hold a `More` and the pause or the group."""


class More(StrEnum):
    """What is in that menu; short, to leave room for the pause."""

    TAKE_OVER = "take"
    REASON = "reason"
    NOTIFY = "notify"
    LOG = "log"


REASON_VIEW = "mq:reason_view"
"""Callback of the form that changes the reason of a pause."""


REPLACE = "mq:replace"


PAUSE_CONFIRMED = "mq:pause_confirmed"


PAUSE_FOR = "mq:pause_for"


PAUSE_WITHOUT_END = "mq:pause_without_end"


PAUSE_OTHER_TIME = "mq:pause_other"
"""The answers to what an end means: a reading, none, or another time."""


PAUSE_READINGS = (PAUSE_FOR, f"{PAUSE_FOR}_1")


AGAIN = "mq:again"
"""Its value is a group, and the id of the act on it whose rest to try again."""


HOLD = "mq:hold"
"""The choice in the form between a freeze and a pause."""


PAUSE_SHORTCUT = "pause_queue"


PAUSE_BECAUSE_SHORTCUT = "pause_because"
"""Callback of the global shortcut, as manifest.yml declares it."""


END_VIEW = "mq:end_view"
"""Callback of the form that changes the end of a pause, of a group's pauses or of a freeze."""


HOLD_BLOCK = "hold"


@dataclass(frozen=True, slots=True)
class PauseChoice:
    """The value of an answer to a question about a pause. Without a reason, a form asks for one."""

    target: str  #: as `target_value` writes it
    asked: Asked
    replacing: DrawnLine | None = None  #: what the pause says that it may replace
    keeps_end: bool = False  #: only the reason of that pause changes; nothing if it is over

    def known_in(self, repositories: Repositories) -> Self:
        """Itself: its target is looked up like a typed one."""
        del repositories
        return self


class EndSeen(Enum):
    """The end of a pause or freeze that the person saw who chose another one.

    A length counts from that end, or from now where there was none. If that has changed, the length
    would mean something else, so nothing is changed.
    """

    SOME = "an end"
    NONE = "no end"
    ANY = "which doesn't matter, as a time of day means the same"

    def is_still(self, ends_at: datetime | None) -> bool:
        """Whether what was seen is true of this end."""
        if self is EndSeen.ANY:
            return True
        return (self is EndSeen.SOME) == (ends_at is not None)


def end_seen_by(lasting: Lasting | None, seen: EndSeen) -> EndSeen:
    """What matters of it to somebody who chose `lasting`."""
    return seen if isinstance(lasting, For) else EndSeen.ANY


def extend_value(by: Lasting, target: str, seen: EndSeen = EndSeen.SOME) -> str:
    """The value of an option of *Extend…*: the extension, and the pause it was drawn for."""
    prefix = FROM_NOW if seen is EndSeen.NONE else ""
    return f"{prefix}{written(by).replace(' ', SPACE)} {target}"


class ChosenEnd(NamedTuple):
    """What an option of *Extend…* carries."""

    end: str  #: a length or a time, in words
    target: str  #: the pause, group or freeze
    seen: EndSeen


def read_extend_value(value: str) -> ChosenEnd:
    length, _, target = value.partition(" ")
    seen = EndSeen.NONE if length.startswith(FROM_NOW) else EndSeen.SOME
    return ChosenEnd(length.removeprefix(FROM_NOW).replace(SPACE, " "), target, seen)
