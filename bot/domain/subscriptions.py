"""Which channel hears about what, and the routing of events to channels."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from fnmatch import fnmatchcase

from bot.domain.event_types import is_known_event_type
from bot.domain.repository import RepositoryName


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


DEFAULT_TOPICS: frozenset[str] = frozenset(
    {Topic.ENTER.value, Topic.MERGE.value, Topic.FAILURE.value, Topic.PAUSE.value}
)

ALL_TOPICS = "all"


class UnknownTopic(ValueError):
    """A word that is neither a topic nor an event type; the text says which there are."""


def read_topics(words: Iterable[str]) -> frozenset[str]:
    """Topics and single event types of the API document; raises UnknownTopic."""
    topics: set[str] = set()
    for word in words:
        topic = word.lower().rstrip(",")
        if topic == ALL_TOPICS:
            topics.update(one.value for one in Topic)
        elif topic in set(Topic) or is_known_event_type(topic):
            topics.add(topic)
        else:
            choices = ", ".join((*Topic, ALL_TOPICS))
            raise UnknownTopic(f"There is no topic “{word}”. Topics are {choices}.")
    return frozenset(topics)


class SubscriptionSource(StrEnum):
    """Who made the subscription; one from configuration cannot be removed by command."""

    COMMAND = "command"
    CONFIGURATION = "configuration"


@dataclass(frozen=True, slots=True)
class Subscription:
    """One channel's interest in one repository.

    `topics` are Topic values or single event types of the API document. `branch` is a glob over
    base branches, None for all. `except_logins` are pull request authors nobody wants to hear of.
    """

    channel_id: str
    repository: RepositoryName
    topics: frozenset[str] = DEFAULT_TOPICS
    branch: str | None = None
    except_logins: frozenset[str] = field(default_factory=frozenset)
    source: SubscriptionSource = SubscriptionSource.COMMAND
    created_by: str | None = None
    created_at: datetime | None = None

    def wants(self, *, topic: str | None, event_type: str, branch: str | None) -> bool:
        """Whether an event is asked for. An event without a branch concerns all branches."""
        if self.branch is not None and branch is not None and not fnmatchcase(branch, self.branch):
            return False
        return event_type in self.topics or (topic is not None and topic in self.topics)
