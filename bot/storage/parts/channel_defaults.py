"""Which repository is meant in a channel when none is typed."""

from sqlalchemy import delete, select

from bot.domain.repository import RepositoryName
from bot.storage.statements import Statements
from bot.storage.tables import channel_defaults


class SqlChannelDefaults:
    """One row a channel that has one."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    def set(self, channel_id: str, repository: RepositoryName) -> None:
        row = {"channel_id": channel_id, "repository": repository}
        self._statements.put(channel_defaults, ("channel_id",), [row])

    def forget(self, channel_id: str) -> None:
        self._statements.run(
            delete(channel_defaults).where(channel_defaults.c.channel_id == channel_id)
        )

    def of(self, channel_id: str) -> RepositoryName | None:
        rows = self._statements.run(
            select(channel_defaults.c.repository).where(channel_defaults.c.channel_id == channel_id)
        )
        found: RepositoryName | None = rows.scalar_one_or_none()
        return found
