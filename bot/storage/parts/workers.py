"""The processes that share the repositories out."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from sqlalchemy import delete, select, update

from bot.ports.workers import JUMPS_KEPT, POLL_LEASES
from bot.storage.column_types import EPOCH
from bot.storage.statements import Statements
from bot.storage.tables import clock_jumps, leases, workers


class SqlWorkers:
    """One row a process."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    def announce(self, holder: str, *, now: datetime, until: datetime) -> Collection[str]:
        insert = self._statements.insert(workers).values(holder=holder, alive_until=until)
        self._statements.run(
            insert.on_conflict_do_update(
                index_elements=[workers.c.holder], set_={"alive_until": insert.excluded.alive_until}
            )
        )
        self._forget_before(now)
        rows = self._statements.run(select(workers.c.holder).where(workers.c.alive_until > now))
        return frozenset(row.holder for row in rows)

    def _forget_before(self, now: datetime) -> None:
        # Rows that another process is forgetting are passed over: it ends their leases as well.
        past = (
            select(workers.c.holder)
            .where(workers.c.alive_until <= now)
            .order_by(workers.c.holder)
            .with_for_update(skip_locked=True)
        )
        rows = self._statements.run(
            delete(workers).where(workers.c.holder.in_(past)).returning(workers.c.holder)
        )
        gone = [row.holder for row in rows]
        if gone:
            # In the order in which leases are given back, so that nobody waits in a circle.
            theirs = (
                select(leases.c.name)
                .where(leases.c.holder.in_(gone), leases.c.name.startswith(POLL_LEASES))
                .order_by(leases.c.name)
                .with_for_update()
            )
            self._statements.run(
                update(leases).where(leases.c.name.in_(theirs)).values(expires_at=EPOCH)
            )

    def leave(self, holder: str) -> None:
        self._statements.run(delete(workers).where(workers.c.holder == holder))

    def clock_jumped(self, at: datetime, jump: timedelta) -> None:
        self._statements.run(delete(clock_jumps).where(clock_jumps.c.at < at - JUMPS_KEPT))
        seconds = round(jump.total_seconds())
        self._statements.put(clock_jumps, ("at",), [{"at": at, "seconds": seconds}])

    def clock_jumps(self, since: datetime) -> Sequence[tuple[datetime, timedelta]]:
        rows = self._statements.run(
            select(clock_jumps).where(clock_jumps.c.at >= since).order_by(clock_jumps.c.at.desc())
        )
        return [(row.at, timedelta(seconds=row.seconds)) for row in rows]

    def forget_all(self) -> None:
        """All of them are known to have died."""
        self._statements.run(delete(workers))
