"""All that is stored about one repository: moved to another name, or removed."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from bot.acts.tables import audit, group_acts, revisions, unanswered
from bot.boards.tables import IS_OPEN_BOARD, board_states, boards
from bot.channels.tables import channel_defaults, followed, subscriptions
from bot.feed.tables import bisections, queue_entries
from bot.freezes.tables import freezes, window_occurrences
from bot.health.tables import ALERT_LASTS, alert_causes, alerts, failures_in_a_row, outages
from bot.kernel.repository import RepositoryName
from bot.log.tables import events, pull_requests, repositories
from bot.pauses.tables import IN_FORCE, pause_ends, pause_lines, pauses, resume_watchers
from bot.people.tables import muted_pull_requests
from bot.posts.live_message import LiveKind
from bot.posts.tables import deliveries, live_messages
from bot.runtime.upkeep.doubled_rows import DoubledRows
from bot.store.protection import audit_may_change
from bot.store.statements import Condition
from bot.storms.tables import storms

_OF_ONE = (
    events,
    pull_requests,
    freezes,
    window_occurrences,
    queue_entries,
    bisections,
    storms,
    alerts,
    alert_causes,
    failures_in_a_row,
    board_states,
    channel_defaults,
    subscriptions,
    muted_pull_requests,
    live_messages,
    boards,
    deliveries,
    pauses,
    revisions,
)
"""Tables whose rows are of one repository, in the order in which their rows are locked."""

_UNIQUE: tuple[tuple[sa.Table, tuple[str, ...]], ...] = (
    (events, ("event_id",)),
    (pull_requests, ("number",)),
    (window_occurrences, ("window", "begins_at")),
    (queue_entries, ("key",)),
    (bisections, ("key",)),
    (storms, ("key",)),
    (failures_in_a_row, ()),
    (revisions, ()),
    (board_states, ()),
    (subscriptions, ("channel_id", "source")),
    (muted_pull_requests, ("user_id", "pull_request")),
    (live_messages, ("kind", "key", "channel_id")),
    (deliveries, ("subject_kind", "subject_id", "channel_id")),
)
_LISTS: tuple[sa.Column[Any], ...] = (
    group_acts.c.repositories,
    group_acts.c.results,
    outages.c.repositories,
    outages.c.recovered,
    unanswered.c.repeat,
    followed.c.left_out,
)
"""Columns with JSON that names repositories."""


class Renaming(DoubledRows):
    """All rows of one repository: counted, given another name, or removed."""

    def stored(self, name: RepositoryName) -> Mapping[str, int]:
        """How many rows there are of the repository; tables without any are left out."""
        counted = {
            table.name: self._count(table, table.c.repository == name)
            for table in (repositories, *_OF_ONE)
        }
        return {table: count for table, count in counted.items() if count}

    def names(self) -> Sequence[RepositoryName]:
        """All repositories about which something is stored."""
        found: set[RepositoryName] = set()
        for table in (repositories, events, subscriptions, pauses):
            found |= set(self._run(sa.select(table.c.repository).distinct()).scalars())
        return sorted(found)

    def rename(self, old: RepositoryName, new: RepositoryName, now: datetime) -> None:
        """Move everything, the audit included, and have messages edited. No process may be at work.

        What both have stays as `new` has it, except for a pause that the bot found again under the
        new name: only the old row knows whose it is, and when it ends.
        """
        queues = self._lock_queues_of(old)
        self._move_position(old, new)
        self._keep_pauses(old, new, now)
        for table, names in _UNIQUE:
            self._remove(table, *_same(table, names, old, new))
        self._end_double_alerts(old, new)
        self._end_double_boards(old, new)
        self._remove_double_freezes(old, new)
        for table in _OF_ONE:
            self._change(table, table.c.repository == old, repository=new)
        self._update_heads(queues)
        # Their texts and buttons have the old name.
        is_open = live_messages.c.repository == new, ~live_messages.c.closed
        self._change(live_messages, *is_open, wanted=live_messages.c.wanted + 1, due_at=now)
        for column in _LISTS:
            self._rewrite(column, old, new)
        with audit_may_change(self._connection):
            self._change(audit, audit.c.repository == old, repository=new)

    def forget(self, name: RepositoryName) -> None:
        """Remove everything except the audit; the bot may be at work."""
        self._remove(repositories, repositories.c.repository == name)
        ours = sa.select(pauses.c.pause_id).where(pauses.c.repository == name)
        self._remove(resume_watchers, resume_watchers.c.pause_id.in_(ours))
        self._remove(pause_lines, pause_lines.c.pause_id.in_(ours))
        self._remove(pause_ends, pause_ends.c.pause_id.in_(ours))
        queues = self._lock_queues_of(name)
        for table in _OF_ONE:
            self._remove(table, table.c.repository == name)
        self._update_heads(queues)

    def _count(self, table: sa.Table, *which: Condition) -> int:
        counted = sa.select(sa.func.count()).select_from(table).where(*which)
        return int(self._run(counted).scalar_one())

    def _lock_queues_of(self, name: RepositoryName) -> Sequence[str]:
        of_it = sa.select(deliveries.c.queue).where(deliveries.c.repository == name).distinct()
        queues = sorted(self._run(of_it).scalars())
        self._lock(queues)
        return queues

    def _move_position(self, old: RepositoryName, new: RepositoryName) -> None:
        """The new name's own place in its log stays, if it was read."""
        is_read = repositories.c.repository == new, repositories.c.origin.is_not(None)
        is_new_read = self._count(repositories, *is_read) > 0
        is_old_known = self._count(repositories, repositories.c.repository == old) > 0
        if is_new_read:
            self._remove(repositories, repositories.c.repository == old)
        elif is_old_known:
            self._remove(repositories, repositories.c.repository == new)
            self._change(repositories, repositories.c.repository == old, repository=new)

    def _keep_pauses(self, old: RepositoryName, new: RepositoryName, now: datetime) -> None:
        again = pauses.alias()
        same = sa.select(pauses.c.pause_id, again.c.pause_id).where(
            pauses.c.repository == old,
            again.c.repository == new,
            again.c.paused_at == pauses.c.paused_at,
        )
        for old_id, new_id in self._run(same).all():
            watching = resume_watchers.c.pause_id == new_id
            already = sa.select(resume_watchers.c.user_id).where(
                resume_watchers.c.pause_id == old_id
            )
            self._remove(resume_watchers, watching, resume_watchers.c.user_id.in_(already))
            self._change(resume_watchers, watching, pause_id=old_id)
            cards = live_messages.c.kind.in_([LiveKind.PAUSE, LiveKind.REMINDER])
            its_cards = live_messages.c.repository == new, live_messages.c.key == str(new_id)
            self._change(live_messages, cards, *its_cards, is_lost=True)
            self._remove(pause_lines, pause_lines.c.pause_id == new_id)
            self._remove(pause_ends, pause_ends.c.pause_id == new_id)
            self._remove(pauses, pauses.c.pause_id == new_id)
        # Of two that look in force, the later one is.
        again_in_force = sa.exists().where(again.c.repository == new, again.c.ended_at.is_(None))
        is_over = pauses.c.repository == old, IN_FORCE, again_in_force
        self._change(
            pauses,
            *is_over,
            ended_at=now,
            ending=sa.literal("resumed", sa.Text()),
            end_notified=True,
            timer_due_at=None,
        )

    def _end_double_alerts(self, old: RepositoryName, new: RepositoryName) -> None:
        other = alerts.alias()
        double = sa.exists().where(
            other.c.repository == new, other.c.kind == alerts.c.kind, other.c.ended_at.is_(None)
        )
        self._remove(alerts, alerts.c.repository == old, ALERT_LASTS, double)

    def _end_double_boards(self, old: RepositoryName, new: RepositoryName) -> None:
        other = boards.alias()
        double = sa.exists().where(
            other.c.repository == new,
            other.c.channel_id == boards.c.channel_id,
            other.c.ended_at.is_(None),
        )
        doubled = boards.c.repository == old, IS_OPEN_BOARD, double
        self._remove_shown(boards.c.board_id, LiveKind.BOARD, *doubled)

    def _remove_double_freezes(self, old: RepositoryName, new: RepositoryName) -> None:
        """Those that both have, by the service's id or by the event that set them."""
        other = freezes.alias()
        is_same = sa.or_(
            other.c.freeze_id == freezes.c.freeze_id, other.c.set_id == freezes.c.set_id
        )
        doubled = freezes.c.repository == old, sa.exists().where(other.c.repository == new, is_same)
        self._remove_shown(freezes.c.row_id, LiveKind.FREEZE, *doubled)

    def _rewrite(self, column: sa.Column[Any], old: str, new: str) -> None:
        text = sa.type_coerce(column, sa.Text)
        replaced = sa.func.replace(text, f'"{old}"', f'"{new}"')
        named = text.contains(f'"{old}"', autoescape=True)
        self._change(column.table, named, **{column.name: replaced})


def _same(
    table: sa.Table, names: Sequence[str], old: RepositoryName, new: RepositoryName
) -> Sequence[Condition]:
    """The old name's rows that the new one has too."""
    other = table.alias()
    same = sa.exists().where(
        other.c.repository == new, *(other.c[name] == table.c[name] for name in names)
    )
    return [table.c.repository == old, same]
