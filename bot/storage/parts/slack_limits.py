"""What Slack has closed for a while."""

from collections.abc import Mapping

from sqlalchemy import BigInteger, or_, select, type_coerce

from bot.storage.statements import Statements
from bot.storage.tables import slack_limits

_SECOND = 1_000_000


class SqlSlackLimits:
    """One row for each method or channel that was ever closed.

    All times are the database's own: machines may differ. A limit that was met in the future was
    stored before that clock was put right, and closes nothing.
    """

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    def close(self, name: str, seconds: float) -> None:
        now = self._statements.now
        insert = self._statements.insert(slack_limits).values(
            method=name, met_at=now, closed_until=now + int(seconds * _SECOND)
        )
        self._statements.run(
            insert.on_conflict_do_update(
                index_elements=[slack_limits.c.method],
                set_={
                    "met_at": insert.excluded.met_at,
                    "closed_until": insert.excluded.closed_until,
                },
                where=or_(
                    slack_limits.c.closed_until < insert.excluded.closed_until,
                    slack_limits.c.met_at > insert.excluded.met_at,
                ),
            )
        )

    def closed(self) -> Mapping[str, float]:
        now = self._statements.now
        left = type_coerce(slack_limits.c.closed_until, BigInteger()) - now
        rows = self._statements.run(
            select(slack_limits.c.method, left.label("left")).where(
                left > 0, type_coerce(slack_limits.c.met_at, BigInteger()) <= now
            )
        )
        return {row.method: row.left / _SECOND for row in rows}
