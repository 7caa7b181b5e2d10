"""What processes on one database share: leases, who is alive, and keys that hold for a while."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import (
    BigInteger,
    BindParameter,
    ColumnElement,
    Select,
    bindparam,
    delete,
    or_,
    select,
    tuple_,
    type_coerce,
    update,
)

from bot.domain.errors import LeaseLost
from bot.domain.leases import JUMPS_KEPT, POLL_LEASES, WORKER_LEASES, Lease
from bot.store.column_types import EPOCH, MICROSECOND
from bot.store.statements import LATER, NOW, DatabaseClock, Part, slices
from bot.store.tables import PRESENT, KeyKind, expiring_keys, leases


def _unlocked(which: ColumnElement[bool]) -> Select[str]:
    """Leases to lock; one that another transaction has locked is in use, and not waited for."""
    names: BindParameter[str] = bindparam("names", expanding=True)
    return select(leases.c.name).where(leases.c.name.in_(names), which).order_by(leases.c.name)


# Made once: to make a statement takes longer than to run it.
_HOLDER: BindParameter[str] = bindparam("by")
_IS_HELD = leases.c.expires_at > NOW
_GRANTED = (leases.c.name, leases.c.token)
_RENEW = (
    update(leases)
    .where(
        leases.c.name.in_(
            # Those who require a lease do not keep it from being renewed.
            _unlocked((leases.c.holder == _HOLDER) & _IS_HELD).with_for_update(
                skip_locked=True, key_share=True
            )
        )
    )
    .values(expires_at=LATER)
    .returning(*_GRANTED)
)
_TAKE = (
    update(leases)
    .where(leases.c.name.in_(_unlocked(~_IS_HELD).with_for_update(skip_locked=True)))
    .values(holder=_HOLDER, token=leases.c.token + 1, expires_at=LATER)
    .returning(*_GRANTED)
)
_KNOWN = select(leases, NOW.label("time"))
# The lock keeps the lease from changing hands until this transaction has ended, and not from being
# renewed.
_REQUIRED = (
    select(leases.c.name)
    .where(
        leases.c.name == bindparam("lease"),
        leases.c.holder == _HOLDER,
        leases.c.token == bindparam("number"),
        _IS_HELD,
    )
    .with_for_update(read=True, key_share=True)
)


class Leases(Part):
    """One row per lease. Its token grows whenever it was not in force for the one who claims it."""

    def claim(
        self, names: Sequence[str], *, holder: str, now: datetime, lifetime: timedelta
    ) -> Mapping[str, Lease]:
        """Take or renew those that are free, expired or already ours; the others are left out.

        `expires_at` of a lease is by the caller's clock, in the table by that of `time`.
        """
        claimed: dict[str, Lease] = {}
        until = now + lifetime
        given = {
            "by": holder,
            "now": self._statements.clock(now),
            "microseconds": lifetime // MICROSECOND,
        }
        # Sorted, so that two processes that insert the same new names never wait for each other.
        for some in slices(sorted(set(names))):
            for statement in (_RENEW, _TAKE):
                rest = [name for name in some if name not in claimed]
                if rest:
                    rows = self._statements.run(statement, {"names": rest, **given})
                    claimed |= {row.name: Lease(row.name, holder, row.token, until) for row in rows}
            rest = [name for name in some if name not in claimed]
            if rest:
                claimed |= self._keep_or_add(rest, holder, now, lifetime)
        return claimed

    def _keep_or_add(
        self, names: Sequence[str], holder: str, now: datetime, lifetime: timedelta
    ) -> dict[str, Lease]:
        clock = self._statements.clock(now)
        known = self._statements.by_keys(_KNOWN, leases.c.name, names, now=clock)
        # Ours, but being renewed by another of our transactions: it stays ours.
        kept = {
            row.name: Lease(row.name, holder, row.token, now + (row.expires_at - row.time))
            for row in known
            if row.holder == holder and row.expires_at > row.time
        }
        new = sorted(set(names) - {row.name for row in known})
        if not new:
            return kept
        row = {"holder": holder, "token": 1, "now": clock, "microseconds": lifetime // MICROSECOND}
        added = self._statements.run(
            self._statements.insert(leases)
            .values(expires_at=LATER)
            .on_conflict_do_nothing(index_elements=[leases.c.name])
            .returning(leases.c.name),
            [{"name": name, **row} for name in new],
        )
        return kept | {row.name: Lease(row.name, holder, 1, now + lifetime) for row in added}

    def require(self, lease: Lease, now: datetime) -> None:
        """Raise LeaseLost unless the lease is still ours and has not expired."""
        found = self._statements.run(
            _REQUIRED,
            {
                "lease": lease.name,
                "by": lease.holder,
                "number": lease.token,
                "now": self._statements.clock(now),
            },
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
        clock = self._statements.clock(now)
        new = self._statements.insert(leases).values(
            name=WORKER_LEASES + holder, holder=holder, token=1, expires_at=LATER
        )
        self._statements.run(
            new.on_conflict_do_update(
                index_elements=[leases.c.name], set_={"expires_at": new.excluded.expires_at}
            ),
            {"now": clock, "microseconds": (until - now) // MICROSECOND},
        )
        self._forget_before(clock)
        rows = self._statements.run(
            select(leases.c.holder).where(PRESENT, _IS_HELD), {"now": clock}
        )
        return frozenset(row.holder for row in rows)

    def _forget_before(self, clock: datetime | None) -> None:
        # Rows that another process is forgetting are passed over: it ends their leases as well.
        past = select(leases.c.name).where(PRESENT, ~_IS_HELD).with_for_update(skip_locked=True)
        rows = self._statements.run(
            delete(leases).where(leases.c.name.in_(past)).returning(leases.c.holder),
            {"now": clock},
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


FORGOTTEN_AT_ONCE = 100

_SECOND = 1_000_000
_KEYS = (expiring_keys.c.kind, expiring_keys.c.key)
_UNTIL = type_coerce(expiring_keys.c.until, BigInteger())


class ExpiringKeys(Part):
    """One row per key of a kind."""

    _kind: KeyKind

    def _is_new(self, key: str, *, until: datetime, value: int | None = None) -> bool:
        """Remember the key; whether it was not remembered yet."""
        added = self._statements.run(
            self._statements.insert(expiring_keys)
            .values(kind=self._kind, key=key, until=until, value=value)
            .on_conflict_do_nothing(index_elements=_KEYS)
            .returning(expiring_keys.c.key)
        )
        return added.first() is not None

    def _forget(self, now: datetime) -> None:
        """Some of those whose time has passed, so that the store of a bot in use does not grow."""
        # Rows that another transaction is forgetting are passed over, not waited for.
        past = (
            select(*_KEYS)
            .where(expiring_keys.c.kind == self._kind, expiring_keys.c.until < now)
            .order_by(expiring_keys.c.until)
            .limit(FORGOTTEN_AT_ONCE)
            .with_for_update(skip_locked=True)
        )
        self._statements.run(delete(expiring_keys).where(tuple_(*_KEYS).in_(past)))


class SeenRequests(ExpiringKeys):
    """One row per request of Slack that a process has handled; the key decides who was first."""

    _kind = KeyKind.REQUEST

    def add(self, key: str, *, now: datetime, until: datetime) -> bool:
        """Remember `key` at least until then; whether it was not remembered yet."""
        is_new = self._is_new(key, until=until)
        self._forget(now)
        return is_new


class SlackLimits(ExpiringKeys):
    """One row for each method or channel that was ever closed, by its name.

    All times are the database's own: machines may differ. A limit that was met in the future was
    stored before that clock was put right, and closes nothing.
    """

    _kind = KeyKind.LIMIT

    def close(self, name: str, seconds: float) -> None:
        """Nobody uses it for so long from now; a later end that is known already stays."""
        now = DatabaseClock()
        new = self._statements.insert(expiring_keys).values(
            kind=self._kind, key=name, until=now + int(seconds * _SECOND), value=now
        )
        self._statements.run(
            new.on_conflict_do_update(
                index_elements=_KEYS,
                set_={"until": new.excluded.until, "value": new.excluded.value},
                where=or_(
                    expiring_keys.c.until < new.excluded.until,
                    expiring_keys.c.value > new.excluded.value,
                ),
            )
        )

    def closed(self) -> Mapping[str, float]:
        """The names that are closed, and for how many more seconds."""
        now = DatabaseClock()
        rows = self._statements.run(
            select(expiring_keys.c.key, (_UNTIL - now).label("left")).where(
                expiring_keys.c.kind == self._kind, now < _UNTIL, expiring_keys.c.value <= now
            )
        )
        return {row.key: row.left / _SECOND for row in rows}


class ClockJumps(ExpiringKeys):
    """One row per jump of a process's clock, ahead or back."""

    _kind = KeyKind.JUMP

    def add(self, at: datetime, jump: timedelta) -> bool:
        """Remember for a month that a process's clock was set ahead, or back, to show `at`.

        Whether that was not remembered yet.
        """
        self._forget(at)
        seconds = round(jump.total_seconds())
        return self._is_new(at.isoformat(), until=at + JUMPS_KEPT, value=seconds)

    def since(self, at: datetime) -> Sequence[tuple[datetime, timedelta]]:
        """Those remembered, in whole seconds, the latest first."""
        rows = self._statements.run(
            select(expiring_keys)
            .where(expiring_keys.c.kind == self._kind, expiring_keys.c.until >= at + JUMPS_KEPT)
            .order_by(expiring_keys.c.until.desc())
        )
        return [(row.until - JUMPS_KEPT, timedelta(seconds=row.value)) for row in rows]
