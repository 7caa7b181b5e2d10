"""Which channel hears about what, and the routing of events to channels."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from fnmatch import fnmatchcase

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


DEFAULT_TOPICS = frozenset({Topic.ENTER, Topic.MERGE, Topic.FAILURE, Topic.PAUSE})


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
