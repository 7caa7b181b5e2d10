"""When one repository is polled next, and what is remembered between its polls."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.domain.leases import Lease
from bot.domain.pacing import Failures
from bot.usecases.polling.log_reader import LogReader

LEASE_FLOOR = timedelta(seconds=15)
"""A lease outlives a few missed ticks, and a poll that takes its time."""


@dataclass(slots=True)
class PollSchedule:
    """Of one repository, as long as its lease is held or asked for here.

    `reader` is None until the repository is taken on, and after its lease was lost; `token` is that
    of the lease under which it was taken on, so that another one means that another process may
    have polled meanwhile. `failures`: of polls in a row. `running`: a poll is under way. `lease`
    lasts until `leased_until`, which a long poll puts off. `polled_at`: when the last poll that
    read the log began. `told_at`: the last such time that is stored for those who ask how fresh we
    are. `share`: so much of the time until the next look is waited for, once.
    """

    due_at: datetime
    token: int | None = None
    reader: LogReader | None = None
    failures: Failures = field(default_factory=Failures)
    running: bool = False
    lease: Lease | None = None
    leased_until: datetime | None = None
    polled_at: datetime | None = None
    told_at: datetime | None = None
    taken_on_at: datetime | None = None
    share: float = 1.0

    def set_back(self, back: timedelta) -> None:
        """As the clock was."""
        self.due_at -= back
        self.polled_at = self.polled_at and self.polled_at - back
        self.told_at = self.told_at and self.told_at - back
        self.taken_on_at = self.taken_on_at and self.taken_on_at - back

    @property
    def read_at(self) -> datetime | None:
        """When its log was last read here, or taken on; None while its lease is not held."""
        return None if self.lease is None else self.polled_at or self.taken_on_at

    @property
    def types_read(self) -> Collection[str]:
        """The event types that the last whole poll asked for; empty for all of them."""
        last = self.reader.last if self.reader is not None else None
        return last.types if last is not None else ()

    def wears_out(self, now: datetime) -> bool:
        """Whether a poll goes on so long that its lease has to be renewed."""
        until = self.leased_until
        return self.running and until is not None and until - now < LEASE_FLOOR
