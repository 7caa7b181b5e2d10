"""What people told of themselves: their logins, and the notices they want."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import (
    Index,
    Table,
    Text,
    func,
    literal_column,
    select,
    type_coerce,
)

from bot.domain.notices import Choices, Notice
from bot.store.column_types import SortedSet, UtcTime
from bot.store.schema import key, metadata, optional, partial_index, required
from bot.store.statements import Part

people = Table(
    "people",
    metadata,
    *key(Text, "user_id"),
    *optional(Text, "login"),
    *optional(UtcTime, "linked_at"),
    *required(SortedSet, "switched_on", "switched_off"),
    Index(None, "login"),
    comment="One person in Slack: their login at the code host, and the notices they switched.",
)
"""What was never switched has its default, and is in neither set."""
_SWITCHED_ON = people.c.switched_on != literal_column("'[]'")
"""Written out, and not a parameter, or no database sees that the index has these rows."""
partial_index(people.c.user_id, where=_SWITCHED_ON)

_LOWER_LOGIN = func.lower(people.c.login)


class People(Part):
    """What people told of themselves."""

    def _save(self, user_id: str, **values: object) -> None:
        """Change this of a person, and nothing else; one who is not known yet is added."""
        nothing: frozenset[Notice] = frozenset()
        new = {"user_id": user_id, "switched_on": nothing, "switched_off": nothing}
        self._add_new(people, new)
        self._change(people, people.c.user_id == user_id, **values)


class Accounts(People):
    """The logins of people; an older database may have several people with one login."""

    def link(self, user_id: str, login: str, at: datetime) -> bool:
        """Insert or replace. False, and nothing is stored, when another person has the login."""
        self._hold(f"login:{login.lower()}")
        if set(self.people([login]).get(login, ())) - {user_id}:
            return False
        self._save(user_id, login=login, linked_at=at)
        return True

    def unlink(self, user_id: str) -> bool:
        """Whether there was a link."""
        linked = people.c.user_id == user_id, people.c.login.is_not(None)
        return self._change(people, *linked, login=None, linked_at=None) > 0

    def logins(self, user_ids: Collection[str]) -> Mapping[str, str]:
        """By user id; people without a link are left out."""
        linked = select(people.c.user_id, people.c.login).where(people.c.login.is_not(None))
        rows = self._by_keys(linked, people.c.user_id, user_ids)
        return {row.user_id: row.login for row in rows}

    def people(self, logins: Collection[str]) -> Mapping[str, Sequence[str]]:
        """The ids of those who say that a login is theirs, first come first.

        By the login as it was asked for, which is found whatever its case; logins that nobody
        has named are left out.
        """
        linked = select(people.c.user_id, _LOWER_LOGIN.label("login")).order_by(
            people.c.linked_at, people.c.user_id
        )
        found: dict[str, list[str]] = defaultdict(list)
        for row in self._by_keys(linked, _LOWER_LOGIN, map(str.lower, logins)):
            found[row.login].append(row.user_id)
        return {one: found[one.lower()] for one in logins if one.lower() in found}


class Notices(People):
    """The notices that people have switched; those of which the default stands are not kept."""

    def choose(self, user_id: str, choices: Choices) -> None:
        """Insert or replace these; what else the person chose stays."""
        if not choices:
            return
        # Two choices at once are both kept, also those of a person who has no row yet.
        self._hold(f"choices:{user_id}")
        chosen = {**self.chosen([user_id]).get(user_id, {}), **choices}
        switched_on = frozenset(one for one, is_on in chosen.items() if is_on)
        switched_off = frozenset(chosen) - switched_on
        self._save(user_id, switched_on=switched_on, switched_off=switched_off)

    def chosen(self, user_ids: Collection[str]) -> Mapping[str, Choices]:
        """By user id; people who never chose are left out."""
        found: dict[str, Choices] = {}
        for row in self._by_keys(select(people), people.c.user_id, user_ids):
            on = {Notice(one): True for one in row.switched_on}
            off = {Notice(one): False for one in row.switched_off}
            if on or off:
                found[row.user_id] = on | off
        return found

    def switched_on_by_anybody(self, notices: Collection[Notice]) -> Collection[Notice]:
        """Those of the notices that at least one person has switched on."""
        return [one for one in sorted(notices) if self._is_on_for_anybody(one)]

    def _is_on_for_anybody(self, notice: Notice) -> bool:
        has_it = type_coerce(people.c.switched_on, Text).contains(f'"{notice.value}"')
        found = self._run(select(people.c.user_id).where(_SWITCHED_ON, has_it).limit(1))
        return found.first() is not None

    def switched_on(
        self, logins: Collection[str], notices: Collection[Notice]
    ) -> Mapping[tuple[str, Notice], Sequence[str]]:
        """Who has switched on which of the notices, of those who say that a login is theirs.

        By the login as it was asked for, which is found whatever its case, and the notice; first
        who linked first. What nobody has switched on is left out.
        """
        switched_on = (
            select(_LOWER_LOGIN.label("login"), people.c.user_id, people.c.switched_on)
            .where(_SWITCHED_ON)
            .order_by(people.c.linked_at, people.c.user_id)
        )
        found: dict[tuple[str, Notice], list[str]] = defaultdict(list)
        for row in self._by_keys(switched_on, _LOWER_LOGIN, map(str.lower, logins)):
            for notice in row.switched_on:
                found[row.login, Notice(notice)].append(row.user_id)
        return {
            (login, notice): found[login.lower(), notice]
            for login in logins
            for notice in notices
            if (login.lower(), notice) in found
        }
