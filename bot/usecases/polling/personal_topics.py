"""Which events have to be read and looked at because people want direct messages about them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.notices import Notice
from bot.domain.subscriptions import Topic
from bot.store.transactions import Transaction

READ_EVERY = timedelta(seconds=10)
"""So long may pass until the first one of a workspace hears what they have switched on."""

_TOPICS: Mapping[Notice, Topic] = {Notice.FAILURE: Topic.FAILURE, Notice.MERGE: Topic.MERGE}


@dataclass(frozen=True, slots=True)
class PersonalTopics:
    """As far as this process knows; where nobody wants any, polls and routes cost nothing more."""

    topics: frozenset[str] = frozenset()
    read_at: datetime | None = None

    def read(self, transaction: Transaction, now: datetime) -> "PersonalTopics":
        """Those of now; these still, where they were read a moment ago."""
        if self.read_at is not None and self.read_at <= now < self.read_at + READ_EVERY:
            return self
        wanted = transaction.notices.switched_on_by_anybody(list(_TOPICS))
        return PersonalTopics(frozenset(_TOPICS[one].value for one in wanted), now)
