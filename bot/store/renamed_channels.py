"""Moves deliveries and messages of a channel that got another id in Slack."""

from sqlalchemy import Table, and_, exists, func, select, true

from bot.domain.deliveries import DeliveryState
from bot.domain.live_messages import LiveKind
from bot.store.channel_queues import ChannelQueues, channels, deliveries, queues_of
from bot.store.group_acts import group_acts
from bot.store.live_messages import live_messages
from bot.store.pauses import pauses
from bot.store.statements import Condition, ResultRow
from bot.store.subscriptions import subscriptions

_IS_BOARD = live_messages.c.kind == LiveKind.BOARD
_UNIQUE_IN_A_CHANNEL: tuple[tuple[Table, tuple[str, ...], Condition], ...] = (
    (subscriptions, ("repository", "source"), true()),
    (live_messages, ("kind", "repository"), _IS_BOARD),
    (live_messages, ("kind", "repository", "key"), ~_IS_BOARD),
    (deliveries, ("subject_kind", "repository", "subject_id"), true()),
)
"""Rows of the new id win over the same rows of the old id."""

_NAME_A_CHANNEL = (
    (subscriptions, "channel_id"),
    (live_messages, "channel_id"),
    (deliveries, "channel_id"),
    (group_acts, "channel_id"),
    (pauses, "timer_channel_id"),
)


class RenamedChannels(ChannelQueues):
    """Moves the rows of a channel to its new id."""

    def rename_channel(self, old: str, new: str) -> bool:
        """Move the rows of `old`; False, and no change, while a post is being sent to it."""
        old_queues, new_queues = queues_of(old), queues_of(new)
        locked = self._lock_or_add(old_queues + new_queues)
        is_sending = deliveries.c.state == DeliveryState.SENDING
        of_old = deliveries.c.queue.in_(old_queues)
        if self._run(select(func.count()).where(of_old, is_sending)).scalar_one():
            return False
        for table, names, which in _UNIQUE_IN_A_CHANNEL:
            other = table.alias()
            same = and_(
                other.c.channel_id == new, *(other.c[name] == table.c[name] for name in names)
            )
            in_both = which, table.c.channel_id == old, exists(select(1).where(same))
            self._remove(table, *in_both)
        for queue, new_queue in zip(old_queues, new_queues, strict=True):
            self._append_queue(locked[queue], locked[new_queue])
        self._move_default(locked[old], locked[new])
        self._update_heads(old_queues + new_queues)
        for table, name in _NAME_A_CHANNEL:
            self._change(table, table.c[name] == old, **{name: new})
        return True

    def _append_queue(self, queue: ResultRow, to: ResultRow) -> None:
        """Append the deliveries of one queue to another."""
        sequence = deliveries.c.sequence + to.next_sequence
        self._change(
            deliveries, deliveries.c.queue == queue.queue, queue=to.queue, sequence=sequence
        )
        following = queue.next_sequence + to.next_sequence
        self._change(channels, channels.c.queue == to.queue, next_sequence=following)

    def _move_default(self, queue: ResultRow, to: ResultRow) -> None:
        default = to.default_repository or queue.default_repository
        for row, repository in ((queue, None), (to, default)):
            self._change(channels, channels.c.queue == row.queue, default_repository=repository)
