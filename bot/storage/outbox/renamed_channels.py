"""A channel that Slack gave another id: everything that waits for it or is shown in it moves."""

from dataclasses import replace

from sqlalchemy import Table, and_, delete, exists, func, select, update

from bot.domain.deliveries import DeliveryState
from bot.storage.outbox.delivery_rows import lines_of
from bot.storage.outbox.destinations import Destinations
from bot.storage.statements import Statements
from bot.storage.tables import (
    boards,
    cards,
    channel_defaults,
    deliveries,
    group_acts,
    pause_timers,
    subscriptions,
)

_UNIQUE_IN_A_CHANNEL: tuple[tuple[Table, tuple[str, ...]], ...] = (
    (subscriptions, ("repository", "source")),
    (channel_defaults, ()),
    (boards, ("repository",)),
    (cards, ("kind", "repository", "key", "generation")),
    (deliveries, ("subject_kind", "repository", "subject_id")),
)
"""What the new id has already is kept; the same under the old id goes."""


def rename_channel(statements: Statements, old: str, new: str) -> bool:
    """False while something is being sent to the old id: then nothing is changed."""
    destinations = Destinations(statements)
    pairs = list(zip(lines_of(old), lines_of(new), strict=True))
    locked = destinations.lock_or_add([line for pair in pairs for line in pair])
    sending = statements.run(
        select(func.count()).where(
            deliveries.c.line.in_(lines_of(old)), deliveries.c.state == DeliveryState.SENDING
        )
    )
    if sending.scalar_one():
        return False
    for table, names in _UNIQUE_IN_A_CHANNEL:
        other = table.alias()
        same = and_(other.c.channel_id == new, *(other.c[name] == table.c[name] for name in names))
        statements.run(
            delete(table).where(table.c.channel_id == old, exists(select(1).where(same)))
        )
    for line, new_line in pairs:
        before, after = locked[line], locked[new_line]
        statements.run(
            update(deliveries)
            .where(deliveries.c.line == line)
            .values(line=new_line, sequence=deliveries.c.sequence + after.next_sequence)
        )
        sequence = before.next_sequence + after.next_sequence
        destinations.save([replace(after, next_sequence=sequence)])
    destinations.find_heads([line for pair in pairs for line in pair])
    for table in (
        *(table for table, _ in _UNIQUE_IN_A_CHANNEL),
        group_acts,
        pause_timers,
    ):
        statements.run(update(table).where(table.c.channel_id == old).values(channel_id=new))
    return True
