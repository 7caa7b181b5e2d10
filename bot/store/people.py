"""People: their logins, and the notices they want."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import (
    Index,
    Table,
    Text,
    func,
    literal_column,
    or_,
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
"""A notice that was never switched is in neither set, and has its default.

`linked_at`: when the person chose their login, or chose to have none; None if the settings decide.
"""
_SWITCHED_ON = people.c.switched_on != literal_column("'[]'")
"""A literal, because with a parameter no database would use the partial index."""
partial_index(people.c.user_id, where=_SWITCHED_ON)

_NOTHING_SWITCHED: Mapping[str, frozenset[Notice]] = {
    "switched_on": frozenset(),
    "switched_off": frozenset(),
}
_LOWER_LOGIN = func.lower(people.c.login)


class People(Part):
    """Rows of people."""

    def _save(self, user_id: str, **values: object) -> None:
        """Add a person, or change only these columns."""
        self._add_new(people, {"user_id": user_id, **_NOTHING_SWITCHED})
        self._change(people, people.c.user_id == user_id, **values)


class Accounts(People):
    """The logins of people; an older database may have several people with one login."""

    def link(self, user_id: str, login: str, at: datetime) -> bool:
        """Save a person's own link; False, and no change, if another person has the login."""
        self._hold("logins")
        if set(self.people([login]).get(login, ())) - {user_id}:
            return False
        self._save(user_id, login=login, linked_at=at)
        return True

    def unlink(self, user_id: str, at: datetime) -> bool:
        """End a link as the person wants; False if there was none."""
        linked = people.c.user_id == user_id, people.c.login.is_not(None)
        return self._change(people, *linked, login=None, linked_at=at) > 0

    def assign(self, logins: Mapping[str, str]) -> None:
        """Link people, by user id, who haven't chosen themselves; end earlier such links.

        A chosen link whose login is assigned to another person ends too.
        """
        self._hold("logins")
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
                self._save(row.user_id, login=None, linked_at=None)
        if left:
            new = self._insert(people)
            link = new.on_conflict_do_update(
                index_elements=[people.c.user_id], set_={"login": new.excluded.login}
            )
            rows = [{"user_id": one, "login": left[one], **_NOTHING_SWITCHED} for one in left]
            self._run(link, rows)

    def logins(self, user_ids: Collection[str]) -> Mapping[str, str]:
        """The logins by user id; people without a link are left out."""
        linked = select(people.c.user_id, people.c.login).where(people.c.login.is_not(None))
        rows = self._by_keys(linked, people.c.user_id, user_ids)
        return {row.user_id: row.login for row in rows}

    def people(self, logins: Collection[str]) -> Mapping[str, Sequence[str]]:
        """The people who linked these logins, by login, in the order of linking.

        Case doesn't matter; the keys are the logins as given. Unlinked logins are left out.
        """
        linked = select(people.c.user_id, _LOWER_LOGIN.label("login")).order_by(
            people.c.linked_at, people.c.user_id
        )
        found: dict[str, list[str]] = defaultdict(list)
        for row in self._by_keys(linked, _LOWER_LOGIN, map(str.lower, logins)):
            found[row.login].append(row.user_id)
        return {one: found[one.lower()] for one in logins if one.lower() in found}


class Notices(People):
    """The notices that people have switched on or off; defaults aren't stored."""

    def choose(self, user_id: str, choices: Choices) -> None:
        """Store these choices; the person's other choices stay."""
        if not choices:
            return
        # Keeps both of two concurrent choices, also if the person has no row yet.
        self._hold(f"choices:{user_id}")
        chosen = {**self.chosen([user_id]).get(user_id, {}), **choices}
        switched_on = frozenset(one for one, is_on in chosen.items() if is_on)
        switched_off = frozenset(chosen) - switched_on
        self._save(user_id, switched_on=switched_on, switched_off=switched_off)

    def chosen(self, user_ids: Collection[str]) -> Mapping[str, Choices]:
        """The choices by user id; people without any are left out."""
        found: dict[str, Choices] = {}
        for row in self._by_keys(select(people), people.c.user_id, user_ids):
            on = {Notice(one): True for one in row.switched_on}
            off = {Notice(one): False for one in row.switched_off}
            if on or off:
                found[row.user_id] = on | off
        return found

    def switched_on_by_anybody(self, notices: Collection[Notice]) -> Collection[Notice]:
        """The notices that at least one person has switched on."""
        return [one for one in sorted(notices) if self._is_on_for_anybody(one)]

    def _is_on_for_anybody(self, notice: Notice) -> bool:
        has_it = type_coerce(people.c.switched_on, Text).contains(f'"{notice.value}"')
        found = self._run(select(people.c.user_id).where(_SWITCHED_ON, has_it).limit(1))
        return found.first() is not None

    def switched_on(
        self, logins: Collection[str], notices: Collection[Notice]
    ) -> Mapping[tuple[str, Notice], Sequence[str]]:
        """The people who linked a login and switched on a notice, by login and notice.

        Case doesn't matter; the keys are the logins as given. In the order of linking.
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
