"""Recurring windows in which merging waits: when each occurrence comes, and what became of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from bot.acts.permission import RULE
from bot.kernel.actor import Actor
from bot.kernel.repository import RepositoryName

CHANGE = timedelta(hours=3)
"""More than a change of the clocks lengthens an occurrence."""

OCCURRENCES_AT_ONCE = 8
"""Occurrences of one window that are applied at once, where they overlap."""

OCCURRENCES_SHOWN = 2
"""Occurrences of one window that the calendar shows before they are applied."""

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
        return window_actor(self.name)


@dataclass(frozen=True, slots=True)
class WindowRules:
    """The windows of the settings, for all repositories."""

    windows: Sequence[RecurringWindow] = ()


@dataclass(frozen=True, slots=True, order=True)
class OccurrenceKey:
    """Identifies one time that a window comes to one repository."""

    repository: RepositoryName
    window: str
    begins_at: datetime

    @property
    def name(self) -> str:
        """As the audit shows it, and as a button carries it beside the repository."""
        return f"{self.window} {self.begins_at.isoformat()}"


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One time that a window of the settings comes."""

    window: RecurringWindow
    begins_at: datetime
    ends_at: datetime

    @property
    def announced_at(self) -> datetime:
        return self.begins_at - self.window.announced

    def on(self, repository: RepositoryName) -> OccurrenceKey:
        return OccurrenceKey(repository, self.window.name, self.begins_at)


class OccurrenceState(StrEnum):
    """What became of an occurrence."""

    PLANNED = "planned"  #: nothing yet, or a request whose answer isn't known
    ANNOUNCED = "announced"  #: channels know of the pause that is planned
    FROZEN = "frozen"
    PAUSED = "paused"
    SKIPPED = "skipped"  #: by a person
    LEFT = "left"  #: a person changed or ended its freeze or pause, and decides from then on
    WITHDRAWN = "withdrawn"  #: the settings changed; it may come again


_TO_COME = frozenset(
    {OccurrenceState.PLANNED, OccurrenceState.ANNOUNCED, OccurrenceState.WITHDRAWN}
)
_OF_SETTINGS = frozenset(
    {
        OccurrenceState.PLANNED,
        OccurrenceState.ANNOUNCED,
        OccurrenceState.FROZEN,
        OccurrenceState.PAUSED,
    }
)


@dataclass(frozen=True, slots=True)
class OccurrenceRecord:
    """What the bot did about one occurrence on one repository."""

    repository: RepositoryName
    window: str
    begins_at: datetime
    ends_at: datetime  #: the end that its freeze or pause was given
    state: OccurrenceState = OccurrenceState.PLANNED
    act_id: int = 0  #: the audit record of the last act on it, 0 for none
    freeze_id: str | None = None  #: the service's id of its freeze
    is_failure_posted: bool = False  #: channels know that it couldn't be applied

    @property
    def key(self) -> OccurrenceKey:
        return OccurrenceKey(self.repository, self.window, self.begins_at)

    @property
    def is_to_come(self) -> bool:
        """Whether it is yet to be frozen or paused.

        Once it was, or was skipped, it never is again: a person may have ended it.
        """
        return self.state in _TO_COME

    @property
    def follows_settings(self) -> bool:
        """Whether a change of the settings changes it."""
        return self.state in _OF_SETTINGS


def window_actor(name: str) -> Actor:
    return Actor(f"{RULE}{WINDOW_PREFIX}{name}", f"{WINDOW_PREFIX}{name}")


def is_of_window(name: str | None) -> bool:
    return name is not None and name.startswith(WINDOW_PREFIX)


def read_key(repository: RepositoryName, name: str) -> OccurrenceKey:
    """The key that a button carries."""
    window, _, begins = name.rpartition(" ")
    return OccurrenceKey(repository, window, datetime.fromisoformat(begins))


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


def coming(window: RecurringWindow, now: datetime, next_start: NextStart) -> Sequence[Occurrence]:
    """The next ones to begin, as many as the calendar shows."""
    found: list[Occurrence] = []
    begins_at = now
    for _ in range(OCCURRENCES_SHOWN):
        begins_at = next_start(window.starts, window.zone, begins_at)
        found.append(_occurrence_at(window, begins_at))
    return found


def still_planned(
    key: OccurrenceKey, windows: Sequence[RecurringWindow], next_start: NextStart
) -> Occurrence | None:
    """The occurrence, if the settings still have one at that time."""
    window = next((window for window in windows if window.name == key.window), None)
    if window is None or key.repository not in window.repositories:
        return None
    just_before = key.begins_at - timedelta(seconds=1)
    if next_start(window.starts, window.zone, just_before) != key.begins_at:
        return None
    return _occurrence_at(window, key.begins_at)


def _occurrence_at(window: RecurringWindow, begins_at: datetime) -> Occurrence:
    shown = begins_at.astimezone(window.zone).replace(tzinfo=None) + window.lasts
    ends_at = max(shown.replace(tzinfo=window.zone).astimezone(UTC), begins_at)
    return Occurrence(window, begins_at, ends_at)
