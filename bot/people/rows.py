"""Rows of people and their choices."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, func, or_, select

from bot.kernel.repository import RepositoryName
from bot.people.actions import MutablePullRequest
from bot.people.notices import Choices, Notice
from bot.people.tables import HAS_CHOSEN, muted_pull_requests, people
from bot.store.statements import Part

_CHOICES = select(people).where(HAS_CHOSEN)


_LOWER_LOGIN = func.lower(people.c.login)


_LINKED = select(people.c.user_id, _LOWER_LOGIN.label("login")).order_by(
    people.c.linked_at, people.c.user_id
)


class People(Part):
    """The logins of people, and the notices they switched on or off; defaults aren't stored."""

    def link(self, user_id: str, login: str, at: datetime) -> bool:
        """Save a person's own link; False, and no change, if another person has the login."""
        self.lock("logins")
        owners = set(self.linked_to([login]).get(login, ()))
        if owners - {user_id}:
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
        self.lock("logins")
        owners = {login.lower(): user_id for user_id, login in logins.items()}
        is_known = or_(people.c.login.is_not(None), people.c.linked_at.is_not(None))
        to_link = dict(logins)
        for row in self._run(select(people).where(is_known)).all():
            login = (row.login or "").lower()
            is_taken = owners.get(login, row.user_id) != row.user_id
            if row.linked_at is not None and not is_taken:
                # The person's own choice.
                to_link.pop(row.user_id, None)
            elif row.login == to_link.get(row.user_id):
                # As it is already.
                del to_link[row.user_id]
            else:
                self._put(people, {"user_id": row.user_id, "login": None, "linked_at": None})
        for user_id, login in to_link.items():
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
        rows = self._by_keys(_LINKED, _LOWER_LOGIN, map(str.lower, logins))
        for row in rows:
            found[row.login].append(row.user_id)
        return {login: found[login.lower()] for login in logins if login.lower() in found}

    def choose(self, user_id: str, choices: Choices) -> None:
        """Store these choices about notices; the person's other choices stay."""
        if not choices:
            return
        # Keeps both of two concurrent choices, also if the person has no row yet.
        self.lock(f"choices:{user_id}")
        before = self.chosen([user_id]).get(user_id, {})
        self._put(people, {"user_id": user_id, "choices": {**before, **choices}})

    def chosen(self, user_ids: Collection[str]) -> Mapping[str, Choices]:
        """The choices by user id; people without any are left out."""
        rows = self._by_keys(_CHOICES, people.c.user_id, user_ids)
        return {row.user_id: row.choices for row in rows}

    def switched_on_by_anybody(self, notices: Collection[Notice]) -> Collection[Notice]:
        """Those of the notices that at least one person has switched on."""
        different = select(people.c.choices).where(HAS_CHOSEN).distinct()
        switched_on: set[str] = set()
        for choices in self._run(different).scalars():
            switched_on.update(notice for notice, is_on in choices.items() if is_on)
        return [notice for notice in notices if notice in switched_on]

    def switched_on(
        self, logins: Collection[str], notices: Collection[Notice]
    ) -> Mapping[tuple[str, Notice], Sequence[str]]:
        """The people who linked a login and switched on a notice, by login and notice.

        Case doesn't matter; the keys are the logins as given. In the order of linking.
        """
        linked = self.linked_to(logins)
        everybody = [user_id for user_ids in linked.values() for user_id in user_ids]
        chosen = self.chosen(everybody)
        found: dict[tuple[str, Notice], list[str]] = defaultdict(list)
        for login, user_ids in linked.items():
            for user_id in user_ids:
                choices = chosen.get(user_id, {})
                for notice in notices:
                    if choices.get(notice):
                        found[login, notice].append(user_id)
        return found


class MutedPullRequests(Part):
    """Pull requests about which single people want to know nothing for a while."""

    def add(
        self, user_id: str, repository: RepositoryName, number: int, *, until: datetime
    ) -> None:
        """Mute it, or mute it for longer."""
        row = {
            "user_id": user_id,
            "repository": repository,
            "pull_request": number,
            "until": until,
        }
        self._put(muted_pull_requests, row)

    def remove(self, user_id: str, repository: RepositoryName, number: int) -> bool:
        """Whether it was muted."""
        return self._remove(muted_pull_requests, *_of(repository, number, [user_id])) > 0

    def of_people(
        self, user_ids: Collection[str], at: datetime
    ) -> Mapping[str, frozenset[MutablePullRequest]]:
        """What each of them has muted, if that lasts at the time `at`."""
        lasting = select(muted_pull_requests).where(muted_pull_requests.c.until > at)
        found: dict[str, set[MutablePullRequest]] = defaultdict(set)
        for row in self._by_keys(lasting, muted_pull_requests.c.user_id, user_ids):
            found[row.user_id].add(MutablePullRequest(row.repository, row.pull_request))
        return {user_id: frozenset(muted) for user_id, muted in found.items()}

    def muted_by(
        self, user_ids: Collection[str], repository: RepositoryName, number: int, at: datetime
    ) -> Collection[str]:
        """Those of the people who muted it, if that lasts at the time `at`."""
        if not user_ids:
            return frozenset()
        muted = select(muted_pull_requests.c.user_id).where(
            *_of(repository, number, user_ids), muted_pull_requests.c.until > at
        )
        return frozenset(self._run(muted).scalars())


def _of(
    repository: RepositoryName, number: int, user_ids: Collection[str]
) -> tuple[ColumnElement[bool], ...]:
    return (
        muted_pull_requests.c.repository == repository,
        muted_pull_requests.c.pull_request == number,
        muted_pull_requests.c.user_id.in_(sorted(user_ids)),
    )
