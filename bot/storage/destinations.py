"""Where each channel's outbox starts and when its first delivery can be claimed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import and_, bindparam, select, update
from sqlalchemy.sql.elements import ColumnElement

from bot.storage.statements import Statements, slices
from bot.storage.tables import deliveries, destinations

_FIELDS = (
    destinations.c.channel_id,
    destinations.c.next_sequence,
    destinations.c.head_sequence,
    destinations.c.claimable_at,
    destinations.c.parked_at,
    destinations.c.retry_at,
)

_SAVE = (
    update(destinations)
    .where(destinations.c.channel_id == bindparam("of_channel"))
    .values(
        next_sequence=bindparam("next_sequence"),
        head_sequence=bindparam("head_sequence"),
        claimable_at=bindparam("claimable_at"),
    )
)


@dataclass(frozen=True, slots=True)
class Destination:
    """One channel's row, locked by the transaction that read it."""

    channel_id: str
    next_sequence: int
    head_sequence: int
    claimable_at: datetime | None
    parked_at: datetime | None
    retry_at: datetime | None

    def with_head(self, sequence: int, due_at: datetime) -> "Destination":
        claimable_at = due_at if self.retry_at is None else max(due_at, self.retry_at)
        return replace(self, head_sequence=sequence, claimable_at=claimable_at)

    def without_head(self) -> "Destination":
        return replace(self, head_sequence=self.next_sequence, claimable_at=None)


class Destinations:
    """The rows of `destinations`. Locks are always taken in the order of channel ids."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    async def lock_or_add(self, channel_ids: Iterable[str]) -> dict[str, Destination]:
        wanted = sorted(set(channel_ids))
        locked = await self.lock(wanted)
        missing = [channel_id for channel_id in wanted if channel_id not in locked]
        if missing:
            await self._statements.run(
                self._statements.insert(destinations).on_conflict_do_nothing(
                    index_elements=[destinations.c.channel_id]
                ),
                [{"channel_id": each, "next_sequence": 1, "head_sequence": 1} for each in missing],
            )
            locked |= await self.lock(missing)
        return locked

    async def lock(self, channel_ids: Iterable[str]) -> dict[str, Destination]:
        locked: dict[str, Destination] = {}
        for some in slices(sorted(set(channel_ids))):
            rows = await self._statements.run(
                select(*_FIELDS)
                .where(destinations.c.channel_id.in_(some))
                .order_by(destinations.c.channel_id)
                .with_for_update()
            )
            locked |= {row.channel_id: Destination(*row) for row in rows}
        return locked

    async def lock_claimable(self, now: datetime, limit: int) -> list[Destination]:
        """The longest claimable first; one in another transaction's hands is passed over."""
        rows = await self._statements.run(
            select(*_FIELDS)
            .where(destinations.c.claimable_at <= now)
            .order_by(destinations.c.claimable_at, destinations.c.channel_id)
            .limit(limit)
            .with_for_update(skip_locked=True)
        )
        return [Destination(*row) for row in rows]

    async def save(self, changed: Sequence[Destination]) -> None:
        if changed:
            await self._statements.run(
                _SAVE,
                [
                    {
                        "of_channel": each.channel_id,
                        "next_sequence": each.next_sequence,
                        "head_sequence": each.head_sequence,
                        "claimable_at": each.claimable_at,
                    }
                    for each in changed
                ],
            )

    async def find_heads(self, channel_ids: Iterable[str]) -> None:
        """Bring locked rows up to date with the deliveries of their channels."""
        first = _first_unsettled()
        for some in slices(sorted(set(channel_ids))):
            rows = await self._statements.run(
                select(*_FIELDS, deliveries.c.sequence, deliveries.c.due_at)
                .outerjoin_from(
                    destinations,
                    deliveries,
                    and_(
                        deliveries.c.channel_id == destinations.c.channel_id,
                        deliveries.c.sequence == first,
                    ),
                )
                .where(destinations.c.channel_id.in_(some))
            )
            found = []
            for *fields, sequence, due_at in rows:
                destination = Destination(*fields)
                found.append(
                    destination.without_head()
                    if sequence is None
                    else destination.with_head(sequence, due_at)
                )
            await self.save(found)


def _first_unsettled() -> ColumnElement[int]:
    """Starts at the old head, so that it passes over what was settled since, not over history."""
    later = deliveries.alias("later")
    return (
        select(later.c.sequence)
        .where(
            later.c.channel_id == destinations.c.channel_id,
            later.c.sequence >= destinations.c.head_sequence,
            later.c.settled_at.is_(None),
        )
        .order_by(later.c.sequence)
        .limit(1)
        .correlate(destinations)
        .scalar_subquery()
    )
