"""Which methods of Slack are closed for a while."""

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import select
from typing_extensions import override

from bot.ports.slack_limits import SlackLimits
from bot.storage.execution.statements import Statements
from bot.storage.tables import slack_limits


class SqlSlackLimits(SlackLimits):
    """One row a method that was ever closed: as many as the bot uses, at most."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    @override
    async def close(self, method: str, until: datetime) -> None:
        insert = self._statements.insert(slack_limits).values(method=method, closed_until=until)
        await self._statements.run(
            insert.on_conflict_do_update(
                index_elements=[slack_limits.c.method],
                set_={"closed_until": insert.excluded.closed_until},
                where=slack_limits.c.closed_until < insert.excluded.closed_until,
            )
        )

    @override
    async def closed(self, now: datetime) -> Mapping[str, datetime]:
        rows = await self._statements.run(
            select(slack_limits).where(slack_limits.c.closed_until > now)
        )
        return {row.method: row.closed_until for row in rows}
