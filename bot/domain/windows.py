"""Recurring windows in which merging waits: when each occurrence begins and ends."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from bot.domain.audit import Action, Actor, ActResult, AuditRecord
from bot.domain.permissions import RULE
from bot.domain.repository import RepositoryName

CHANGE = timedelta(hours=3)
"""More than a change of the clocks lengthens an occurrence."""

THERE_ALREADY = "there already"
"""The detail of an act that found its freeze made, by a request whose answer was lost."""

RETRY = timedelta(minutes=5)
"""A request that the service refused is repeated after this time."""

NAMED = "window "
"""Begins the names of windows where people read them."""

NextStart = Callable[[str, ZoneInfo, datetime], datetime]
"""The next time after the last at which the wall clock of a zone matches a cron expression."""


@dataclass(frozen=True, slots=True)
class RecurringWindow:
    """A window of the settings.

    `starts`: a cron expression. `lasts`: by the clock on the wall, so that 62 hours from Friday
    18:00 end on Monday at 08:00, also when the clocks change.
    `announced`: how long before its start an occurrence is planned.
    """

    name: str
    repositories: Sequence[RepositoryName]
    starts: str
    lasts: timedelta
    zone: ZoneInfo
    reason: str
    announced: timedelta

    @property
    def actor(self) -> Actor:
        """Acts in the audit, in reasons and on cards."""
        return Actor(f"{RULE}{NAMED}{self.name}", f"{NAMED}{self.name}")


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One time that a window comes; its name and its beginning identify it."""

    window: RecurringWindow
    begins_at: datetime
    ends_at: datetime

    @property
    def key(self) -> str:
        return f"{self.window.name} {self.begins_at.isoformat()}"

    @property
    def announced_at(self) -> datetime:
        return self.begins_at - self.window.announced

    def of(self, acts: Sequence[AuditRecord]) -> Sequence[AuditRecord]:
        """The acts of its rule, and those that skipped it."""
        return [one for one in acts if one.setting_after == self.key]

    def waits(self, acts: Sequence[AuditRecord], now: datetime) -> bool:
        """Whether it is yet to be held, after these acts on its repository.

        Once it was held or skipped, it never is again: a person may have ended it.
        """
        tried = [one for one in self.of(acts) if one.action is not Action.PLAN]
        return not any(settles(one) or one.at > now - RETRY for one in tried)

    def is_announced(self, acts: Sequence[AuditRecord]) -> bool:
        return any(one.action is Action.PLAN for one in self.of(acts))


def is_of_window(name: str | None) -> bool:
    return name is not None and name.startswith(NAMED)


def occurrence(window: RecurringWindow, now: datetime, next_start: NextStart) -> Occurrence:
    """The one in force, or else the next to come."""
    begins_at = now - window.lasts - CHANGE
    while True:
        begins_at = next_start(window.starts, window.zone, begins_at)
        shown = begins_at.astimezone(window.zone).replace(tzinfo=None) + window.lasts
        ends_at = max(shown.replace(tzinfo=window.zone).astimezone(UTC), begins_at)
        if ends_at > now:
            return Occurrence(window, begins_at, ends_at)


def settles(act: AuditRecord) -> bool:
    """Whether the act is the last about its occurrence; only its plan may come before."""
    is_done = act.result is ActResult.DONE or act.detail == THERE_ALREADY
    return is_done and act.action is not Action.PLAN
