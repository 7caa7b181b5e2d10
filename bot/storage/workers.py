"""The processes that share the repositories out."""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import Executable, bindparam, delete, select, update
from typing_extensions import override

from bot.ports.workers import POLL_LEASES, Workers
from bot.storage.column_types import EPOCH
from bot.storage.prepared import Insertion, Prepared
from bot.storage.statements import Statements
from bot.storage.tables import leases, workers


class SqlWorkers(Workers):
    """One row a process."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    @override
    async def announce(self, holder: str, *, now: datetime, until: datetime) -> Collection[str]:
        await self._statements.changed(_ANNOUNCE, of_holder=holder, until=until)
        await self._forget_before(now)
        rows = await self._statements.rows(_ALIVE, now=now)
        return frozenset(row.holder for row in rows)

    async def _forget_before(self, now: datetime) -> None:
        gone = [row.holder for row in await self._statements.rows(_FORGET, now=now)]
        if gone:
            # In the order in which leases are given back, so that nobody waits in a circle.
            theirs = (
                select(leases.c.name)
                .where(leases.c.holder.in_(gone), leases.c.name.startswith(POLL_LEASES))
                .order_by(leases.c.name)
                .with_for_update()
            )
            await self._statements.run(
                update(leases).where(leases.c.name.in_(theirs)).values(expires_at=EPOCH)
            )

    @override
    async def leave(self, holder: str) -> None:
        await self._statements.run(delete(workers).where(workers.c.holder == holder))

    async def forget_all(self) -> None:
        """All of them are known to have died."""
        await self._statements.run(delete(workers))


def _announce(insert: Insertion) -> Executable:
    added = insert(workers).values(holder=bindparam("of_holder"), alive_until=bindparam("until"))
    return added.on_conflict_do_update(
        index_elements=[workers.c.holder], set_={"alive_until": added.excluded.alive_until}
    )


_ANNOUNCE = Prepared(_announce)

_FORGET = Prepared(
    lambda _: (
        delete(workers)
        .where(
            workers.c.holder.in_(
                # Rows that another process is forgetting are passed over: it ends their leases as
                # well.
                select(workers.c.holder)
                .where(workers.c.alive_until <= bindparam("now"))
                .order_by(workers.c.holder)
                .with_for_update(skip_locked=True)
            )
        )
        .returning(workers.c.holder)
    )
)

_ALIVE = Prepared(
    lambda _: select(workers.c.holder).where(workers.c.alive_until > bindparam("now"))
)
