"""Keys that expire: Slack's requests, its rate limits, clock jumps, and what the service offers."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from sqlalchemy import BigInteger, Index, Table, Text, or_, select

from bot.domain.leases import JUMPS_KEPT
from bot.store.column_types import EPOCH, MICROSECOND, AsText, UtcTime
from bot.store.schema import key, metadata, optional, required
from bot.store.statements import Part


class KeyKind(StrEnum):
    """The meaning of a key."""

    REQUEST = "request"
    LIMIT = "limit"
    JUMP = "jump"
    OFFER = "offer"


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
"""`value` is the time at which a limit was met, or a jump's seconds, negative if back.

The times of limits are the database's. The key of a jump is its time; `mqbot check` shows it.
"""
_KEY = expiring_keys.primary_key
_UNTIL = expiring_keys.c.until
_VALUE = expiring_keys.c.value


FOREVER = datetime(9000, 1, 1, tzinfo=UTC)
_FREEZES = {"kind": KeyKind.OFFER, "key": "freezes", "until": FOREVER}


class ServiceOffers(Part):
    """What the service offers beyond the API document, as it last answered."""

    def has_freezes(self) -> bool:
        found = select(expiring_keys).where(expiring_keys.c.kind == KeyKind.OFFER)
        return self._run(found).first() is not None

    def remember_freezes(self, *, offered: bool) -> None:
        if offered:
            self._add_new(expiring_keys, _FREEZES)
        else:
            self._remove(expiring_keys, expiring_keys.c.kind == KeyKind.OFFER)


class SeenRequests(Part):
    """Slack's requests that a process has handled; the key decides who was first."""

    def add(self, key: str, *, now: datetime, until: datetime) -> bool:
        """Remember `key` until then; False if it was remembered already."""
        new = self._insert(expiring_keys).values(kind=KeyKind.REQUEST, key=key, until=until)
        added = self._run(
            new.on_conflict_do_update(
                index_elements=_KEY, set_={"until": until}, where=now > _UNTIL
            ).returning(expiring_keys.c.key)
        )
        return added.first() is not None


class SlackLimits(Part):
    """Methods and channels that Slack has rate-limited, by name.

    All times are the database's, because machines' clocks may differ. A limit that was met in the
    future was stored before that clock was corrected, and is ignored.
    """

    def close(self, name: str, seconds: float) -> None:
        """Close a name for this long from now; a later known end stays."""
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
        """The closed names, and the seconds until they open."""
        now = self._database_time()
        is_closed = now < _UNTIL, (now - EPOCH) // MICROSECOND >= _VALUE
        limits = select(expiring_keys).where(expiring_keys.c.kind == KeyKind.LIMIT, *is_closed)
        return {row.key: (row.until - now).total_seconds() for row in self._run(limits)}


class ClockJumps(Part):
    """Jumps of the processes' clocks."""

    def add(self, at: datetime, jump: timedelta) -> bool:
        """Remember for a month that a process's clock jumped, to `at`.

        Return False if that was remembered already.
        """
        row = {"kind": KeyKind.JUMP, "key": at.isoformat(), "until": at + JUMPS_KEPT}
        seconds = round(jump.total_seconds())
        return self._add_new(expiring_keys, row | {"value": seconds}) is not None

    def since(self, at: datetime) -> Sequence[tuple[datetime, timedelta]]:
        """The remembered jumps in whole seconds, latest first."""
        jumps = select(expiring_keys).where(
            expiring_keys.c.kind == KeyKind.JUMP, at + JUMPS_KEPT <= _UNTIL
        )
        rows = self._run(jumps.order_by(_UNTIL.desc()))
        return [(row.until - JUMPS_KEPT, timedelta(seconds=row.value)) for row in rows]
