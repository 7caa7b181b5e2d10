"""Leases: who does what, and which processes are alive."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from operator import attrgetter

from sqlalchemy import BigInteger, Table, Text, bindparam, literal_column, select, update

from bot.domain.errors import LeaseLost
from bot.domain.leases import POLL_LEASES, WORKER_LEASES, Lease
from bot.store.column_types import EPOCH, UtcTime
from bot.store.schema import key, metadata, partial_index, required
from bot.store.statements import Condition, Part, Rows, slices

leases = Table(
    "leases",
    metadata,
    *key(Text, "name"),
    *required(Text, "holder"),
    *required(BigInteger, "token"),
    *required(UtcTime, "expires_at"),
    comment="One thing that one process has for a time: work, or its presence as a worker.",
)
"""A released lease stays as an expired row, so that tokens never repeat.

A worker's heartbeat has no token, and is deleted some time after it has expired.
"""
PRESENT = leases.c.name.like(literal_column(f"'{WORKER_LEASES}%'"))
"""A literal, because with a parameter no database would use the partial index."""
partial_index(leases.c.expires_at, where=PRESENT)


@cache
def _held(clock: str | None) -> Rows:
    """The lease, if it is still held; by the database's `clock`, or else at `now`."""
    now = bindparam("now") if clock is None else literal_column(clock, UtcTime())
    held = select(leases.c.name).where(
        leases.c.name == bindparam("lease"),
        leases.c.holder == bindparam("holder"),
        leases.c.token == bindparam("token"),
        leases.c.expires_at > now,
    )
    # Until the transaction ends, the lock allows renewals but no other holder.
    return held.with_for_update(read=True, key_share=True)


class Leases(Part):
    """Leases; a token grows whenever the lease changes hands or had expired."""

    def claim(
        self, names: Sequence[str], *, holder: str, now: datetime, lifetime: timedelta
    ) -> Mapping[str, Lease]:
        """Take or renew the leases that are free, expired or already ours; omit the others.

        `expires_at` of a lease is by the caller's clock, in the table by the shared one.
        """
        time = self._shared_time(now)
        until = time + lifetime
        ours, is_held = leases.c.holder == holder, leases.c.expires_at > time
        token = leases.c.token + 1
        claimed: dict[str, Lease] = {}
        for some in slices(sorted(set(names))):
            # `require` doesn't block renewals.
            tokens = self._claim_free(some, ours & is_held, key_share=True, expires_at=until)
            others = [name for name in some if name not in tokens]
            self._add_missing(others)
            tokens |= self._claim_free(
                others, ~is_held, holder=holder, token=token, expires_at=until
            )
            claimed |= {name: Lease(name, holder, tokens[name], now + lifetime) for name in tokens}
            # Ours, and another of our transactions is renewing it.
            kept = select(leases).where(ours, is_held)
            for row in self._by_keys(kept, leases.c.name, set(some) - set(tokens)):
                left = row.expires_at - time
                claimed[row.name] = Lease(row.name, holder, row.token, now + left)
        return claimed

    def _add_missing(self, names: Sequence[str]) -> None:
        """Add new leases, as expired."""
        # An insert would wait for a transaction that has changed a row of that name.
        known = {row.name for row in self._by_keys(select(leases.c.name), leases.c.name, names)}
        # Sorted, to avoid deadlocks between processes that insert the same names.
        new = [name for name in sorted(names) if name not in known]
        rows = [{"name": name, "holder": "", "token": 0, "expires_at": EPOCH} for name in new]
        if rows:
            self._run(self._adding(leases), rows)

    def _claim_free(
        self, names: Sequence[str], which: Condition, *, key_share: bool = False, **values: object
    ) -> dict[str, int]:
        """Change these leases, except those locked by another transaction."""
        if not names:
            return {}
        free = (
            select(leases.c.name)
            .where(leases.c.name.in_(names), which)
            .order_by(leases.c.name)
            .with_for_update(skip_locked=True, key_share=key_share)
        )
        changed = update(leases).where(leases.c.name.in_(free)).values(**values)
        rows = self._run(changed.returning(leases.c.name, leases.c.token))
        return {row.name: row.token for row in rows}

    def require(self, lease: Lease, now: datetime) -> None:
        """Raise LeaseLost unless the lease is still ours and has not expired."""
        this = {"lease": lease.name, "holder": lease.holder, "token": lease.token}
        if self._run(_held(self._clock), this | {"now": now}).first() is None:
            raise LeaseLost(lease.name)

    def release(self, released: Sequence[Lease]) -> None:
        for lease in sorted(released, key=attrgetter("name")):
            this = leases.c.name == lease.name, leases.c.token == lease.token
            self._change(leases, *this, expires_at=EPOCH)

    def end_all(self) -> None:
        """End all leases, because their holders have died; tokens stay."""
        self._change(leases, expires_at=EPOCH)


class Workers(Part):
    """One lease per process that is alive."""

    def heartbeat(self, holder: str, *, now: datetime, until: datetime) -> Collection[str]:
        """Store that `holder` is alive; return all holders that are.

        End the polling leases of all others: those processes are dead or hang, and a fencing
        token stops them if they continue.
        """
        time = self._shared_time(now)
        presence = {"name": WORKER_LEASES + holder, "holder": holder, "token": 1}
        self._put(leases, presence | {"expires_at": time + (until - now)})
        present = self._run(select(leases.c.holder, leases.c.expires_at).where(PRESENT)).all()
        alive = frozenset(row.holder for row in present if row.expires_at > time)
        self._end_polling([row.holder for row in present if row.holder not in alive], time)
        return alive

    def _end_polling(self, dead: Sequence[str], time: datetime) -> None:
        if not dead:
            return
        # In the order in which leases are released, to avoid deadlocks.
        theirs = (
            select(leases.c.name)
            .where(
                leases.c.holder.in_(dead),
                leases.c.name.startswith(POLL_LEASES),
                leases.c.expires_at > time,
            )
            .order_by(leases.c.name)
            .with_for_update()
        )
        self._change(leases, leases.c.name.in_(theirs), expires_at=EPOCH)

    def leave(self, holder: str) -> None:
        """Delete a holder's heartbeat, if there is one."""
        self._remove(leases, leases.c.name == WORKER_LEASES + holder)
