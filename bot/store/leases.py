"""Leases: who does what, and which processes are alive."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import BigInteger, Table, Text, literal_column, select, update

from bot.domain.errors import LeaseLost
from bot.domain.leases import POLL_LEASES, WORKER_LEASES, Lease
from bot.store.column_types import EPOCH, UtcTime
from bot.store.schema import key, metadata, partial_index, required
from bot.store.statements import Condition, Part, slices

leases = Table(
    "leases",
    metadata,
    *key(Text, "name"),
    *required(Text, "holder"),
    *required(BigInteger, "token"),
    *required(UtcTime, "expires_at"),
    comment="One thing that one process has for a time: work, or its presence as a worker.",
)
"""A released lease stays as an expired row: a token that was given out never comes back.

The presence of a worker is required by nobody, and deleted some time after it has expired.
"""
PRESENT = leases.c.name.like(literal_column(f"'{WORKER_LEASES}%'"))
"""Written out, and not a parameter, or no database sees that the index has these rows."""
partial_index(leases.c.expires_at, where=PRESENT)


class Leases(Part):
    """A lease's token grows whenever it was not in force for the one who claims it."""

    def claim(
        self, names: Sequence[str], *, holder: str, now: datetime, lifetime: timedelta
    ) -> Mapping[str, Lease]:
        """Take or renew those that are free, expired or already ours; the others are left out.

        `expires_at` of a lease is by the caller's clock, in the table by the shared one.
        """
        time = self._shared_time(now)
        until = time + lifetime
        ours, is_held = leases.c.holder == holder, leases.c.expires_at > time
        token = leases.c.token + 1
        claimed: dict[str, Lease] = {}
        for some in slices(sorted(set(names))):
            # Those who require a lease do not keep it from being renewed.
            tokens = self._claim_free(some, ours & is_held, key_share=True, expires_at=until)
            others = [name for name in some if name not in tokens]
            self._add_missing(others)
            tokens |= self._claim_free(
                others, ~is_held, holder=holder, token=token, expires_at=until
            )
            claimed |= {name: Lease(name, holder, tokens[name], now + lifetime) for name in tokens}
            # Ours, but being renewed by another of our transactions: it stays ours.
            kept = select(leases).where(ours, is_held)
            for row in self._by_keys(kept, leases.c.name, set(some) - set(tokens)):
                left = row.expires_at - time
                claimed[row.name] = Lease(row.name, holder, row.token, now + left)
        return claimed

    def _add_missing(self, names: Sequence[str]) -> None:
        """Add, as expired, those that nobody ever had."""
        # An insert would wait for a transaction that has changed a row of that name.
        known = {row.name for row in self._by_keys(select(leases.c.name), leases.c.name, names)}
        # Sorted, so that two processes that insert the same new names never wait for each other.
        new = [name for name in sorted(names) if name not in known]
        rows = [{"name": name, "holder": "", "token": 0, "expires_at": EPOCH} for name in new]
        if rows:
            self._run(self._insert(leases).on_conflict_do_nothing(), rows)

    def _claim_free(
        self, names: Sequence[str], which: Condition, *, key_share: bool = False, **values: object
    ) -> dict[str, int]:
        """Change these leases, but not one that another transaction has locked: it is in use."""
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
        held = select(leases.c.name).where(
            leases.c.name == lease.name,
            leases.c.holder == lease.holder,
            leases.c.token == lease.token,
            leases.c.expires_at > self._shared_time(now),
        )
        # The lock keeps the lease from changing hands until this transaction has ended, and not
        # from being renewed.
        if self._run(held.with_for_update(read=True, key_share=True)).first() is None:
            raise LeaseLost(lease.name)

    def release(self, released: Sequence[Lease]) -> None:
        for lease in sorted(released, key=lambda lease: lease.name):
            this = leases.c.name == lease.name, leases.c.token == lease.token
            self._change(leases, *this, expires_at=EPOCH)

    def end_all(self) -> None:
        """End the leases of all holders, who have died; tokens stay, so that none comes back."""
        self._change(leases, expires_at=EPOCH)


class Workers(Part):
    """One lease per process that is alive."""

    def announce(self, holder: str, *, now: datetime, until: datetime) -> Collection[str]:
        """Say that one is alive; return who is, with oneself.

        The leases of the others whose names begin with POLL_LEASES end: these processes are dead,
        or hang, and a fencing token stops them if they go on.
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
        # In the order in which leases are released, so that nobody waits for each other.
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
        """Nothing happens when it is not known."""
        self._remove(leases, leases.c.name == WORKER_LEASES + holder)
