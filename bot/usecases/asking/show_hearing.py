"""Show who would hear about a sample event of each topic."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import Subscription, Topic
from bot.store.transactions import Store


@dataclass(frozen=True, slots=True)
class ShowHearing:
    """By the same decision that routes events."""

    store: Store

    async def run(
        self, repository: RepositoryName, branch: str | None
    ) -> Sequence[tuple[str, Sequence[Subscription]]]:
        """Each topic with the subscriptions that an event of it reaches; one for a channel."""
        found = await self.store.read(
            lambda transaction: transaction.subscriptions.of_repository(repository)
        )
        # The condition of a queue is that of all its branches.
        on = {topic: None if topic is Topic.HEALTH else branch for topic in Topic}
        return [(topic.value, _hearing(found, topic, on[topic])) for topic in Topic]


def _hearing(
    found: Sequence[Subscription], topic: Topic, branch: str | None
) -> Sequence[Subscription]:
    by_channel = {
        one.channel_id: one
        for one in reversed(found)
        if one.wants(topic=topic, event_type="", branch=branch)
    }
    return [by_channel[each] for each in sorted(by_channel)]
