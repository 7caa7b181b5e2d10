"""Tables of the event log, and how far it has been read."""

import sqlalchemy as sa

from bot.log.position import Walk
from bot.merge_queue.event_types import MERGED
from bot.store.schema import (
    Details,
    OutsideText,
    Repository,
    SortedSet,
    UtcTime,
    as_json,
    key,
    optional,
    partial_index,
    required,
    table,
)

repositories = table(
    "repositories",
    "One repository whose event log is read: how far, and when last.",
    *key(Repository, "repository"),
    *optional(UtcTime, "origin", "watermark", "polled_at"),
    *optional(as_json(Walk), "walk"),
    *optional(SortedSet, "polled_types"),
)
"""The position and the last poll are stored apart; what has no value yet is None.

To avoid deadlocks, a transaction writes here before it locks live messages and queues of channels.
"""


events = table(
    "events",
    "One event of a repository's event log.",
    *key(Repository, "repository"),
    *key(sa.BigInteger, "event_id"),
    *required(UtcTime, "received_at"),
    *required(OutsideText, "type"),
    *optional(sa.BigInteger, "pull_request"),
    *optional(OutsideText, "base_ref", "session_id"),
    *required(Details, "details"),
    *required(sa.Boolean, "routed"),
    sa.Index(None, "received_at"),
    sa.Index(None, "repository", "pull_request", "received_at"),
    sa.Index(None, "repository", "type", "received_at"),
)
partial_index(events.c.repository, events.c.received_at, events.c.event_id, where=~events.c.routed)


IS_MERGE = events.c.type == sa.literal_column(f"'{MERGED}'")
"""A literal, because with a parameter no database would use the partial index."""
partial_index(events.c.repository, events.c.base_ref, events.c.received_at, where=IS_MERGE)


pull_requests = table(
    "pull_requests",
    "What people are shown about one pull request.",
    *key(Repository, "repository"),
    *key(sa.BigInteger, "number"),
    *required(OutsideText, "title", "url", "author", "author_folded"),
    *required(UtcTime, "seen_at"),
    sa.Index(None, "seen_at"),
    sa.Index(None, "author_folded", "seen_at"),
)
"""`author_folded`: the author in lower case, by which people's own are found."""
