"""Which channel hears about what, and how and when it is told."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, time
from enum import StrEnum
from fnmatch import fnmatchcase

from typing_extensions import override

from bot.domain.repository import RepositoryName
from bot.domain.values import value


class Topic(StrEnum):
    """What a channel can ask to hear about."""

    ENTER = "enter"
    CHECKS = "checks"
    MERGE = "merge"
    FAILURE = "failure"
    DEQUEUE = "dequeue"
    BATCH = "batch"
    PAUSE = "pause"
    FREEZE = "freeze"
    COMMAND = "command"
    CI = "ci"
    HEALTH = "health"


DEFAULT_TOPICS: frozenset[str] = frozenset(
    {Topic.ENTER.value, Topic.MERGE.value, Topic.FAILURE.value, Topic.PAUSE.value}
)

AT_ONCE: frozenset[str] = frozenset({Topic.FAILURE.value, Topic.PAUSE.value, Topic.HEALTH.value})
"""What a channel hears of when it happens, in a digest too."""


class Style(StrEnum):
    """How a channel is told: a thread for each stay in the queue, a post an event, a summary."""

    THREAD = "thread"
    FEED = "feed"
    DIGEST = "digest"


class SubscriptionSource(StrEnum):
    """Who made the subscription; one from configuration cannot be removed by command."""

    COMMAND = "command"
    CONFIGURATION = "configuration"


DIGEST_AT = time(9, 0)
"""When nothing is said of the time."""

UTC_ZONE = "UTC"


@dataclass(frozen=True, slots=True)
class DigestTime:
    """A time of day in a time zone: `zone` is an IANA name."""

    at: time
    zone: str = UTC_ZONE

    @override
    def __str__(self) -> str:
        """As it is typed: "09:00 Europe/Paris"."""
        return f"{self.at:%H:%M} {self.zone}"


NextDigest = Callable[[DigestTime, datetime], datetime]
"""When the next digest after a moment comes, in UTC."""


@value(frozen=True, slots=True)
class Subscription:
    """One channel's interest in one repository.

    `topics` are Topic values or single event types of the API document. `branches` are globs over
    base branches, none of them for all. `except_logins` are pull request authors nobody wants to
    hear of. `digest` is when the summaries come; None unless the style is DIGEST.
    """

    channel_id: str
    repository: RepositoryName
    topics: frozenset[str] = DEFAULT_TOPICS
    branches: frozenset[str] = frozenset()
    except_logins: frozenset[str] = field(default_factory=frozenset)
    source: SubscriptionSource = SubscriptionSource.COMMAND
    created_by: str | None = None
    created_at: datetime | None = None
    style: Style = Style.THREAD
    digest: DigestTime | None = None

    def wants(
        self, *, topic: str | None, event_type: str, branch: str | None, author: str | None = None
    ) -> bool:
        """Whether an event is asked for. An event without a branch concerns all branches."""
        if author is not None and author.lower() in self.except_logins:
            return False
        if branch is not None and self.branches and not self._covers(branch):
            return False
        return event_type in self.topics or (topic is not None and topic in self.topics)

    def _covers(self, branch: str) -> bool:
        return any(fnmatchcase(branch, glob) for glob in self.branches)

    def hears_the_same(self, other: "Subscription") -> bool:
        """Whether nobody could tell the two apart by what the channel hears."""
        return replace(other, created_by=self.created_by, created_at=self.created_at) == self


def channels_hearing(subscriptions: Iterable[Subscription], topic: Topic) -> set[str]:
    """The channels that hear of a topic, on whichever branches."""
    return {one.channel_id for one in subscriptions if topic in one.topics}
