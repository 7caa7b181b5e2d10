"""Which login of the code host a person of the workspace has."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import delete, func, select

from bot.storage.statements import Statements, slices
from bot.storage.tables import accounts


class SqlAccounts:
    """One row a person; a database of before may have several people with one login."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    def link(self, user_id: str, login: str, at: datetime) -> bool:
        self._statements.hold(f"login:{login.lower()}")
        if set((self.people([login])).get(login, ())) - {user_id}:
            return False
        row = {"user_id": user_id, "login": login, "linked_at": at}
        self._statements.put(accounts, ("user_id",), [row])
        return True

    def unlink(self, user_id: str) -> bool:
        deleted = self._statements.run(delete(accounts).where(accounts.c.user_id == user_id))
        return deleted.rowcount > 0

    def logins(self, user_ids: Collection[str]) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for some in slices(sorted(set(user_ids))):
            rows = self._statements.run(select(accounts).where(accounts.c.user_id.in_(some)))
            found |= {row.user_id: row.login for row in rows}
        return found

    def people(self, logins: Collection[str]) -> Mapping[str, Sequence[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        key = func.lower(accounts.c.login)
        in_order = (accounts.c.linked_at, accounts.c.user_id)
        for some in slices(sorted({one.lower() for one in logins})):
            wanted = select(accounts.c.user_id, key.label("key")).where(key.in_(some))
            for row in self._statements.run(wanted.order_by(*in_order)):
                found[row.key].append(row.user_id)
        return {one: found[one.lower()] for one in logins if one.lower() in found}
