"""What people told of themselves: their logins, and the notices they want."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import Text, bindparam, func, select, type_coerce, update

from bot.domain.notices import Choices, Notice
from bot.store.statements import Part, ResultRow, Statements
from bot.store.tables import SWITCHED_ON, people

_LOWER_LOGIN = func.lower(people.c.login)
_PERSON = select(people)
_HAVING_ON = (
    select(people.c.user_id)
    .where(SWITCHED_ON, type_coerce(people.c.switched_on, Text).contains(bindparam("word")))
    .limit(1)
)


def _save(statements: Statements, user_id: str, values: Mapping[str, object]) -> None:
    """Change this of a person, and nothing else; one who is not known yet is added."""
    nothing: dict[str, object] = {"switched_on": frozenset(), "switched_off": frozenset()}
    new = statements.insert(people).values({"user_id": user_id} | nothing | dict(values))
    changed = {name: new.excluded[name] for name in values}
    statements.run(new.on_conflict_do_update(index_elements=[people.c.user_id], set_=changed))


class Accounts(Part):
    """The logins of people; an older database may have several people with one login."""

    def link(self, user_id: str, login: str, at: datetime) -> bool:
        """Insert or replace. False, and nothing is stored, when another person has the login."""
        self._statements.hold(f"login:{login.lower()}")
        if set(self.people([login]).get(login, ())) - {user_id}:
            return False
        _save(self._statements, user_id, {"login": login, "linked_at": at})
        return True

    def unlink(self, user_id: str) -> bool:
        """Whether there was a link."""
        unlinked = self._statements.run(
            update(people)
            .where(people.c.user_id == user_id, people.c.login.is_not(None))
            .values(login=None, linked_at=None)
        )
        return unlinked.rowcount > 0

    def logins(self, user_ids: Collection[str]) -> Mapping[str, str]:
        """By user id; people without a link are left out."""
        linked = select(people.c.user_id, people.c.login).where(people.c.login.is_not(None))
        rows = self._statements.by_keys(linked, people.c.user_id, user_ids)
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
        for row in self._statements.by_keys(linked, _LOWER_LOGIN, map(str.lower, logins)):
            found[row.login].append(row.user_id)
        return {one: found[one.lower()] for one in logins if one.lower() in found}


class Notices(Part):
    """The notices that people have switched; those of which the default stands are not kept."""

    def choose(self, user_id: str, choices: Choices) -> None:
        """Insert or replace these; what else the person chose stays."""
        if not choices:
            return
        # Two choices at once are both kept, also those of a person who has no row yet.
        self._statements.hold(f"choices:{user_id}")
        all_chosen = {**self.chosen([user_id]).get(user_id, {}), **choices}
        switched_on = frozenset(one for one, is_on in all_chosen.items() if is_on)
        switched_off = frozenset(all_chosen) - switched_on
        values = {"switched_on": switched_on, "switched_off": switched_off}
        _save(self._statements, user_id, values)

    def chosen(self, user_ids: Collection[str]) -> Mapping[str, Choices]:
        """By user id; people who never chose are left out."""
        rows = self._statements.by_keys(_PERSON, people.c.user_id, user_ids)
        return {row.user_id: _choices(row) for row in rows if row.switched_on or row.switched_off}

    def switched_on_by_anybody(self, notices: Collection[Notice]) -> Collection[Notice]:
        """Those of the notices that at least one person has switched on."""
        return [one for one in sorted(notices) if self._is_on_for_anybody(one)]

    def _is_on_for_anybody(self, notice: Notice) -> bool:
        found = self._statements.run(_HAVING_ON, {"word": f'"{notice.value}"'})
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
            .where(SWITCHED_ON)
            .order_by(people.c.linked_at, people.c.user_id)
        )
        found: dict[tuple[str, Notice], list[str]] = defaultdict(list)
        for row in self._statements.by_keys(switched_on, _LOWER_LOGIN, map(str.lower, logins)):
            for notice in row.switched_on:
                found[row.login, Notice(notice)].append(row.user_id)
        return {
            (login, notice): found[login.lower(), notice]
            for login in logins
            for notice in notices
            if (login.lower(), notice) in found
        }


def _choices(row: ResultRow) -> Choices:
    """What the person switched, on or off."""
    on, off = dict.fromkeys(row.switched_on, True), dict.fromkeys(row.switched_off, False)
    return {Notice(one): is_on for one, is_on in (on | off).items()}
