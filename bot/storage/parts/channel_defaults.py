"""Which repository is meant in a channel when none is typed."""

from sqlalchemy import delete, select
from typing_extensions import override

from bot import ports
from bot.domain.repository import RepositoryName
from bot.storage.execution.statements import Statements
from bot.storage.tables import channel_defaults


class SqlChannelDefaults(ports.ChannelDefaults):
    """One row a channel that has one."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    @override
    async def set(self, channel_id: str, repository: RepositoryName) -> None:
        row = {"channel_id": channel_id, "repository": repository}
        await self._statements.put(channel_defaults, ("channel_id",), [row])

    @override
    async def forget(self, channel_id: str) -> None:
        await self._statements.run(
            delete(channel_defaults).where(channel_defaults.c.channel_id == channel_id)
        )

    @override
    async def of(self, channel_id: str) -> RepositoryName | None:
        rows = await self._statements.run(
            select(channel_defaults.c.repository).where(channel_defaults.c.channel_id == channel_id)
        )
        found: RepositoryName | None = rows.scalar_one_or_none()
        return found
