"""Which channel hears about which repository, and which one it means by default."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from sqlalchemy import delete, func, select, tuple_, update

from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import Subscription, SubscriptionSource
from bot.store.statements import Part, ResultRow, as_row, from_row
from bot.store.tables import channels, subscriptions

_ALL = select(subscriptions)


class Subscriptions(Part):
    """One row per channel, repository and source.

    Lists are sorted by channel and repository, those from configuration after those by command.
    """

    def save(self, subscription: Subscription) -> None:
        """Insert, or replace the one with the same channel, repository and source."""
        self._put([subscription])

    def _put(self, some: Iterable[Subscription]) -> None:
        rows = [as_row(subscriptions, one) for one in some]
        self._statements.put(subscriptions, *rows)

    def delete(self, channel_id: str, repository: RepositoryName) -> bool:
        """Remove the one made by command; whether there was one."""
        deleted = self._statements.run(
            delete(subscriptions).where(
                subscriptions.c.channel_id == channel_id,
                subscriptions.c.repository == repository,
                subscriptions.c.source == SubscriptionSource.COMMAND,
            )
        )
        return deleted.rowcount > 0

    def of_channel(self, channel_id: str) -> Sequence[Subscription]:
        rows = self._statements.run(
            select(subscriptions).where(subscriptions.c.channel_id == channel_id)
        )
        return _sorted(rows)

    def hold(self, channel_id: str) -> None:
        """Nobody else who holds it changes what the channel hears until this transaction ends."""
        self._statements.hold(channel_id)

    def of_repository(self, repository: RepositoryName) -> Sequence[Subscription]:
        return self.of_repositories([repository]).get(repository, [])

    def of_repositories(
        self, repositories: Collection[RepositoryName]
    ) -> Mapping[RepositoryName, Sequence[Subscription]]:
        """Those of each, as `of_repository` gives them; left out where there are none."""
        rows = self._statements.by_keys(_ALL, subscriptions.c.repository, repositories)
        found: dict[RepositoryName, list[Subscription]] = {}
        for one in _sorted(rows):
            found.setdefault(one.repository, []).append(one)
        return found

    def all(self, limit: int) -> Sequence[Subscription]:
        """By repository, then channel."""
        rows = self._statements.run(
            select(subscriptions)
            .order_by(
                subscriptions.c.repository, subscriptions.c.channel_id, subscriptions.c.source
            )
            .limit(limit)
        )
        return [from_row(Subscription, row) for row in rows]

    def count(self) -> int:
        (row,) = self._statements.run(select(func.count()).select_from(subscriptions))
        return int(row[0])

    def replace_configured(self, subscriptions: Sequence[Subscription]) -> Sequence[Subscription]:
        """Raise ValueError when one of them is not from configuration."""
        if any(s.source is not SubscriptionSource.CONFIGURATION for s in subscriptions):
            raise ValueError("only configured subscriptions replace the configured ones")
        wanted = {(s.channel_id, s.repository): s for s in subscriptions}
        gone = self._delete_configured_except(sorted(wanted))
        # Sorted, so that two processes that start at once never wait for each other.
        self._put([wanted[key] for key in sorted(wanted)])
        return gone

    def _delete_configured_except(
        self, kept: Sequence[tuple[str, RepositoryName]]
    ) -> Sequence[Subscription]:
        key = tuple_(subscriptions.c.channel_id, subscriptions.c.repository)
        rows = self._statements.run(
            delete(subscriptions)
            .where(subscriptions.c.source == SubscriptionSource.CONFIGURATION, key.not_in(kept))
            .returning(*subscriptions.columns)
        )
        return _sorted(rows)


class ChannelDefaults(Part):
    """The repository that is meant in a channel when none is typed, in the row of its queue."""

    def set(self, channel_id: str, repository: RepositoryName) -> None:
        """Instead of the one there was, if there was one."""
        self._statements.put(channels, {"line": channel_id, "default_repository": repository})

    def forget(self, channel_id: str) -> None:
        self._statements.run(
            update(channels).where(channels.c.line == channel_id).values(default_repository=None)
        )

    def of(self, channel_id: str) -> RepositoryName | None:
        rows = self._statements.run(
            select(channels.c.default_repository).where(channels.c.line == channel_id)
        )
        found: RepositoryName | None = rows.scalar_one_or_none()
        return found


def _sorted(rows: Iterable[ResultRow]) -> Sequence[Subscription]:
    found = [from_row(Subscription, row) for row in rows]
    return sorted(found, key=lambda one: (one.channel_id, one.repository, one.source))
