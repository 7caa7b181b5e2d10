"""What the use cases need of the outside world: protocols only."""

from bot.ports.audit import Audit
from bot.ports.boards import Boards
from bot.ports.groups import GroupActs
from bot.ports.kept_true import Cards, Pauses, ResumeWatchers
from bot.ports.log import (
    Bisections,
    Events,
    Polls,
    Positions,
    PullRequests,
    Stalenesses,
    Stays,
)
from bot.ports.outbox import Folded, Outbox, OutboxSummary, ParkedChannel
from bot.ports.outside import (
    ChannelDirectory,
    ChannelPoster,
    Clock,
    Hear,
    MergeQueue,
    Nudge,
    PeopleDirectory,
)
from bot.ports.people import Accounts, Notices
from bot.ports.store import Lease, Leases, SeenRequests, Store, Transaction
from bot.ports.subscriptions import ChannelDefaults, Subscriptions

__all__ = [
    "Accounts",
    "Audit",
    "Bisections",
    "Boards",
    "Cards",
    "ChannelDefaults",
    "ChannelDirectory",
    "ChannelPoster",
    "Clock",
    "Events",
    "Folded",
    "GroupActs",
    "Hear",
    "Lease",
    "Leases",
    "MergeQueue",
    "Notices",
    "Nudge",
    "Outbox",
    "OutboxSummary",
    "ParkedChannel",
    "Pauses",
    "PeopleDirectory",
    "Polls",
    "Positions",
    "PullRequests",
    "ResumeWatchers",
    "SeenRequests",
    "Stalenesses",
    "Stays",
    "Store",
    "Subscriptions",
    "Transaction",
]
