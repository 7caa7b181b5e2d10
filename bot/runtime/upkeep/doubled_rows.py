"""Rows that are the same once two channels, or two repositories, have become one."""

import sqlalchemy as sa

from bot.posts.channel_queues import ChannelQueues
from bot.posts.live_message import LiveKind
from bot.posts.tables import live_messages
from bot.store.statements import Condition


class DoubledRows(ChannelQueues):
    """Removes what two names would both have after the move of one to the other."""

    def _remove_shown(self, number: sa.Column[int], kind: LiveKind, *doubled: Condition) -> None:
        """Remove these rows, with the live messages that show them.

        `number`: the column whose values are the keys of these messages.
        """
        keys = sa.select(sa.cast(number, sa.String)).where(*doubled)
        self._remove(live_messages, live_messages.c.kind == kind, live_messages.c.key.in_(keys))
        self._remove(number.table, *doubled)
