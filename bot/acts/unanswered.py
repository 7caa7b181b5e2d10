"""Requests whose answers are owed, so that a crash or a lost answer leaves nobody waiting."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.blocks.controls import Repeat

ALIVE = timedelta(seconds=15)
"""A request that its process hasn't renewed for so long was cut off.

A bot that is alone on its SQLite file knows it sooner, when it starts.
"""


SOON = timedelta(seconds=2)
"""The wait before the first look at what became of an act whose answer was lost, or cut off."""


SILENT = timedelta(minutes=1)
"""A person whose request was cut off reads by then that the outcome follows, if it isn't known."""


LONGEST_OUTCOME_GAP = timedelta(minutes=1)
"""Between two looks while the service doesn't answer."""


GIVEN_UP = timedelta(days=1)
"""By then the bot says that it can't find out."""


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A request of a person or machine."""

    request: str  #: identifies it, also in the log and in the audit
    user_id: str
    channel_id: str | None
    #: the command, to repeat it; None for a click or a form, which `repeat` repeats
    typed: str | None
    asked_at: datetime
    due_at: datetime | None  #: when to look what became of it; None once its outcome is a delivery
    #: its process has said that the outcome follows, or couldn't answer; otherwise it was cut off
    was_left: bool = False
    number: int = 0
    repeat: Repeat | None = None

    def next_look(self, now: datetime) -> datetime:
        """Ever more seldom while the outcome can't be found out."""
        age = now - self.asked_at
        return now + min(max(SOON, age / 4), LONGEST_OUTCOME_GAP)
