"""All tables, and what their indexes hold."""

import sqlalchemy as sa

from bot.merge_queue.features import ServiceFeature
from bot.store.schema import UtcTime, as_text, key, required, table

leases = table(
    "leases",
    "One thing that one process does for a time: a job, or an act on a repository.",
    *key(sa.Text, "name"),
    *required(sa.Text, "holder"),
    *required(sa.BigInteger, "token"),
    *required(UtcTime, "expires_at"),
)
"""A released lease stays, expired, so that tokens never repeat."""


handled_requests = table(
    "handled_requests",
    "One request that a process has taken: no other takes it again.",
    *key(sa.Text, "request"),
    *required(UtcTime, "until"),
    sa.Index(None, "until"),
)


slack_limits = table(
    "slack_limits",
    "One method, or method and channel, that Slack has closed for a time.",
    *key(sa.Text, "name"),
    *required(UtcTime, "met_at", "until"),
    sa.Index(None, "until"),
)
"""Its times are the database's."""


paces = table(
    "paces",
    "Whose requests, or which channel's posts, have used up some of their pace.",
    *key(sa.Text, "name"),
    *required(UtcTime, "free_at"),
    sa.Index(None, "free_at"),
)
"""Its times are the database's."""


channel_sharings = table(
    "channel_sharings",
    "What Slack said last of one channel: that it is shared with others, or not any more.",
    *key(sa.Text, "channel_id"),
    *required(sa.Boolean, "is_shared"),
    *required(UtcTime, "until"),
    sa.Index(None, "until"),
)


clock_jumps = table(
    "clock_jumps",
    "One jump of a process's clock: to which time, and by how many seconds, negative if back.",
    *key(UtcTime, "at"),
    *required(sa.BigInteger, "seconds"),
)


process_connections = table(
    "process_connections",
    "How many connections to Slack one process keeps, and how many of the app Slack counted.",
    *key(sa.Text, "process"),
    *required(sa.BigInteger, "kept", "counted"),
    *required(UtcTime, "until"),
)


pending_restarts = table(
    "pending_restarts",
    "One setting that has changed and waits for a restart.",
    *key(sa.Text, "setting"),
    *required(UtcTime, "until"),
)


bot_logins = table(
    "bot_logins",
    "One word of the setting that says which logins belong to programs.",
    *key(sa.Text, "word"),
)


service_features = table(
    "service_features",
    "One feature that the service offers, and may not offer elsewhere.",
    *key(as_text(ServiceFeature), "feature"),
)


write_checks = table(
    "write_checks",
    "The last check that the database can be written.",
    *key(sa.Text, "name"),
    *required(UtcTime, "written_at"),
)
