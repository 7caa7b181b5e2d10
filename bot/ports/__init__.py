"""What the use cases need of the outside world: protocols only."""

from bot.ports.audit import (
    Audit,
)
from bot.ports.boards import (
    Boards,
)
from bot.ports.groups import (
    GroupActs,
)
from bot.ports.kept_true import (
    Cards,
    Pauses,
    ResumeWatchers,
)
from bot.ports.log import Bisections, Events, PullRequests, Stays
from bot.ports.notices import Notices
from bot.ports.outside import (
    ChannelDirectory,
    ChannelPoster,
    Clock,
    Hear,
    MergeQueue,
    Nudge,
    PeopleDirectory,
)
from bot.ports.store import (
    Accounts,
    Added,
    ChannelDefaults,
    Folded,
    Lease,
    Leases,
    Outbox,
    OutboxSummary,
    ParkedChannel,
    Polls,
    Positions,
    SeenRequests,
    Stalenesses,
    Store,
    Subscriptions,
    Transaction,
)

__all__ = [
    "Accounts",
    "Added",
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
