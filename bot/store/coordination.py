"""Leases: what one process has for a time, and no other."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from functools import cache

from sqlalchemy import Executable, bindparam, literal_column, select, update

from bot.store.errors import LeaseLost
from bot.store.lease_values import Lease
from bot.store.schema import EPOCH, UtcTime
from bot.store.statements import Condition, Part, Rows, from_row
from bot.store.tables import leases


@cache
def _lease_in_force(clock: str | None) -> Rows:
    now = bindparam("now") if clock is None else literal_column(clock, UtcTime)
    in_force = select(leases.c.name).where(
        leases.c.name == bindparam("lease"),
        leases.c.holder == bindparam("holder"),
        leases.c.token == bindparam("token"),
        leases.c.expires_at > now,
    )
    # Until the transaction ends, the lock allows renewals but no other holder.
    return in_force.with_for_update(read=True, key_share=True)


def _changing(which: Condition, *, key_share: bool = False, **values: object) -> Executable:
    """Change the lease, unless another transaction has locked it."""
    free = (
        select(leases.c.name)
        .where(leases.c.name == bindparam("lease"), which)
        .with_for_update(skip_locked=True, key_share=key_share)
    )
    changed = update(leases).where(leases.c.name.in_(free)).values(**values)
    return changed.returning(leases.c.token)


# Built once, because building a statement takes several times as long as running it.
_STORED = select(leases.c.name).where(leases.c.name == bindparam("lease"))
_IS_OURS = leases.c.holder == bindparam("by")
_IS_IN_FORCE = leases.c.expires_at > bindparam("time")
_OURS = select(leases).where(leases.c.name == bindparam("lease"), _IS_OURS, _IS_IN_FORCE)
# `require` doesn't block renewals.
_RENEW = _changing(_IS_OURS & _IS_IN_FORCE, key_share=True, expires_at=bindparam("until"))
_TAKE = _changing(
    ~_IS_IN_FORCE, holder=bindparam("by"), token=leases.c.token + 1, expires_at=bindparam("until")
)


class Leases(Part):
    """Leases; a token grows whenever the lease changes hands or had expired."""

    def claim(self, name: str, *, holder: str, now: datetime, lifetime: timedelta) -> Lease | None:
        """Take or renew the lease if it is free, expired or already ours; None otherwise.

        `expires_at` of a lease is by the caller's clock, in the table by the shared one.
        """
        time = self._shared_time(now)
        this = {"lease": name, "by": holder, "time": time}
        until = {"until": time + lifetime}
        changed = self._run(_RENEW, this | until).first()
        if changed is None:
            # An insert would wait for a transaction that has changed the row.
            is_stored = self._run(_STORED, {"lease": name}).first() is not None
            if not is_stored:
                new = {"name": name, "holder": "", "token": 0, "expires_at": EPOCH}
                self._add_new(leases, new)
            changed = self._run(_TAKE, this | until).first()
        if changed is not None:
            return Lease(name, holder, changed.token, now + lifetime)
        ours = self._run(_OURS, this).first()
        if ours is None:
            return None
        # Another of our transactions is renewing it.
        left = ours.expires_at - time
        return Lease(name, holder, ours.token, now + left)

    def require(self, lease: Lease, now: datetime) -> None:
        """Raise LeaseLost unless the lease is still ours and has not expired."""
        this = {"lease": lease.name, "holder": lease.holder, "token": lease.token}
        if self._run(_lease_in_force(self._clock), this | {"now": now}).first() is None:
            raise LeaseLost(lease.name)

    def release(self, lease: Lease) -> None:
        this = leases.c.name == lease.name, leases.c.token == lease.token
        self._change(leases, *this, expires_at=EPOCH)

    def end_all(self) -> None:
        """End all leases, because their holders have died; tokens stay."""
        self._change(leases, expires_at=EPOCH)

    def of(self, names: Collection[str]) -> Mapping[str, Lease]:
        """The leases as they are stored, also those that have ended; a holder may be dead."""
        found = self._by_keys(select(leases), leases.c.name, names)
        return {row.name: from_row(Lease, row) for row in found}
