"""What channels chose: subscriptions, the groups and owners they follow, and defaults."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from sqlalchemy import Text, case, delete, func, literal_column, select, tuple_, type_coerce

from bot.channels.subscription import (
    Following,
    ListedSubscription,
    Subscription,
    SubscriptionSource,
    Topic,
)
from bot.channels.tables import channel_defaults, followed, subscriptions
from bot.kernel.repository import RepositoryName
from bot.store.statements import Part, ResultRow, as_row, from_rows

_SUBSCRIPTIONS = select(subscriptions)

_OWN_LINE = case(
    (subscriptions.c.through.is_(None), subscriptions.c.repository), else_=literal_column("''")
)
_LINES = select(
    subscriptions.c.channel_id,
    subscriptions.c.source,
    func.min(subscriptions.c.repository).label("first"),
    func.count().label("repositories"),
).group_by(subscriptions.c.channel_id, subscriptions.c.source, subscriptions.c.through, _OWN_LINE)
"""A row for each repository, and for each selection, that a channel is subscribed to."""


class Subscriptions(Part):
    """Subscriptions, one for a channel, repository and source.

    Lists are sorted by channel and repository, those from configuration after those by command.
    """

    def save(self, *some: Subscription) -> None:
        """Insert each, or replace the one with the same channel, repository and source."""
        self._put(subscriptions, *(as_row(subscriptions, subscription) for subscription in some))

    def delete(self, channel_id: str, repository: RepositoryName) -> bool:
        """Remove the subscription made by command; False if there was none."""
        this = subscriptions.c.channel_id == channel_id, subscriptions.c.repository == repository
        by_command = subscriptions.c.source == SubscriptionSource.COMMAND
        return self._remove(subscriptions, *this, by_command) > 0

    def of_channel(self, channel_id: str) -> Sequence[Subscription]:
        of_channel = _SUBSCRIPTIONS.where(subscriptions.c.channel_id == channel_id)
        return _sorted(self._run(of_channel))

    def of_topic(self, topic: Topic) -> Sequence[Subscription]:
        words = type_coerce(subscriptions.c.topics, Text)
        with_topic = select(subscriptions).where(words.contains(f'"{topic}"'))
        return _sorted(self._run(with_topic))

    def of_repository(self, repository: RepositoryName) -> Sequence[Subscription]:
        return self.of_repositories([repository]).get(repository, [])

    def of_repositories(
        self, repositories: Collection[RepositoryName]
    ) -> Mapping[RepositoryName, Sequence[Subscription]]:
        rows = self._by_keys(_SUBSCRIPTIONS, subscriptions.c.repository, repositories)
        found: dict[RepositoryName, list[Subscription]] = defaultdict(list)
        for subscription in _sorted(rows):
            found[subscription.repository].append(subscription)
        return found

    def all(self) -> Sequence[Subscription]:
        """By repository and channel."""
        order = subscriptions.c.repository, subscriptions.c.channel_id, subscriptions.c.source
        return self._records(Subscription, _SUBSCRIPTIONS.order_by(*order))

    def listed(self, first: int, size: int) -> Sequence[ListedSubscription]:
        """A page of all subscriptions, those through one selection in one line.

        By channel and repository.
        """
        lines = _LINES.order_by(_LINES.selected_columns.channel_id, _LINES.selected_columns.first)
        page = self._run(lines.offset(first).limit(size)).all()
        keys = [(row.channel_id, row.first, row.source) for row in page]
        key = tuple_(subscriptions.c.channel_id, subscriptions.c.repository, subscriptions.c.source)
        options = {
            _order(subscription): subscription
            for subscription in self._records(Subscription, _SUBSCRIPTIONS.where(key.in_(keys)))
        }
        return [
            ListedSubscription(options[row.channel_id, row.first, row.source], row.repositories)
            for row in page
        ]

    def count_listed(self) -> int:
        """How many lines there are."""
        counted = select(func.count()).select_from(_LINES.subquery())
        return int(self._run(counted).scalar_one())

    def configured(self) -> Sequence[Subscription]:
        """Those from the configuration, which nobody else changes before the transaction ends."""
        self.lock("configured subscriptions")
        is_configured = subscriptions.c.source == SubscriptionSource.CONFIGURATION
        return _sorted(self._run(select(subscriptions).where(is_configured)))

    def replace_configured(self, configured: Sequence[Subscription]) -> Sequence[Subscription]:
        """Replace the configured ones; return those removed. Raises ValueError for others."""
        sources = {subscription.source for subscription in configured}
        if sources - {SubscriptionSource.CONFIGURATION}:
            raise ValueError("only configured subscriptions replace the configured ones")
        wanted = {
            (subscription.channel_id, subscription.repository): subscription
            for subscription in configured
        }
        is_configured = subscriptions.c.source == SubscriptionSource.CONFIGURATION
        key = tuple_(subscriptions.c.channel_id, subscriptions.c.repository)
        gone = delete(subscriptions).where(is_configured, key.not_in(sorted(wanted)))
        removed = _sorted(self._run(gone.returning(*subscriptions.columns)))
        # Sorted, to avoid deadlocks between processes that start together.
        self.save(*(wanted[channel_and_name] for channel_and_name in sorted(wanted)))
        return removed


def _sorted(rows: Iterable[ResultRow]) -> Sequence[Subscription]:
    found = from_rows(Subscription, [*rows])
    return sorted(found, key=_order)


def _order(subscription: Subscription) -> tuple[str, ...]:
    return subscription.channel_id, subscription.repository, subscription.source


class Followed(Part):
    """Subscriptions to selections, one for a channel and selection.

    The channel is locked before they change, as for its subscriptions.
    """

    def save(self, *some: Following) -> None:
        self._put(followed, *(as_row(followed, following) for following in some))

    def delete(self, *some: Following) -> None:
        for following in some:
            is_there = followed.c.channel_id == following.channel_id
            self._remove(followed, is_there, followed.c.selection == following.selection)

    def of_channel(self, channel_id: str) -> Sequence[Following]:
        """In the order in which they were asked for."""
        of_it = select(followed).where(followed.c.channel_id == channel_id)
        in_order = of_it.order_by(followed.c.created_at, followed.c.selection)
        return self._records(Following, in_order)

    def by_channel(self) -> Mapping[str, Sequence[Following]]:
        """All of them, each channel's in the order in which they were asked for."""
        order = followed.c.channel_id, followed.c.created_at, followed.c.selection
        found: dict[str, list[Following]] = defaultdict(list)
        for following in self._records(Following, select(followed).order_by(*order)):
            found[following.channel_id].append(following)
        return found


class ChannelDefaults(Part):
    """The default repositories of channels."""

    def set(self, channel_id: str, repository: RepositoryName | None) -> None:
        if repository is None:
            self._remove(channel_defaults, channel_defaults.c.channel_id == channel_id)
        else:
            row = {"channel_id": channel_id, "repository": repository}
            self._put(channel_defaults, row)

    def of(self, channel_id: str) -> RepositoryName | None:
        known = channel_defaults.c
        default = select(known.repository).where(known.channel_id == channel_id)
        found: RepositoryName | None = self._run(default).scalar_one_or_none()
        return found
