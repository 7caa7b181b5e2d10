"""Which channel hears about what."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from typing import Any

from sqlalchemy import ColumnElement, delete, select, tuple_

from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import Subscription, SubscriptionSource
from bot.storage.statements import PreparedList, Statements
from bot.storage.tables import subscriptions

_KEY = ("channel_id", "repository", "source")


class SqlSubscriptions:
    """Subscriptions as rows, unique by (channel, repository, source)."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    def save(self, subscription: Subscription) -> None:
        self._put([subscription])

    def _put(self, some: Sequence[Subscription]) -> None:
        self._statements.put(subscriptions, _KEY, [_values(one) for one in some])

    def delete(self, channel_id: str, repository: RepositoryName) -> bool:
        deleted = self._statements.run(
            delete(subscriptions).where(
                subscriptions.c.channel_id == channel_id,
                subscriptions.c.repository == repository,
                subscriptions.c.source == SubscriptionSource.COMMAND,
            )
        )
        return deleted.rowcount > 0

    def of_channel(self, channel_id: str) -> Sequence[Subscription]:
        """By repository, those from configuration after those by command."""
        return self._read(subscriptions.c.channel_id == channel_id)

    def hold(self, channel_id: str) -> None:
        self._statements.hold(channel_id)

    def of_repository(self, repository: RepositoryName) -> Sequence[Subscription]:
        """By channel, those from configuration after those by command."""
        return self._read_of([repository])

    def of_repositories(
        self, repositories: Collection[RepositoryName]
    ) -> Mapping[RepositoryName, Sequence[Subscription]]:
        found: dict[RepositoryName, list[Subscription]] = {}
        for one in self._read_of(sorted(set(repositories))):
            found.setdefault(one.repository, []).append(one)
        return found

    def _read_of(self, repositories: Sequence[RepositoryName]) -> Sequence[Subscription]:
        rows = self._statements.rows_in(_OF_REPOSITORIES, repositories)
        return _in_order([_subscription(row._asdict()) for row in rows])

    def all(self, limit: int) -> Sequence[Subscription]:
        rows = self._statements.run(
            select(subscriptions)
            .order_by(
                subscriptions.c.repository, subscriptions.c.channel_id, subscriptions.c.source
            )
            .limit(limit)
        )
        return [_subscription(row._asdict()) for row in rows]

    def _read(self, condition: ColumnElement[bool]) -> Sequence[Subscription]:
        rows = self._statements.run(select(subscriptions).where(condition))
        return _in_order([_subscription(row._asdict()) for row in rows])

    def replace_configured(self, subscriptions: Sequence[Subscription]) -> Sequence[Subscription]:
        """Raise ValueError when one of them is not from configuration."""
        if any(s.source is not SubscriptionSource.CONFIGURATION for s in subscriptions):
            raise ValueError("only configured subscriptions replace the configured ones")
        wanted = {(s.channel_id, s.repository): s for s in subscriptions}
        gone = self._delete_configured_except(sorted(wanted))
        if wanted:
            # Sorted, so that two processes that start at once never wait in a circle.
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
        return _in_order([_subscription(row._asdict()) for row in rows])


def _values(subscription: Subscription) -> dict[str, object]:
    # Not asdict, which would take the digest's time apart.
    values = {each.name: getattr(subscription, each.name) for each in fields(subscription)}
    return {**values, "branch": values.pop("branches")}


_OF_REPOSITORIES = PreparedList(
    "repository",
    subscriptions.c.repository.type,
    lambda _, names: select(subscriptions).where(subscriptions.c.repository.in_(names)),
)


def _in_order(read: Sequence[Subscription]) -> Sequence[Subscription]:
    return sorted(read, key=lambda one: (one.channel_id, one.repository, one.source))


def _subscription(row: Mapping[str, Any]) -> Subscription:
    values = dict(row)
    return Subscription(branches=values.pop("branch"), **values)
