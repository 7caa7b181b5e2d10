"""The tables, their named constraints and their indexes."""

from bot.store.tables.coordination import PRESENT, KeyKind, expiring_keys, leases
from bot.store.tables.live_messages import KEPT, TO_EDIT, UNPOSTED, live_messages
from bot.store.tables.log import (
    IS_OUTAGE,
    alerts,
    events,
    pull_requests,
    repositories,
    threads,
)
from bot.store.tables.outbox import channels, deliveries
from bot.store.tables.pausing import (
    group_acts,
    pauses,
    resume_watchers,
)
from bot.store.tables.people import (
    SWITCHED_ON,
    audit,
    people,
    subscriptions,
)
from bot.store.tables.schema import metadata

__all__ = [
    "IS_OUTAGE",
    "KEPT",
    "PRESENT",
    "SWITCHED_ON",
    "TO_EDIT",
    "UNPOSTED",
    "KeyKind",
    "alerts",
    "audit",
    "channels",
    "deliveries",
    "events",
    "expiring_keys",
    "group_acts",
    "leases",
    "live_messages",
    "metadata",
    "pauses",
    "people",
    "pull_requests",
    "repositories",
    "resume_watchers",
    "subscriptions",
    "threads",
]
