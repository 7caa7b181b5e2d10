"""What processes on one database share out: leases, and who is alive."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Select, delete, select, update

from bot.domain.errors import LeaseLost
from bot.domain.leases import POLL_LEASES, WORKER_LEASES, Lease
from bot.store.column_types import EPOCH
from bot.store.statements import Part, slices
from bot.store.tables import PRESENT, leases


class Leases(Part):
    """One row per lease. Its token grows whenever it was not in force for the one who claims it."""

    def claim(
        self, names: Sequence[str], *, holder: str, now: datetime, lifetime: timedelta
    ) -> Mapping[str, Lease]:
        """Take or renew those that are free, expired or already ours; the others are left out.

        `expires_at` of a lease is by the caller's clock, in the table by that of `time`.
        """
        claimed: dict[str, Lease] = {}
        # Sorted, so that two processes that insert the same new names never wait for each other.
        for some in slices(sorted(set(names))):
            for step in (self._renew, self._take, self._keep_or_add):
                rest = [name for name in some if name not in claimed]
                if rest:
                    claimed |= step(rest, holder, now, lifetime)
        return claimed

    def _renew(
        self, names: Sequence[str], holder: str, now: datetime, lifetime: timedelta
    ) -> dict[str, Lease]:
        ours = (leases.c.holder == holder) & (leases.c.expires_at > self._statements.time(now))
        # Those who require a lease do not keep it from being renewed.
        free = _unlocked(names, ours).with_for_update(skip_locked=True, key_share=True)
        renewed = self._statements.run(
            update(leases)
            .where(leases.c.name.in_(free))
            .values(expires_at=self._statements.time(now, lifetime))
            .returning(leases.c.name, leases.c.token)
        )
        return {row.name: Lease(row.name, holder, row.token, now + lifetime) for row in renewed}

    def _take(
        self, names: Sequence[str], holder: str, now: datetime, lifetime: timedelta
    ) -> dict[str, Lease]:
        is_over = leases.c.expires_at <= self._statements.time(now)
        free = _unlocked(names, is_over).with_for_update(skip_locked=True)
        taken = self._statements.run(
            update(leases)
            .where(leases.c.name.in_(free))
            .values(
                holder=holder,
                token=leases.c.token + 1,
                expires_at=self._statements.time(now, lifetime),
            )
            .returning(leases.c.name, leases.c.token)
        )
        return {row.name: Lease(row.name, holder, row.token, now + lifetime) for row in taken}

    def _keep_or_add(
        self, names: Sequence[str], holder: str, now: datetime, lifetime: timedelta
    ) -> dict[str, Lease]:
        time = self._statements.time(now).label("time")
        known = self._statements.by_keys(select(leases, time), leases.c.name, names)
        # Ours, but being renewed by another of our transactions: it stays ours.
        kept = {
            row.name: Lease(row.name, holder, row.token, now + (row.expires_at - row.time))
            for row in known
            if row.holder == holder and row.expires_at > row.time
        }
        new = sorted(set(names) - {row.name for row in known})
        if not new:
            return kept
        added = self._statements.run(
            self._statements.insert(leases)
            .values(expires_at=self._statements.time(now, lifetime))
            .on_conflict_do_nothing(index_elements=[leases.c.name])
            .returning(leases.c.name),
            [{"name": name, "holder": holder, "token": 1} for name in new],
        )
        return kept | {row.name: Lease(row.name, holder, 1, now + lifetime) for row in added}

    def require(self, lease: Lease, now: datetime) -> None:
        """Raise LeaseLost unless the lease is still ours and has not expired."""
        # The lock keeps the lease from changing hands until this transaction has ended, and not
        # from being renewed.
        found = self._statements.run(
            select(leases.c.name)
            .where(
                leases.c.name == lease.name,
                leases.c.holder == lease.holder,
                leases.c.token == lease.token,
                leases.c.expires_at > self._statements.time(now),
            )
            .with_for_update(read=True, key_share=True)
        )
        if found.first() is None:
            raise LeaseLost(lease.name)

    def release(self, released: Sequence[Lease]) -> None:
        for lease in sorted(released, key=lambda lease: lease.name):
            self._statements.run(
                update(leases)
                .where(leases.c.name == lease.name, leases.c.token == lease.token)
                .values(expires_at=EPOCH)
            )

    def end_all(self) -> None:
        """End the leases of all holders, who have died; tokens stay, so that none comes back."""
        self._statements.run(update(leases).values(expires_at=EPOCH))


class Workers(Part):
    """One lease per process that is alive."""

    def announce(self, holder: str, *, now: datetime, until: datetime) -> Collection[str]:
        """Say that one is alive; return who is, with oneself.

        Those whose time has passed are forgotten, and their leases of names that begin with
        POLL_LEASES end: they are dead, or hang, and a fencing token stops them if they go on.
        """
        new = self._statements.insert(leases).values(
            name=WORKER_LEASES + holder,
            holder=holder,
            token=1,
            expires_at=self._statements.time(now, until - now),
        )
        self._statements.run(
            new.on_conflict_do_update(
                index_elements=[leases.c.name], set_={"expires_at": new.excluded.expires_at}
            )
        )
        self._forget_before(self._statements.time(now))
        rows = self._statements.run(
            select(leases.c.holder).where(PRESENT, leases.c.expires_at > self._statements.time(now))
        )
        return frozenset(row.holder for row in rows)

    def _forget_before(self, now: ColumnElement[datetime]) -> None:
        # Rows that another process is forgetting are passed over: it ends their leases as well.
        past = (
            select(leases.c.name)
            .where(PRESENT, leases.c.expires_at <= now)
            .with_for_update(skip_locked=True)
        )
        rows = self._statements.run(
            delete(leases).where(leases.c.name.in_(past)).returning(leases.c.holder)
        )
        gone = [row.holder for row in rows]
        if gone:
            # In the order in which leases are released, so that nobody waits for each other.
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
        """Nothing happens when it is not known."""
        self._statements.run(delete(leases).where(leases.c.name == WORKER_LEASES + holder))


def _unlocked(names: Sequence[str], which: ColumnElement[bool]) -> Select[str]:
    """Leases to lock; one that another transaction has locked is in use, and not waited for."""
    return select(leases.c.name).where(leases.c.name.in_(names), which).order_by(leases.c.name)
