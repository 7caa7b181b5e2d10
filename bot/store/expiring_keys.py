"""What is remembered for a while: requests of Slack's, its limits, and jumps of clocks."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import BigInteger, Index, Table, Text, or_, select

from bot.domain.leases import JUMPS_KEPT
from bot.store.column_types import EPOCH, MICROSECOND, AsText, UtcTime
from bot.store.schema import key, metadata, optional, required
from bot.store.statements import Part


class KeyKind(StrEnum):
    """What a key stands for."""

    REQUEST = "request"
    LIMIT = "limit"
    JUMP = "jump"


expiring_keys = Table(
    "expiring_keys",
    metadata,
    *key(AsText(KeyKind), "kind"),
    *key(Text, "key"),
    *required(UtcTime, "until"),
    *optional(BigInteger, "value"),
    Index(None, "until"),
    comment="One thing that is remembered until a time: a request of Slack's, that it closed a "
    "method or a channel, or that a clock jumped.",
)
"""`value` of a limit is when it was met, and of a jump its seconds, negative when back.

Both times of a limit are the database's own. A jump, whose key is its time, is shown by
`mqbot check`.
"""
_KEY = expiring_keys.primary_key
_UNTIL = expiring_keys.c.until
_VALUE = expiring_keys.c.value


class SeenRequests(Part):
    """Requests of Slack that a process has handled; the key decides who was first."""

    def add(self, key: str, *, now: datetime, until: datetime) -> bool:
        """Remember `key` until then; whether it was not remembered any more, or not yet."""
        new = self._insert(expiring_keys).values(kind=KeyKind.REQUEST, key=key, until=until)
        added = self._run(
            new.on_conflict_do_update(
                index_elements=_KEY, set_={"until": until}, where=now > _UNTIL
            ).returning(expiring_keys.c.key)
        )
        return added.first() is not None


class SlackLimits(Part):
    """Methods and channels that Slack closed, by name.

    All times are the database's own: machines may differ. A limit that was met in the future was
    stored before that clock was put right, and closes nothing.
    """

    def close(self, name: str, seconds: float) -> None:
        """Nobody uses it for so long from now; a later end that is known already stays."""
        now = self._database_time()
        until, met = now + timedelta(seconds=seconds), (now - EPOCH) // MICROSECOND
        new = self._insert(expiring_keys).values(
            kind=KeyKind.LIMIT, key=name, until=until, value=met
        )
        self._run(
            new.on_conflict_do_update(
                index_elements=_KEY,
                set_={"until": until, "value": met},
                where=or_(until > _UNTIL, met < _VALUE),
            )
        )

    def closed(self) -> Mapping[str, float]:
        """The names that are closed, and for how many more seconds."""
        now = self._database_time()
        is_closed = now < _UNTIL, (now - EPOCH) // MICROSECOND >= _VALUE
        limits = select(expiring_keys).where(expiring_keys.c.kind == KeyKind.LIMIT, *is_closed)
        return {row.key: (row.until - now).total_seconds() for row in self._run(limits)}


class ClockJumps(Part):
    """Jumps of processes' clocks, ahead or back."""

    def add(self, at: datetime, jump: timedelta) -> bool:
        """Remember for a month that a process's clock was set ahead, or back, to show `at`.

        Whether that was not remembered yet.
        """
        row = {"kind": KeyKind.JUMP, "key": at.isoformat(), "until": at + JUMPS_KEPT}
        seconds = round(jump.total_seconds())
        return self._add_new(expiring_keys, row | {"value": seconds}) is not None

    def since(self, at: datetime) -> Sequence[tuple[datetime, timedelta]]:
        """Those remembered, in whole seconds, the latest first."""
        jumps = select(expiring_keys).where(
            expiring_keys.c.kind == KeyKind.JUMP, at + JUMPS_KEPT <= _UNTIL
        )
        rows = self._run(jumps.order_by(_UNTIL.desc()))
        return [(row.until - JUMPS_KEPT, timedelta(seconds=row.value)) for row in rows]
