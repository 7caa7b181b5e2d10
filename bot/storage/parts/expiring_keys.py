"""What holds for a while: requests already handled, and what Slack has closed."""

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import BigInteger, delete, or_, select, type_coerce

from bot.storage.statements import Part
from bot.storage.tables import seen_requests, slack_limits

FORGOTTEN_AT_ONCE = 100

_SECOND = 1_000_000


class SqlSeenRequests(Part):
    """One row per request of Slack that a process has handled; the key decides who was first."""

    def add(self, key: str, *, now: datetime, until: datetime) -> bool:
        added = self._statements.run(
            self._statements.insert(seen_requests)
            .values(request_key=key, until=until)
            .on_conflict_do_nothing(index_elements=[seen_requests.c.request_key])
            .returning(seen_requests.c.request_key)
        )
        is_new = added.first() is not None
        # Rows that another transaction is forgetting are passed over, not waited for.
        past = (
            select(seen_requests.c.request_key)
            .where(seen_requests.c.until < now)
            .order_by(seen_requests.c.until)
            .limit(FORGOTTEN_AT_ONCE)
            .with_for_update(skip_locked=True)
        )
        self._statements.run(delete(seen_requests).where(seen_requests.c.request_key.in_(past)))
        return is_new


class SqlSlackLimits(Part):
    """One row for each method or channel that was ever closed.

    All times are the database's own: machines may differ. A limit that was met in the future was
    stored before that clock was put right, and closes nothing.
    """

    def close(self, name: str, seconds: float) -> None:
        now = self._statements.now
        new = self._statements.insert(slack_limits).values(
            method=name, met_at=now, closed_until=now + int(seconds * _SECOND)
        )
        self._statements.run(
            new.on_conflict_do_update(
                index_elements=[slack_limits.c.method],
                set_={"met_at": new.excluded.met_at, "closed_until": new.excluded.closed_until},
                where=or_(
                    slack_limits.c.closed_until < new.excluded.closed_until,
                    slack_limits.c.met_at > new.excluded.met_at,
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
