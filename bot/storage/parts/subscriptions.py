"""Which channel hears about what."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from typing import Any

from sqlalchemy import ColumnElement, delete, select, tuple_
from typing_extensions import override

from bot import ports
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import Subscription, SubscriptionSource
from bot.storage.execution.prepared import PreparedList
from bot.storage.execution.statements import Statements
from bot.storage.tables import subscriptions

_KEY = ("channel_id", "repository", "source")


class SqlSubscriptions(ports.Subscriptions):
    """Subscriptions as rows, unique by (channel, repository, source)."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    @override
    async def save(self, subscription: Subscription) -> None:
        await self._put([subscription])

    async def _put(self, some: Sequence[Subscription]) -> None:
        await self._statements.put(subscriptions, _KEY, [_values(one) for one in some])

    @override
    async def delete(self, channel_id: str, repository: RepositoryName) -> bool:
        deleted = await self._statements.run(
            delete(subscriptions).where(
                subscriptions.c.channel_id == channel_id,
                subscriptions.c.repository == repository,
                subscriptions.c.source == SubscriptionSource.COMMAND,
            )
        )
        return deleted.rowcount > 0

    @override
    async def of_channel(self, channel_id: str) -> Sequence[Subscription]:
        """By repository, those from configuration after those by command."""
        return await self._read(subscriptions.c.channel_id == channel_id)

    @override
    async def hold(self, channel_id: str) -> None:
        await self._statements.hold(channel_id)

    @override
    async def of_repository(self, repository: RepositoryName) -> Sequence[Subscription]:
        """By channel, those from configuration after those by command."""
        return await self._read_of([repository])

    @override
    async def of_repositories(
        self, repositories: Collection[RepositoryName]
    ) -> Mapping[RepositoryName, Sequence[Subscription]]:
        found: dict[RepositoryName, list[Subscription]] = {}
        for one in await self._read_of(sorted(set(repositories))):
            found.setdefault(one.repository, []).append(one)
        return found

    async def _read_of(self, repositories: Sequence[RepositoryName]) -> Sequence[Subscription]:
        rows = await self._statements.rows_in(_OF_REPOSITORIES, repositories)
        return _in_order([_subscription(row._asdict()) for row in rows])

    @override
    async def all(self, limit: int) -> Sequence[Subscription]:
        rows = await self._statements.run(
            select(subscriptions)
            .order_by(
                subscriptions.c.repository, subscriptions.c.channel_id, subscriptions.c.source
            )
            .limit(limit)
        )
        return [_subscription(row._asdict()) for row in rows]

    async def _read(self, condition: ColumnElement[bool]) -> Sequence[Subscription]:
        rows = await self._statements.run(select(subscriptions).where(condition))
        return _in_order([_subscription(row._asdict()) for row in rows])

    @override
    async def replace_configured(
        self, subscriptions: Sequence[Subscription]
    ) -> Sequence[Subscription]:
        """Raise ValueError when one of them is not from configuration."""
        if any(s.source is not SubscriptionSource.CONFIGURATION for s in subscriptions):
            raise ValueError("only configured subscriptions replace the configured ones")
        wanted = {(s.channel_id, s.repository): s for s in subscriptions}
        gone = await self._delete_configured_except(sorted(wanted))
        if wanted:
            # Sorted, so that two processes that start at once never wait in a circle.
            await self._put([wanted[key] for key in sorted(wanted)])
        return gone

    async def _delete_configured_except(
        self, kept: Sequence[tuple[str, RepositoryName]]
    ) -> Sequence[Subscription]:
        key = tuple_(subscriptions.c.channel_id, subscriptions.c.repository)
        rows = await self._statements.run(
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
