"""Leases: who does what, and which processes are alive."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import BigInteger, Table, Text, literal_column, select, update

from bot.domain.errors import LeaseLost
from bot.domain.leases import POLL_LEASES, WORKER_LEASES, Lease
from bot.store.column_types import EPOCH, UtcTime
from bot.store.schema import key, metadata, partial_index, required
from bot.store.statements import Condition, Part, from_row, slices

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
        claimed: dict[str, Lease] = {}
        # Sorted, so that two processes that insert the same new names never wait for each other.
        for some in slices(sorted(set(names))):
            tokens = self._renew(some, holder, time, time + lifetime)
            tokens |= self._take(_without(some, tokens), holder, time, time + lifetime)
            claimed |= {
                name: Lease(name, holder, token, now + lifetime) for name, token in tokens.items()
            }
            known = self._known(_without(some, tokens))
            # Ours, but being renewed by another of our transactions: it stays ours.
            claimed |= {
                lease.name: Lease(lease.name, holder, lease.token, now + (lease.expires_at - time))
                for lease in known.values()
                if lease.holder == holder and lease.expires_at > time
            }
            for name in self._add_missing(_without(some, tokens | known), holder, time + lifetime):
                claimed[name] = Lease(name, holder, 1, now + lifetime)
        return claimed

    def _renew(
        self, names: Sequence[str], holder: str, time: datetime, until: datetime
    ) -> dict[str, int]:
        ours = (leases.c.holder == holder) & (leases.c.expires_at > time)
        # Those who require a lease do not keep it from being renewed.
        return self._claim_free(names, ours, key_share=True, expires_at=until)

    def _take(
        self, names: Sequence[str], holder: str, time: datetime, until: datetime
    ) -> dict[str, int]:
        token = leases.c.token + 1
        expired = leases.c.expires_at <= time
        return self._claim_free(names, expired, holder=holder, token=token, expires_at=until)

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

    def _known(self, names: Sequence[str]) -> dict[str, Lease]:
        rows = self._by_keys(select(leases), leases.c.name, names)
        return {row.name: from_row(Lease, row) for row in rows}

    def _add_missing(self, names: Sequence[str], holder: str, until: datetime) -> Sequence[str]:
        if not names:
            return []
        rows = [{"name": name, "holder": holder, "token": 1, "expires_at": until} for name in names]
        new = self._insert(leases).on_conflict_do_nothing().returning(leases.c.name)
        return self._run(new, rows).scalars().all()

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


def _without(names: Sequence[str], others: Collection[str]) -> Sequence[str]:
    return [name for name in names if name not in others]


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
