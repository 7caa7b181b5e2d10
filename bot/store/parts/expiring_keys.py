"""What holds for a while: requests already handled, what Slack has closed, jumps of clocks."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import BigInteger, delete, or_, select, tuple_, type_coerce

from bot.domain.leases import JUMPS_KEPT
from bot.store.statements import DatabaseClock, Part
from bot.store.tables import KeyKind, expiring_keys

FORGOTTEN_AT_ONCE = 100

_SECOND = 1_000_000
_KEYS = (expiring_keys.c.kind, expiring_keys.c.key)
_UNTIL = type_coerce(expiring_keys.c.until, BigInteger())


class ExpiringKeys(Part):
    """One row per key of a kind."""

    _kind: KeyKind

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
        added = self._statements.run(
            self._statements.insert(expiring_keys)
            .values(kind=self._kind, key=key, until=until)
            .on_conflict_do_nothing(index_elements=_KEYS)
            .returning(expiring_keys.c.key)
        )
        is_new = added.first() is not None
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

    def add(self, at: datetime, jump: timedelta) -> None:
        """Remember for a month that a process's clock was set ahead, or back, to show `at`."""
        self._forget(at)
        self._statements.put(
            expiring_keys,
            {
                "kind": self._kind,
                "key": at.isoformat(),
                "until": at + JUMPS_KEPT,
                "value": round(jump.total_seconds()),
            },
        )

    def since(self, at: datetime) -> Sequence[tuple[datetime, timedelta]]:
        """Those remembered, in whole seconds, the latest first."""
        rows = self._statements.run(
            select(expiring_keys)
            .where(expiring_keys.c.kind == self._kind, expiring_keys.c.until >= at + JUMPS_KEPT)
            .order_by(expiring_keys.c.until.desc())
        )
        return [(row.until - JUMPS_KEPT, timedelta(seconds=row.value)) for row in rows]
