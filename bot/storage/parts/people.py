"""What people told of themselves: their logins, and the notices they want."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import delete, func, select

from bot.domain.notices import Choices, Notice
from bot.storage.statements import Part
from bot.storage.tables import accounts, notice_choices

_LOWER_LOGIN = func.lower(accounts.c.login)


class SqlAccounts(Part):
    """One row per person; an older database may have several people with one login."""

    def link(self, user_id: str, login: str, at: datetime) -> bool:
        self._statements.hold(f"login:{login.lower()}")
        if set(self.people([login]).get(login, ())) - {user_id}:
            return False
        self._statements.put(accounts, {"user_id": user_id, "login": login, "linked_at": at})
        return True

    def unlink(self, user_id: str) -> bool:
        deleted = self._statements.run(delete(accounts).where(accounts.c.user_id == user_id))
        return deleted.rowcount > 0

    def logins(self, user_ids: Collection[str]) -> Mapping[str, str]:
        rows = self._statements.by_keys(select(accounts), accounts.c.user_id, user_ids)
        return {row.user_id: row.login for row in rows}

    def people(self, logins: Collection[str]) -> Mapping[str, Sequence[str]]:
        linked = select(accounts.c.user_id, _LOWER_LOGIN.label("login")).order_by(
            accounts.c.linked_at, accounts.c.user_id
        )
        found: dict[str, list[str]] = defaultdict(list)
        for row in self._statements.by_keys(linked, _LOWER_LOGIN, map(str.lower, logins)):
            found[row.login].append(row.user_id)
        return {one: found[one.lower()] for one in logins if one.lower() in found}


class SqlNotices(Part):
    """One row for each notice that a person has switched; none where the default stands."""

    def choose(self, user_id: str, choices: Choices, at: datetime) -> None:
        rows = [
            {"user_id": user_id, "notice": notice, "is_on": is_on, "chosen_at": at}
            for notice, is_on in sorted(choices.items())
        ]
        self._statements.put(notice_choices, *rows)

    def chosen(self, user_ids: Collection[str]) -> Mapping[str, Choices]:
        found: dict[str, dict[Notice, bool]] = defaultdict(dict)
        chosen = select(notice_choices)
        for row in self._statements.by_keys(chosen, notice_choices.c.user_id, user_ids):
            found[row.user_id][row.notice] = row.is_on
        return dict(found)

    def switched_on_by_anybody(self, notices: Collection[Notice]) -> Collection[Notice]:
        return [one for one in sorted(notices) if self._is_on_for_anybody(one)]

    def _is_on_for_anybody(self, notice: Notice) -> bool:
        found = self._statements.run(
            select(notice_choices.c.user_id)
            .where(notice_choices.c.notice == notice, notice_choices.c.is_on)
            .limit(1)
        )
        return found.first() is not None

    def switched_on(
        self, logins: Collection[str], notices: Collection[Notice]
    ) -> Mapping[tuple[str, Notice], Sequence[str]]:
        switched_on = (
            select(_LOWER_LOGIN.label("login"), accounts.c.user_id, notice_choices.c.notice)
            .join(notice_choices, notice_choices.c.user_id == accounts.c.user_id)
            .where(notice_choices.c.is_on)
            .order_by(accounts.c.linked_at, accounts.c.user_id)
        )
        found: dict[tuple[str, Notice], list[str]] = defaultdict(list)
        for row in self._statements.by_keys(switched_on, _LOWER_LOGIN, map(str.lower, logins)):
            found[row.login, row.notice].append(row.user_id)
        return {
            (login, notice): found[login.lower(), notice]
            for login in logins
            for notice in notices
            if (login.lower(), notice) in found
        }
