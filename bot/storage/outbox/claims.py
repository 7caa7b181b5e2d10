"""Deliveries claimed from the heads of their lines, to be sent."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import ColumnElement, bindparam, func, select, update

from bot.domain.deliveries import Delivery, DeliveryState, is_due
from bot.domain.errors import LeaseLost
from bot.storage.column_types import UtcTime
from bot.storage.outbox.delivery_rows import FIELDS, delivery_of, line_with
from bot.storage.outbox.destinations import Destination, Destinations
from bot.storage.statements import Prepared, PreparedList, Statements
from bot.storage.tables import deliveries, destinations


class Claims:
    """The part of the outbox that gives out what is due.

    A claim costs by what it takes, whatever waits behind and whatever was settled before.
    """

    def __init__(self, statements: Statements, destinations: Destinations) -> None:
        self._statements = statements
        self._destinations = destinations

    def claim(
        self, *, now: datetime, claimed_until: datetime, channels: int, per_channel: int
    ) -> Sequence[Delivery]:
        if claimed_until <= now:
            raise ValueError("a claim ends after it begins")
        heads = self._destinations.lock_claimable(now, channels)
        due = self._due_runs(sorted(heads, key=lambda head: head.line), now, per_channel)
        self._claim(due, now, claimed_until)
        self._destinations.save([replace(h, claimable_at=claimed_until) for h in heads])
        return [
            replace(
                delivery,
                state=DeliveryState.SENDING,
                attempts=delivery.attempts + 1,
                due_at=claimed_until,
            )
            for delivery in due
        ]

    def _claim(self, due: Sequence[Delivery], now: datetime, claimed_until: datetime) -> None:
        """The time of the attempt for the first of each line: the others are not sent yet."""
        firsts = _first_of_each_line(due)
        others = [each.delivery_id for each in due if each.delivery_id not in firsts]
        self._statements.rows_in(_CLAIM_FIRST, sorted(firsts), now=now, until=claimed_until)
        self._statements.rows_in(_CLAIM, others, until=claimed_until)

    def _due_runs(
        self, heads: Sequence[Destination], now: datetime, per_channel: int
    ) -> list[Delivery]:
        by_line: dict[str, list[Delivery]] = defaultdict(list)
        rows = self._statements.rows_in(
            _DUE_RUNS, [head.line for head in heads], per_channel=per_channel
        )
        for row in rows:
            by_line[row.line].append(delivery_of(row))
        runs: list[Delivery] = []
        for head in heads:
            limit = per_channel if head.parked_at is None else 1
            for delivery in by_line[head.line][:limit]:
                if not is_due(delivery, now):
                    break
                runs.append(delivery)
        return runs

    def attempt(self, delivery: Delivery, now: datetime) -> None:
        if delivery.attempted_at is not None:
            return
        attempted = self._statements.changed(
            _ATTEMPT, of_delivery=delivery.delivery_id, of_attempt=delivery.attempts, now=now
        )
        if attempted != 1:
            raise LeaseLost(delivery.delivery_id)


def _first_of_each_line(due: Sequence[Delivery]) -> frozenset[str]:
    firsts = {line_with(each): each for each in reversed(due)}
    return frozenset(each.delivery_id for each in firsts.values())


def _claiming(attempted_at: ColumnElement[datetime | None]) -> PreparedList:
    return PreparedList(
        "delivery",
        deliveries.c.delivery_id.type,
        lambda _, delivery_ids: (
            update(deliveries)
            .where(deliveries.c.delivery_id.in_(delivery_ids))
            .values(
                state=DeliveryState.SENDING,
                attempts=deliveries.c.attempts + 1,
                attempted_at=attempted_at,
                due_at=bindparam("until"),
            )
        ),
    )


_CLAIM = _claiming(deliveries.c.attempted_at)
_CLAIM_FIRST = _claiming(
    func.coalesce(deliveries.c.attempted_at, bindparam("now", type_=UtcTime()))
)

_DUE_RUNS = PreparedList(
    "line",
    destinations.c.line.type,
    lambda _, lines: (
        select(*FIELDS)
        .join_from(destinations, deliveries)
        .where(
            destinations.c.line.in_(lines),
            deliveries.c.sequence >= destinations.c.head_sequence,
            deliveries.c.sequence < destinations.c.head_sequence + bindparam("per_channel"),
            deliveries.c.settled_at.is_(None),
        )
        .order_by(deliveries.c.line, deliveries.c.sequence)
    ),
)

_ATTEMPT = Prepared(
    lambda _: (
        update(deliveries)
        .where(
            deliveries.c.delivery_id == bindparam("of_delivery"),
            deliveries.c.attempts == bindparam("of_attempt"),
            deliveries.c.state == DeliveryState.SENDING,
        )
        .values(attempted_at=bindparam("now"))
    )
)
