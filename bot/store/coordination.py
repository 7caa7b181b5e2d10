"""What processes share for a time: leases, Slack's limits, requests handled, clock jumps."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from operator import attrgetter

from sqlalchemy import Executable, bindparam, literal_column, or_, select, update

from bot.domain.errors import LeaseLost
from bot.domain.leases import JUMPS_KEPT, POLL_LEASES, WORKER_LEASES, KeyKind, Lease
from bot.store.schema import EPOCH, MICROSECOND, UtcTime
from bot.store.statements import Condition, Part, Rows, insert_into
from bot.store.tables import PRESENT, expiring_keys, leases

FOREVER = datetime(9000, 1, 1, tzinfo=UTC)

_UNTIL = expiring_keys.c.until
_VALUE = expiring_keys.c.value


@cache
def _held(clock: str | None) -> Rows:
    now = bindparam("now") if clock is None else literal_column(clock, UtcTime)
    held = select(leases.c.name).where(
        leases.c.name == bindparam("lease"),
        leases.c.holder == bindparam("holder"),
        leases.c.token == bindparam("token"),
        leases.c.expires_at > now,
    )
    # Until the transaction ends, the lock allows renewals but no other holder.
    return held.with_for_update(read=True, key_share=True)


def _changing(which: Condition, *, key_share: bool = False, **values: object) -> Executable:
    """Change the leases `names`, except those locked by another transaction."""
    free = (
        select(leases.c.name)
        .where(leases.c.name.in_(bindparam("names", expanding=True)), which)
        .order_by(leases.c.name)
        .with_for_update(skip_locked=True, key_share=key_share)
    )
    changed = update(leases).where(leases.c.name.in_(free)).values(**values)
    return changed.returning(leases.c.name, leases.c.token)


# Built once, because building a statement takes several times as long as running it.
_NAMES = select(leases.c.name)
_IS_OURS, _IS_HELD = leases.c.holder == bindparam("by"), leases.c.expires_at > bindparam("time")
_KEPT = select(leases).where(_IS_OURS, _IS_HELD)
# `require` doesn't block renewals.
_RENEW = _changing(_IS_OURS & _IS_HELD, key_share=True, expires_at=bindparam("until"))
_TAKE = _changing(
    ~_IS_HELD, holder=bindparam("by"), token=leases.c.token + 1, expires_at=bindparam("until")
)


class Leases(Part):
    """Leases; a token grows whenever the lease changes hands or had expired."""

    def claim(
        self, names: Collection[str], *, holder: str, now: datetime, lifetime: timedelta
    ) -> Mapping[str, Lease]:
        """Take or renew the leases that are free, expired or already ours; omit the others.

        `expires_at` of a lease is by the caller's clock, in the table by the shared one.
        """
        time = self._shared_time(now)
        times = {"by": holder, "time": time, "until": time + lifetime}
        tokens = self._change_free(_RENEW, names, times)
        others = sorted(set(names) - set(tokens))
        # An insert would wait for a transaction that has changed a row of that name.
        known = {row.name for row in self._by_keys(_NAMES, leases.c.name, others)}
        row = {"holder": "", "token": 0, "expires_at": EPOCH}
        # Sorted, to avoid deadlocks between processes that insert the same names.
        self._add_new(leases, *(row | {"name": name} for name in others if name not in known))
        tokens |= self._change_free(_TAKE, others, times)
        claimed = {name: Lease(name, holder, tokens[name], now + lifetime) for name in tokens}
        # Ours, and another of our transactions is renewing it.
        renewed = set(names) - set(tokens)
        for kept in self._by_keys(_KEPT, leases.c.name, renewed, by=holder, time=time):
            left = kept.expires_at - time
            claimed[kept.name] = Lease(kept.name, holder, kept.token, now + left)
        return claimed

    def _change_free(
        self, statement: Executable, names: Collection[str], values: Mapping[str, object]
    ) -> dict[str, int]:
        if not names:
            return {}
        rows = self._run(statement, {"names": sorted(names), **values})
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
        if dead := [row.holder for row in present if row.holder not in alive]:
            is_polled = leases.c.name.startswith(POLL_LEASES), leases.c.expires_at > time
            theirs = select(leases.c.name).where(leases.c.holder.in_(dead), *is_polled)
            # In the order in which leases are released, to avoid deadlocks.
            locked = theirs.order_by(leases.c.name).with_for_update()
            self._change(leases, leases.c.name.in_(locked), expires_at=EPOCH)
        return alive

    def leave(self, holder: str) -> None:
        self._remove(leases, leases.c.name == WORKER_LEASES + holder)


class ExpiringKeys(Part):
    """What all processes remember until a time; the first to add a key is the only one."""

    def add_request(self, key: str, *, now: datetime, until: datetime) -> bool:
        """Remember that a request of Slack's is handled; False if that was remembered already."""
        return self._keep(now > _UNTIL, kind=KeyKind.REQUEST, key=key, until=until)

    def close(self, name: str, seconds: float) -> None:
        """Remember that Slack closed a method or channel for this long; a later end stays.

        Its times are the database's, because machines' clocks may differ. A limit met in the
        future was stored before that clock was corrected, and is ignored.
        """
        now = self._database_time()
        until, met = now + timedelta(seconds=seconds), (now - EPOCH) // MICROSECOND
        is_longer = or_(until > _UNTIL, met < _VALUE)
        self._keep(is_longer, kind=KeyKind.LIMIT, key=name, until=until, value=met)

    def closed(self) -> Mapping[str, float]:
        """The methods and channels that Slack has closed, and the seconds until they open."""
        now = self._database_time()
        is_closed = now < _UNTIL, (now - EPOCH) // MICROSECOND >= _VALUE
        limits = select(expiring_keys).where(expiring_keys.c.kind == KeyKind.LIMIT, *is_closed)
        return {row.key: (row.until - now).total_seconds() for row in self._run(limits)}

    def add_jump(self, at: datetime, jump: timedelta) -> bool:
        """Remember for a month that a process's clock jumped, to `at`.

        Return False if that was remembered already.
        """
        seconds = round(jump.total_seconds())
        row = {"kind": KeyKind.JUMP, "key": at.isoformat(), "until": at + JUMPS_KEPT}
        return bool(self._add_new(expiring_keys, row | {"value": seconds}))

    def jumps_since(self, at: datetime) -> Sequence[tuple[datetime, timedelta]]:
        """The remembered jumps of clocks in whole seconds, latest first."""
        is_later = expiring_keys.c.kind == KeyKind.JUMP, at + JUMPS_KEPT <= _UNTIL
        jumps = select(expiring_keys).where(*is_later).order_by(_UNTIL.desc())
        return [(row.until - JUMPS_KEPT, timedelta(seconds=row.value)) for row in self._run(jumps)]

    def has_freezes(self) -> bool:
        offers = select(expiring_keys.c.key).where(expiring_keys.c.kind == KeyKind.OFFER)
        return self._run(offers).first() is not None

    def remember_freezes(self, *, offered: bool) -> None:
        if offered:
            row = {"kind": KeyKind.OFFER, "key": "freezes", "until": FOREVER}
            self._add_new(expiring_keys, row)
        else:
            self._remove(expiring_keys, expiring_keys.c.kind == KeyKind.OFFER)

    def _keep(self, replaces: Condition, **row: object) -> bool:
        """Remember a key, also in place of a row that meets the condition; else return False."""
        new = insert_into(self._dialect, expiring_keys).values(**row)
        kept = new.on_conflict_do_update(
            index_elements=expiring_keys.primary_key, set_=row, where=replaces
        )
        return self._run(kept.returning(expiring_keys.c.key)).first() is not None
