"""Which login of the code host a person of the workspace has."""

from collections.abc import Collection, Mapping
from datetime import datetime

from sqlalchemy import delete, select
from typing_extensions import override

from bot import ports
from bot.storage.statements import Statements, slices
from bot.storage.tables import accounts


class SqlAccounts(ports.Accounts):
    """One row a person; several may have the same login."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    @override
    async def link(self, user_id: str, login: str, at: datetime) -> None:
        values = {"login": login, "linked_at": at}
        insert = self._statements.insert(accounts).values(user_id=user_id, **values)
        await self._statements.run(
            insert.on_conflict_do_update(index_elements=[accounts.c.user_id], set_=values)
        )

    @override
    async def unlink(self, user_id: str) -> bool:
        deleted = await self._statements.run(delete(accounts).where(accounts.c.user_id == user_id))
        return deleted.rowcount > 0

    @override
    async def logins(self, user_ids: Collection[str]) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for some in slices(sorted(set(user_ids))):
            rows = await self._statements.run(select(accounts).where(accounts.c.user_id.in_(some)))
            found |= {row.user_id: row.login for row in rows}
        return found
