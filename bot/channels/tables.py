"""Tables of what channels follow."""

import sqlalchemy as sa

from bot.channels.subscription import Style, SubscriptionSource
from bot.kernel.actor import Actor
from bot.kernel.cron import DigestTime
from bot.store.schema import (
    Repository,
    SortedSet,
    UtcTime,
    as_json,
    as_text,
    key,
    optional,
    required,
    table,
)

channel_defaults = table(
    "channel_defaults",
    "The repository that is meant in one channel when none is typed.",
    *key(sa.Text, "channel_id"),
    *required(Repository, "repository"),
)


subscriptions = table(
    "subscriptions",
    "One channel's subscription to one repository, by command or by the settings.",
    *key(sa.Text, "channel_id"),
    *key(Repository, "repository"),
    *key(as_text(SubscriptionSource), "source"),
    *required(SortedSet, "topics", "branches", "except_logins"),
    *optional(sa.Text, "created_by"),
    *optional(UtcTime, "created_at"),
    *required(as_text(Style), "style"),
    *optional(as_json(DigestTime), "digest"),
    *optional(sa.Text, "through"),
    sa.Index(None, "repository"),
)


followed = table(
    "followed",
    "One channel's subscription to all repositories, a group's or an owner's, as they change.",
    *key(sa.Text, "channel_id", "selection"),
    *required(as_json(Actor), "actor"),
    *required(UtcTime, "created_at"),
    *required(SortedSet, "topics", "branches", "except_logins", "left_out"),
    *required(as_text(Style), "style"),
    *optional(as_json(DigestTime), "digest"),
)
"""Each of its repositories has a row of its own in `subscriptions` too."""
