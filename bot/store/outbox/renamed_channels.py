"""A channel that Slack gave another id: everything that waits for it or is shown in it moves."""

from sqlalchemy import ColumnElement, Table, and_, delete, exists, func, select, true, update

from bot.domain.deliveries import DeliveryState
from bot.domain.live_messages import LiveKind
from bot.store.outbox.channel_queues import ChannelQueues, queues_of
from bot.store.statements import ResultRow
from bot.store.tables import (
    channels,
    deliveries,
    group_acts,
    live_messages,
    pauses,
    subscriptions,
)

_IS_BOARD = live_messages.c.kind == LiveKind.BOARD
_UNIQUE_IN_A_CHANNEL: tuple[tuple[Table, tuple[str, ...], ColumnElement[bool]], ...] = (
    (subscriptions, ("repository", "source"), true()),
    (live_messages, ("kind", "repository"), _IS_BOARD),
    (live_messages, ("kind", "repository", "key"), ~_IS_BOARD),
    (deliveries, ("subject_kind", "repository", "subject_id"), true()),
)
"""What the new id has already is kept; the same under the old id goes."""


class RenamedChannels(ChannelQueues):
    """The move of all that waits for a channel, or is shown in it."""

    def rename_channel(self, old: str, new: str) -> bool:
        """Move what belongs to `old`; False, and nothing is changed, while a post is sent to it."""
        old_queues, new_queues = queues_of(old), queues_of(new)
        locked = self._lock_or_add(old_queues + new_queues)
        sending = self._statements.run(
            select(func.count()).where(
                deliveries.c.line.in_(old_queues), deliveries.c.state == DeliveryState.SENDING
            )
        )
        if sending.scalar_one():
            return False
        for table, names, which in _UNIQUE_IN_A_CHANNEL:
            other = table.alias()
            same = and_(
                other.c.channel_id == new, *(other.c[name] == table.c[name] for name in names)
            )
            self._statements.run(
                delete(table).where(which, table.c.channel_id == old, exists(select(1).where(same)))
            )
        for queue, new_queue in zip(old_queues, new_queues, strict=True):
            self._append_queue(locked[queue], locked[new_queue])
        self._move_default(locked[old], locked[new])
        self._update_heads(old_queues + new_queues)
        for table in (subscriptions, live_messages, deliveries, group_acts, pauses):
            self._statements.run(
                update(table).where(table.c.channel_id == old).values(channel_id=new)
            )
        return True

    def _append_queue(self, queue: ResultRow, to: ResultRow) -> None:
        """Number the deliveries of a queue after those of another one, and move them there."""
        self._statements.run(
            update(deliveries)
            .where(deliveries.c.line == queue.line)
            .values(line=to.line, sequence=deliveries.c.sequence + to.next_sequence)
        )
        self._statements.run(
            update(channels)
            .where(channels.c.line == to.line)
            .values(next_sequence=queue.next_sequence + to.next_sequence)
        )

    def _move_default(self, queue: ResultRow, to: ResultRow) -> None:
        default = to.default_repository or queue.default_repository
        for row, repository in ((queue, None), (to, default)):
            self._statements.run(
                update(channels)
                .where(channels.c.line == row.line)
                .values(default_repository=repository)
            )
