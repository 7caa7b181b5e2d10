"""Subscriptions of channels to repositories."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from sqlalchemy import Index, Table, Text, delete, func, select, tuple_, type_coerce

from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import Style, Subscription, SubscriptionSource, Topic
from bot.store.column_types import AsText, DigestAt, Repository, SortedSet, UtcTime
from bot.store.schema import key, metadata, optional, required
from bot.store.statements import Part, ResultRow, as_row, from_row

subscriptions = Table(
    "subscriptions",
    metadata,
    *key(Text, "channel_id"),
    *key(Repository, "repository"),
    *key(AsText(SubscriptionSource), "source"),
    *required(SortedSet, "topics", "branches", "except_logins"),
    *optional(Text, "created_by"),
    *optional(UtcTime, "created_at"),
    *required(AsText(Style), "style"),
    *optional(DigestAt, "digest"),
    Index(None, "repository"),
    comment="One channel's subscription to one repository, by command or by the settings.",
)
_ALL = select(subscriptions)


class Subscriptions(Part):
    """Subscriptions, one for a channel, repository and source.

    Lists are sorted by channel and repository, those from configuration after those by command.
    """

    def save(self, *some: Subscription) -> None:
        """Insert each, or replace the one with the same channel, repository and source."""
        self._put(subscriptions, *(as_row(subscriptions, one) for one in some))

    def delete(self, channel_id: str, repository: RepositoryName) -> bool:
        """Remove the subscription made by command; False if there was none."""
        this = subscriptions.c.channel_id == channel_id, subscriptions.c.repository == repository
        by_command = subscriptions.c.source == SubscriptionSource.COMMAND
        return self._remove(subscriptions, *this, by_command) > 0

    def of_channel(self, channel_id: str) -> Sequence[Subscription]:
        return _sorted(
            self._run(select(subscriptions).where(subscriptions.c.channel_id == channel_id))
        )

    def hold(self, channel_id: str) -> None:
        """Lock the channel's subscriptions until this transaction ends."""
        self._hold(channel_id)

    def of_topic(self, topic: Topic) -> Sequence[Subscription]:
        """The subscriptions to a topic, of all repositories."""
        words = type_coerce(subscriptions.c.topics, Text)
        return _sorted(self._run(_ALL.where(words.contains(f'"{topic}"'))))

    def of_repository(self, repository: RepositoryName) -> Sequence[Subscription]:
        return self.of_repositories([repository]).get(repository, [])

    def of_repositories(
        self, repositories: Collection[RepositoryName]
    ) -> Mapping[RepositoryName, Sequence[Subscription]]:
        """The subscriptions to each repository that has any."""
        rows = self._by_keys(_ALL, subscriptions.c.repository, repositories)
        found: dict[RepositoryName, list[Subscription]] = {}
        for one in _sorted(rows):
            found.setdefault(one.repository, []).append(one)
        return found

    def all(self, limit: int) -> Sequence[Subscription]:
        """By repository, then channel."""
        columns = subscriptions.c
        ordered = select(subscriptions).order_by(
            columns.repository, columns.channel_id, columns.source
        )
        return self._records(Subscription, ordered.limit(limit))

    def count(self) -> int:
        counted: int = self._run(select(func.count()).select_from(subscriptions)).scalar_one()
        return counted

    def replace_configured(self, configured: Sequence[Subscription]) -> Sequence[Subscription]:
        """Replace the configured ones; return those removed. Raises ValueError for others."""
        if any(one.source is not SubscriptionSource.CONFIGURATION for one in configured):
            raise ValueError("only configured subscriptions replace the configured ones")
        wanted = {(one.channel_id, one.repository): one for one in configured}
        is_configured = subscriptions.c.source == SubscriptionSource.CONFIGURATION
        place = tuple_(subscriptions.c.channel_id, subscriptions.c.repository)
        gone = self._run(
            delete(subscriptions)
            .where(is_configured, place.not_in(sorted(wanted)))
            .returning(*subscriptions.columns)
        )
        removed = _sorted(gone)
        # Sorted, to avoid deadlocks between processes that start together.
        self.save(*(wanted[each] for each in sorted(wanted)))
        return removed


def _sorted(rows: Iterable[ResultRow]) -> Sequence[Subscription]:
    found = [from_row(Subscription, row) for row in rows]
    return sorted(found, key=lambda one: (one.channel_id, one.repository, one.source))
