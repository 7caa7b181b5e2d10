"""What is to be told, and what became of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.domain.deliveries import Delivery, NewDelivery, Subject
from bot.domain.repository import RepositoryName


@dataclass(frozen=True, slots=True)
class ParkedChannel:
    """A channel that Slack refuses posts to; its head delivery is tried again at `retry_at`."""

    channel_id: str
    code: str
    parked_at: datetime
    retry_at: datetime


@dataclass(frozen=True, slots=True)
class OutboxSummary:
    """What is not settled: counts, and the creation time of the oldest outside parked channels.

    `parked` are those of them for which something waits.
    """

    pending: int
    sending: int
    in_doubt: int
    oldest_created_at: datetime | None
    parked: Sequence[ParkedChannel]


@dataclass(frozen=True, slots=True)
class Folded:
    """What a summary tells: how many deliveries of each repository and kind, and since when.

    `subjects` are the latest failures among them, at most ten, oldest first.
    """

    counts: Mapping[tuple[RepositoryName, str | None], int]
    oldest_created_at: datetime
    subjects: Sequence[Subject]


class Outbox(Protocol):
    """Deliveries, in order per line of a channel. Nothing here grows slower as history grows."""

    async def add(self, deliveries: Sequence[NewDelivery]) -> int:
        """Append in the given order; return how many were not there.

        One that exists for (channel, subject) is left as it is.
        """
        ...

    async def claim(
        self, *, now: datetime, claimed_until: datetime, channels: int, per_channel: int
    ) -> Sequence[Delivery]:
        """Take what is due, as `SENDING`, with the attempt counted.

        From each channel's line the unbroken run of due deliveries from its first unsettled one,
        at most `per_channel` and one from a parked channel; ordered by (line, sequence). Due
        are: pending and in-doubt ones whose time has come, sending ones whose claim expired. A
        delivery that was sending or in doubt keeps its old `attempted_at` (not None): it must
        be looked for before it is posted. One that comes with `attempted_at` = None is stored
        with `now` when it is the first of its line, and is to be sent then; the others need
        `attempt` first.
        """
        ...

    async def attempt(self, delivery: Delivery, now: datetime) -> None:
        """Store that a claimed delivery is about to be sent, so that a crash is found out.

        Raises LeaseLost when its claim is another's by now.
        """
        ...

    async def record(self, deliveries: Sequence[Delivery]) -> None:
        """Store the states after an attempt. A settled delivery is never changed again.

        Raises LeaseLost when a claim among them is another's by now.
        """
        ...

    async def fold(self, *, now: datetime, longer_than: int, at_most: int) -> int:
        """Make summaries of backlogs; return how many deliveries were folded.

        In each ordinary line with more than `longer_than` unsettled deliveries that can be
        claimed, the first that is certainly not posted, the head or the one behind it, tells
        those that follow it in one unbroken run and are certainly not posted either, at most
        `at_most`: they become FOLDED. One that tells few others itself hands these over; a
        summary of many is never folded into another.
        """
        ...

    async def drop_unheard(
        self, channel_id: str, repository: RepositoryName, now: datetime
    ) -> None:
        """What waits to be told to a channel that hears of the repository no more is FAILED.

        That is what its digest was to tell, and all that waits while Slack refuses the channel.
        """
        ...

    async def move_digest(
        self, channel_id: str, repository: RepositoryName, to: datetime, now: datetime
    ) -> None:
        """What of the repository waits for a digest of the channel after `now` comes at `to`.

        Or sooner, in front of what other repositories have waiting for a sooner digest.
        """
        ...

    async def folded_into(self, delivery_id: str) -> Folded:
        """What a summary has to tell, itself included."""
        ...

    async def told_with(self, delivery_id: str, limit: int) -> Sequence[Subject]:
        """What a delivery tells with those folded into it, in order, at most `limit`."""
        ...

    async def park(self, parked: ParkedChannel) -> None:
        """From now on one delivery at a time is tried in the channel, from `retry_at` on."""
        ...

    async def unpark(self, channel_id: str) -> None:
        """Slack takes posts to the channel again; nothing happens when it always did."""
        ...

    async def get(self, channel_id: str, subject: Subject) -> Delivery | None: ...

    async def in_doubt(self, limit: int) -> Sequence[Delivery]:
        """Those that may have been posted, the oldest first."""
        ...

    async def summary(self) -> OutboxSummary: ...
