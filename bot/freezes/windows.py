"""Recurring windows in which merging waits: when each occurrence begins and ends."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from bot.acts.permission import RULE
from bot.acts.record import Action, ActResult, AuditRecord, Circumstance
from bot.kernel.actor import Actor, Origin
from bot.kernel.repository import RepositoryName

CHANGE = timedelta(hours=3)
"""More than a change of the clocks lengthens an occurrence."""

"""The detail of an act that found its freeze made, by a request whose answer was lost."""

OCCURRENCES_AT_ONCE = 8
"""Occurrences of one window that are held at once, where they overlap."""

BEFORE_THE_END = timedelta(seconds=20)
"""How long before its end a pause gets the later end of an occurrence that follows it."""

WINDOW_PREFIX = "window "
"""Begins the names of windows where people read them."""

NextStart = Callable[[str, ZoneInfo, datetime], datetime]
"""The next time after the last at which the wall clock of a zone matches a cron expression."""


@dataclass(frozen=True, slots=True)
class RecurringWindow:
    """A window of the settings."""

    name: str
    repositories: Sequence[RepositoryName]
    starts: str  #: a cron expression
    #: by the clock on the wall, so that 62 hours from Friday 18:00 end on Monday at 08:00, also
    #: when the clocks change
    lasts: timedelta
    zone: ZoneInfo
    reason: str
    announced: timedelta  #: how long before its start an occurrence is planned

    @property
    def actor(self) -> Actor:
        """Acts in the audit, in reasons and on cards."""
        return Actor(f"{RULE}{WINDOW_PREFIX}{self.name}", f"{WINDOW_PREFIX}{self.name}")


@dataclass(frozen=True, slots=True)
class WindowRules:
    """The windows of the settings, for all repositories."""

    windows: Sequence[RecurringWindow] = ()


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
        """The acts of its rule, and those that skipped it, since the settings last withdrew it."""
        return since_withdrawal([act for act in acts if act.setting_after == self.key])

    def waits(self, acts: Sequence[AuditRecord]) -> bool:
        """Whether it is yet to be held, after these acts on its repository.

        Once it was held or skipped, it never is again: a person may have ended it.
        """
        return not any(settles(act) for act in self.of(acts))

    def begun(self, acts: Sequence[AuditRecord], action: Action) -> AuditRecord | None:
        """The beginning of the act that holds it, if that was tried before."""
        begun = (act for act in self.of(acts) if act.result is ActResult.STARTED)
        return next((act for act in begun if act.action is action), None)

    def is_announced(self, acts: Sequence[AuditRecord]) -> bool:
        return any(act.action is Action.PLAN for act in self.of(acts))


def since_withdrawal(acts: Sequence[AuditRecord]) -> Sequence[AuditRecord]:
    """The acts about one occurrence that count: after a withdrawal it may come again."""
    withdrawn = [place for place, act in enumerate(acts) if is_withdrawal(act)]
    return acts[withdrawn[-1] + 1 :] if withdrawn else acts


def is_withdrawal(act: AuditRecord) -> bool:
    """Whether the occurrence was given up because the settings changed."""
    return act.action is Action.SKIP and act.origin is Origin.RULE


def is_of_window(name: str | None) -> bool:
    return name is not None and name.startswith(WINDOW_PREFIX)


def occurrence(window: RecurringWindow, now: datetime, next_start: NextStart) -> Occurrence:
    """The one in force, or else the next to come."""
    begins_at = now - window.lasts - CHANGE
    while True:
        begins_at = next_start(window.starts, window.zone, begins_at)
        found = _occurrence_at(window, begins_at)
        if found.ends_at > now:
            return found


def occurrences(
    window: RecurringWindow, now: datetime, next_start: NextStart
) -> Sequence[Occurrence]:
    """Those in force, and those to come that are to be announced by now."""
    found = [occurrence(window, now, next_start)]
    while len(found) < OCCURRENCES_AT_ONCE and found[-1].announced_at <= now:
        begins_at = next_start(window.starts, window.zone, found[-1].begins_at)
        found.append(_occurrence_at(window, begins_at))
    return [occurrence for occurrence in found if occurrence.announced_at <= now]


def planned_again(
    window: RecurringWindow, begins_at: datetime, next_start: NextStart
) -> Occurrence | None:
    """The occurrence that begins then, if the window still has one."""
    just_before = begins_at - timedelta(seconds=1)
    if next_start(window.starts, window.zone, just_before) != begins_at:
        return None
    return _occurrence_at(window, begins_at)


def _occurrence_at(window: RecurringWindow, begins_at: datetime) -> Occurrence:
    shown = begins_at.astimezone(window.zone).replace(tzinfo=None) + window.lasts
    ends_at = max(shown.replace(tzinfo=window.zone).astimezone(UTC), begins_at)
    return Occurrence(window, begins_at, ends_at)


def settles(act: AuditRecord) -> bool:
    """Whether the act is the last about its occurrence; only its plan may come before."""
    is_done = act.result is ActResult.DONE or act.circumstance is Circumstance.THERE_ALREADY
    return is_done and act.action is not Action.PLAN
