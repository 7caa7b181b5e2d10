"""Windows of the event log that one request may ask for, and the service's clock."""

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime, timedelta

LARGEST_PAGE = 100
"""Events on one page of the log at most (API document, Limits: `per_page`)."""


PULL_REQUEST_END = 2147483647
"""The log's filter takes numbers from 1 up to, but excluding, this one (API document, Limits)."""


WIDEST_WINDOW = timedelta(days=93)
"""The service refuses a wider window with 422."""


LONGEST_LOOKBACK = WIDEST_WINDOW - timedelta(days=1)
"""The service refuses wider windows; a day of it is for clocks that do not agree."""


CLOCK_ALLOWANCE = timedelta(hours=1)
"""How far our measurement of a service's clock may be off.

If it runs ahead by more, its newest events are read late.
"""


UNKNOWN_ALLOWANCE = timedelta(hours=7)
"""How far a service's clock may be behind ours if it never sends its time."""


ANSWERS_COMPARED = 3


BELIEVED_ALONE = timedelta(minutes=1)
"""How far a single `Date` or event time may differ from the known time and be accepted.

A larger difference counts as wrong until the other answers agree with it.
"""


DATE_STEP = timedelta(seconds=1)
"""A `Date` header has whole seconds."""


@dataclass(slots=True)
class ServiceClock:
    """How far the service's clock is ahead of the bot's, from its last answers.

    It is the median of three, so that no single answer outweighs the others. Zero stands in for
    answers that have not come yet.
    """

    answers: deque[timedelta] = field(default_factory=lambda: deque(maxlen=ANSWERS_COMPARED))
    last: datetime | None = None  #: its time in the last one, if its reader notes it

    @property
    def ahead(self) -> timedelta | None:
        """The difference, or None until the service has sent its time."""
        if not self.answers:
            return None
        if len(self.answers) == 1 and abs(self.answers[0]) <= BELIEVED_ALONE:
            return self.answers[0]
        return sorted([*self.answers, timedelta(), timedelta()][:ANSWERS_COMPARED])[1]

    @property
    def agrees(self) -> bool:
        """Whether the last answer is plausible; True without any."""
        believed = self.ahead
        return believed is None or abs(self.answers[-1] - believed) <= BELIEVED_ALONE

    def add(self, ahead: timedelta) -> None:
        self.answers.append(ahead)


@dataclass(frozen=True, slots=True)
class ServiceTime:
    """The service's clock as far as we know: at most `allowance` behind `now`."""

    now: datetime
    allowance: timedelta = CLOCK_ALLOWANCE

    @property
    def surely_past(self) -> datetime:
        """Everything received before this is in the log for good, except late arrivals."""
        return self.now - self.allowance


def service_time(ours: datetime, ahead: timedelta | None) -> ServiceTime:
    """The service's time; `ahead` is how far its clock was ahead of ours, None if unknown.

    A time counts as past only if both clocks agree, because one of them may be wrong.
    """
    if ahead is None:
        return ServiceTime(ours, UNKNOWN_ALLOWANCE)
    return ServiceTime(ours + ahead, CLOCK_ALLOWANCE + max(ahead, timedelta()))


@dataclass(frozen=True, slots=True)
class Window:
    """Bounds of one walk, both aware; `received_from` is before `received_to`."""

    received_from: datetime
    received_to: datetime

    def __post_init__(self) -> None:
        if self.received_from.tzinfo is None or self.received_to.tzinfo is None:
            raise ValueError("a window has aware times")
        if self.received_from >= self.received_to:
            raise ValueError("a window ends after it begins")
        if self.received_to - self.received_from > WIDEST_WINDOW:
            raise ValueError("a window spans at most 93 days")


def window_back(
    now: datetime, newest: datetime, since: timedelta, until: timedelta | None = None
) -> Window:
    """The window from `since` ago to `until` ago, or to the latest possible time.

    `newest` is the newest known event, in the service's clock. That clock may be ahead of ours, so
    a window that ended at our now could hide the newest events.
    """
    received_to = max(now, newest) + CLOCK_ALLOWANCE
    if until is not None:
        received_to = now - until
    received_from = max(now - since, received_to - WIDEST_WINDOW)
    latest_start = received_to - timedelta(microseconds=1)
    return Window(min(received_from, latest_start), received_to)
