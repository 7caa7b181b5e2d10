"""The tables, their named constraints and their indexes."""

from bot.storage.tables.boards import KEPT, board_sights, boards
from bot.storage.tables.cards import TO_EDIT, UNPOSTED, cards
from bot.storage.tables.coordination import clock_jumps, leases, slack_limits, workers
from bot.storage.tables.log import (
    bisections,
    events,
    polls,
    positions,
    pull_requests,
    stalenesses,
    stays,
)
from bot.storage.tables.outbox import deliveries, destinations
from bot.storage.tables.pausing import (
    group_acts,
    group_pauses,
    pause_reminders,
    pause_timers,
    pauses,
    resume_watchers,
)
from bot.storage.tables.people import (
    accounts,
    audit,
    channel_defaults,
    notice_choices,
    seen_requests,
    subscriptions,
)
from bot.storage.tables.queue_condition import alerts, failure_streaks
from bot.storage.tables.schema import metadata

__all__ = [
    "KEPT",
    "TO_EDIT",
    "UNPOSTED",
    "accounts",
    "alerts",
    "audit",
    "bisections",
    "board_sights",
    "boards",
    "cards",
    "channel_defaults",
    "clock_jumps",
    "deliveries",
    "destinations",
    "events",
    "failure_streaks",
    "group_acts",
    "group_pauses",
    "leases",
    "metadata",
    "notice_choices",
    "pause_reminders",
    "pause_timers",
    "pauses",
    "polls",
    "positions",
    "pull_requests",
    "resume_watchers",
    "seen_requests",
    "slack_limits",
    "stalenesses",
    "stays",
    "subscriptions",
    "workers",
]
