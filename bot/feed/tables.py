"""Tables of queue entries and bisections."""

import sqlalchemy as sa

from bot.store.schema import (
    OutsideText,
    Repository,
    SortedSet,
    UtcTime,
    key,
    optional,
    required,
    table,
)

queue_entries = table(
    "queue_entries",
    "One pull request's time in the queue, which threads are about.",
    *key(Repository, "repository"),
    *key(sa.Text, "key"),
    *required(sa.BigInteger, "pull_request"),
    *optional(OutsideText, "session_id"),
    *required(UtcTime, "began_at", "last_at"),
    *required(sa.Boolean, "entered"),
    *optional(UtcTime, "ended_at"),
    sa.Index(None, "repository", "pull_request", "last_at"),
    sa.Index(None, "last_at"),
)
"""The key is that of the `LiveSubject` shown by its live messages."""


bisections = table(
    "bisections",
    "The search for the pull request that broke one batch, which threads are about.",
    *key(Repository, "repository"),
    *key(sa.Text, "key"),
    *optional(OutsideText, "batch_id"),
    *required(SortedSet, "pull_requests"),
    *required(UtcTime, "last_at"),
    *required(sa.BigInteger, "latest_event_id"),
    *optional(UtcTime, "ended_at"),
    sa.Index(None, "repository", "last_at"),
    sa.Index(None, "last_at"),
)
"""The key is that of the `LiveSubject` shown by its live messages."""
