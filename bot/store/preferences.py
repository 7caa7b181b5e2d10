"""What people and channels chose: subscriptions, defaults, logins and notices."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from sqlalchemy import Text, delete, func, or_, select, tuple_, type_coerce

from bot.domain.notices import Choices, Notice
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import Subscription, SubscriptionSource, Topic
from bot.store.statements import Part, ResultRow, as_row, from_row
from bot.store.tables import HAS_CHOSEN, channels, people, subscriptions

_SUBSCRIPTIONS = select(subscriptions)
_CHOICES = select(people).where(HAS_CHOSEN)
_LOWER_LOGIN = func.lower(people.c.login)
_LINKED = select(people.c.user_id, _LOWER_LOGIN.label("login")).order_by(
    people.c.linked_at, people.c.user_id
)


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
        of_channel = _SUBSCRIPTIONS.where(subscriptions.c.channel_id == channel_id)
        return _sorted(self._run(of_channel))

    def of_topic(self, topic: Topic) -> Sequence[Subscription]:
        words = type_coerce(subscriptions.c.topics, Text)
        return _sorted(self._run(select(subscriptions).where(words.contains(f'"{topic}"'))))

    def of_repository(self, repository: RepositoryName) -> Sequence[Subscription]:
        return self.of_repositories([repository]).get(repository, [])

    def of_repositories(
        self, repositories: Collection[RepositoryName]
    ) -> Mapping[RepositoryName, Sequence[Subscription]]:
        rows = self._by_keys(_SUBSCRIPTIONS, subscriptions.c.repository, repositories)
        found: dict[RepositoryName, list[Subscription]] = defaultdict(list)
        for one in _sorted(rows):
            found[one.repository].append(one)
        return found

    def all(self, limit: int) -> Sequence[Subscription]:
        place = subscriptions.c.repository, subscriptions.c.channel_id, subscriptions.c.source
        return self._records(Subscription, _SUBSCRIPTIONS.order_by(*place).limit(limit))

    def count(self) -> int:
        return int(self._run(select(func.count()).select_from(subscriptions)).scalar_one())

    def replace_configured(self, configured: Sequence[Subscription]) -> Sequence[Subscription]:
        """Replace the configured ones; return those removed. Raises ValueError for others."""
        if any(one.source is not SubscriptionSource.CONFIGURATION for one in configured):
            raise ValueError("only configured subscriptions replace the configured ones")
        wanted = {(one.channel_id, one.repository): one for one in configured}
        is_configured = subscriptions.c.source == SubscriptionSource.CONFIGURATION
        place = tuple_(subscriptions.c.channel_id, subscriptions.c.repository)
        gone = delete(subscriptions).where(is_configured, place.not_in(sorted(wanted)))
        removed = _sorted(self._run(gone.returning(*subscriptions.columns)))
        # Sorted, to avoid deadlocks between processes that start together.
        self.save(*(wanted[each] for each in sorted(wanted)))
        return removed


def _sorted(rows: Iterable[ResultRow]) -> Sequence[Subscription]:
    found = [from_row(Subscription, row) for row in rows]
    return sorted(found, key=lambda one: (one.channel_id, one.repository, one.source))


class ChannelDefaults(Part):
    """The default repository of a channel, in the row of its queue."""

    def set(self, channel_id: str, repository: RepositoryName | None) -> None:
        self._put(channels, {"queue": channel_id, "default_repository": repository})

    def of(self, channel_id: str) -> RepositoryName | None:
        default = select(channels.c.default_repository).where(channels.c.queue == channel_id)
        found: RepositoryName | None = self._run(default).scalar_one_or_none()
        return found


class People(Part):
    """The logins of people, and the notices they switched on or off; defaults aren't stored."""

    def link(self, user_id: str, login: str, at: datetime) -> bool:
        """Save a person's own link; False, and no change, if another person has the login."""
        self.hold("logins")
        if set(self.linked_to([login]).get(login, ())) - {user_id}:
            return False
        self._put(people, {"user_id": user_id, "login": login, "linked_at": at})
        return True

    def unlink(self, user_id: str, at: datetime) -> bool:
        """End a link as the person wants; False if there was none."""
        linked = people.c.user_id == user_id, people.c.login.is_not(None)
        return self._change(people, *linked, login=None, linked_at=at) > 0

    def assign(self, logins: Mapping[str, str]) -> None:
        """Link people, by user id, who haven't chosen themselves; end earlier such links.

        A chosen link whose login is assigned to another person ends too.
        """
        self.hold("logins")
        owners = {login.lower(): user_id for user_id, login in logins.items()}
        is_known = or_(people.c.login.is_not(None), people.c.linked_at.is_not(None))
        left = dict(logins)
        for row in self._run(select(people).where(is_known)).all():
            is_taken = owners.get((row.login or "").lower(), row.user_id) != row.user_id
            if row.linked_at is not None and not is_taken:
                left.pop(row.user_id, None)
            elif row.login == left.get(row.user_id):
                del left[row.user_id]
            else:
                self._put(people, {"user_id": row.user_id, "login": None, "linked_at": None})
        for user_id, login in left.items():
            self._put(people, {"user_id": user_id, "login": login})

    def logins(self, user_ids: Collection[str]) -> Mapping[str, str]:
        """The logins by user id; people without a link are left out."""
        linked = select(people).where(people.c.login.is_not(None))
        rows = self._by_keys(linked, people.c.user_id, user_ids)
        return {row.user_id: row.login for row in rows}

    def linked_to(self, logins: Collection[str]) -> Mapping[str, Sequence[str]]:
        """The people who linked these logins, by login, in the order of linking.

        Case doesn't matter; the keys are the logins as given. Unlinked logins are left out.
        """
        found: dict[str, list[str]] = defaultdict(list)
        for row in self._by_keys(_LINKED, _LOWER_LOGIN, map(str.lower, logins)):
            found[row.login].append(row.user_id)
        return {one: found[one.lower()] for one in logins if one.lower() in found}

    def choose(self, user_id: str, choices: Choices) -> None:
        """Store these choices about notices; the person's other choices stay."""
        if not choices:
            return
        # Keeps both of two concurrent choices, also if the person has no row yet.
        self.hold(f"choices:{user_id}")
        before = self.chosen([user_id]).get(user_id, {})
        self._put(people, {"user_id": user_id, "choices": {**before, **choices}})

    def chosen(self, user_ids: Collection[str]) -> Mapping[str, Choices]:
        """The choices by user id; people without any are left out."""
        rows = self._by_keys(_CHOICES, people.c.user_id, user_ids)
        return {row.user_id: row.choices for row in rows}

    def switched_on_by_anybody(self, notices: Collection[Notice]) -> Collection[Notice]:
        """Those of the notices that at least one person has switched on."""
        chosen = self._run(select(people.c.choices).where(HAS_CHOSEN).distinct()).scalars().all()
        return [one for one in notices if any(choices.get(one) for choices in chosen)]

    def switched_on(
        self, logins: Collection[str], notices: Collection[Notice]
    ) -> Mapping[tuple[str, Notice], Sequence[str]]:
        """The people who linked a login and switched on a notice, by login and notice.

        Case doesn't matter; the keys are the logins as given. In the order of linking.
        """
        linked = self.linked_to(logins)
        chosen = self.chosen([one for people in linked.values() for one in people])
        return {
            (login, notice): wanting
            for login, people in linked.items()
            for notice in notices
            if (wanting := [one for one in people if chosen.get(one, {}).get(notice)])
        }
