"""Which event types the polls of one repository ask for."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.channels.subscription import Style, Subscription, Topic
from bot.feed.threads import DECISIVE
from bot.feed.topics import event_types_for
from bot.log.classification import PAUSE_TYPES
from bot.log.position import LastPoll
from bot.log.types import FREEZE_TYPES
from bot.merge_queue.event_records import EventRecord

TYPES_RETRIED = timedelta(days=1)
"""How long a type that the service refused is left out; a newer version may know it."""

STAMPED_APART = timedelta(minutes=5)
"""How far the times of events may be behind the service's own time."""


@dataclass(slots=True)
class RequestedTypes:
    """The event types that the polls of one repository ask for, and those it refused."""

    subscriptions: Sequence[Subscription] = ()
    personal: frozenset[str] = frozenset()  #: topics of which some people want direct messages
    has_rule: bool = False  #: a rule pauses the queue after failures in a row
    counts_merges: bool = False  #: a pause is in force, or its record counts what merges since
    asked: Collection[str] = ()  #: the types of the running poll; empty for all
    last: LastPoll | None = None  #: the last complete poll, perhaps by another process
    #: since when additional types are requested
    requested_since: dict[str, datetime] = field(default_factory=dict)
    #: the types that the service refused, and when; one memory for a process, because a service
    #: knows a type for all repositories or for none
    refused_at: dict[str, datetime] = field(default_factory=dict)
    #: when it refused the filter without saying which types
    filter_refused_at: datetime | None = None

    def begin(self, now: datetime) -> None:
        """Begin a poll: newly requested types are read from the last poll on.

        The watermark may be much older, as old as the last event of the other types.
        """
        self.asked = self.wanted(now)
        last = self.last
        if last is None or not last.polled_types:
            return
        # If the clock was set back since, it may not have reached that time again.
        since = min(last.polled_at, now)
        new = {*self.asked}.difference(last.polled_types)
        for name in new:
            self.requested_since[name] = since

    def is_history(self, event: EventRecord, clock_ahead: timedelta | None) -> bool:
        """Whether the event's type had no subscribers when it happened.

        `clock_ahead`: how far the service's clock is ahead of the bot's. Compares with the slower
        clock, and only once the service's time is known.
        """
        requested_since = self.requested_since.get(event.type)
        if requested_since is None or clock_ahead is None:
            return False
        behind = min(clock_ahead, timedelta())
        return event.received_at < requested_since + behind - STAMPED_APART

    def wanted(self, now: datetime) -> Sequence[str]:
        """The types to request: those with subscribers, pauses made elsewhere, and freezes.

        Empty for all types, where the service refused to select any.
        """
        if self.filter_refused_at is not None and _is_recent(self.filter_refused_at, now):
            return ()
        topics = set(self.personal)
        for subscription in self.subscriptions:
            topics |= subscription.topics
        if self.has_rule:
            topics.add(Topic.HEALTH)
        if self.counts_merges:
            topics.add(Topic.MERGE)
        types = event_types_for(frozenset(topics)) | PAUSE_TYPES | {*FREEZE_TYPES}
        has_threads = any(subscription.style is Style.THREAD for subscription in self.subscriptions)
        if has_threads:
            types |= DECISIVE
        return sorted(types.difference(self.recently_refused(now)))

    def recently_refused(self, now: datetime) -> Collection[str]:
        return {name for name, at in self.refused_at.items() if _is_recent(at, now)}

    def leave_out_known(self, now: datetime) -> None:
        """Don't request what another repository's poll has learned since this one began."""
        refused = self.recently_refused(now)
        left = [name for name in self.asked if name not in refused]
        if left:
            # No types would mean all of them.
            self.asked = left

    def leave_out(self, refused: Collection[str], now: datetime) -> None:
        """Don't request these types any more, or none at all if the answer doesn't say which."""
        if not refused:
            self.filter_refused_at = now
            self.asked = ()
            return
        for name in refused:
            self.refused_at[name] = now
        self.asked = [name for name in self.asked if name not in refused]


def _is_recent(refused_at: datetime, now: datetime) -> bool:
    """A time after `now` comes from a clock that was set back since."""
    age = now - refused_at
    return timedelta() <= age < TYPES_RETRIED
