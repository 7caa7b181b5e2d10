"""What was read of the event logs, and how far."""

from sqlalchemy import BigInteger, Boolean, CheckConstraint, Column, Index, Table, Text

from bot.storage.column_types import (
    CompactJson,
    OutsideText,
    Repository,
    SortedNumbers,
    SortedWords,
    UtcTime,
)
from bot.storage.tables.schema import RowNumber, metadata, partial_index

positions = Table(
    "positions",
    metadata,
    Column("repository", Repository, primary_key=True),
    Column("origin", UtcTime, nullable=False),
    Column("watermark", UtcTime, nullable=False),
    Column("walk_received_from", UtcTime),
    Column("walk_received_to", UtcTime),
    Column("walk_cursor", Text),
    Column("walk_newest", UtcTime),
    CheckConstraint(
        "(walk_received_from IS NULL) = (walk_received_to IS NULL)", name="walk_has_both_bounds"
    ),
    comment="How far the event log of one repository has been read.",
)

polls = Table(
    "polls",
    metadata,
    Column("repository", Repository, primary_key=True),
    Column("polled_at", UtcTime, nullable=False),
    Column("types", SortedWords, nullable=False),
    comment="The last time that one repository's event log was read to its end.",
)

events = Table(
    "events",
    metadata,
    Column("repository", Repository, primary_key=True),
    Column("event_id", BigInteger, primary_key=True, autoincrement=False),
    Column("received_at", UtcTime, nullable=False),
    Column("type", OutsideText, nullable=False),
    Column("pull_request", BigInteger),
    Column("base_ref", OutsideText),
    Column("session_id", OutsideText),
    Column("details", CompactJson, nullable=False),
    Column("routed", Boolean, nullable=False),
    Index("ix_events_received_at", "received_at"),
    Index("ix_events_pull_request", "repository", "pull_request", "received_at"),
    comment="One event of a repository's event log.",
)
partial_index(
    "ix_events_unrouted",
    events.c.repository,
    events.c.received_at,
    events.c.event_id,
    where=~events.c.routed,
)

stalenesses = Table(
    "stalenesses",
    metadata,
    Column("staleness_id", RowNumber, primary_key=True),
    Column("repositories", CompactJson, nullable=False),
    Column("since", UtcTime, nullable=False),
    Column("ended_at", UtcTime),
    Column("told_at", UtcTime),
    Column("read_again", CompactJson),
    sqlite_autoincrement=True,
    comment="One outage: event logs that could not be read, from its start to its end.",
)
partial_index(
    "ix_stalenesses_active",
    stalenesses.c.staleness_id,
    where=stalenesses.c.ended_at.is_(None),
)

stays = Table(
    "stays",
    metadata,
    Column("repository", Repository, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("pull_request", BigInteger, nullable=False),
    Column("session_id", OutsideText),
    Column("began_at", UtcTime, nullable=False),
    Column("last_at", UtcTime, nullable=False),
    Column("entered", Boolean, nullable=False),
    Column("ended_at", UtcTime),
    Index("ix_stays_pull_request", "repository", "pull_request"),
    Index("ix_stays_last_at", "last_at"),
    comment="One stay of a pull request in the queue, from entering to leaving.",
)

bisections = Table(
    "bisections",
    metadata,
    Column("repository", Repository, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("batch_id", OutsideText),
    Column("pull_requests", SortedNumbers, nullable=False),
    Column("last_at", UtcTime, nullable=False),
    Column("latest_event_id", BigInteger, nullable=False),
    Column("ended_at", UtcTime),
    Index("ix_bisections_last_at", "last_at"),
    Index("ix_bisections_of", "repository", "last_at"),
    comment="One bisection: a failed batch that the service splits to find the culprit.",
)

pull_requests = Table(
    "pull_requests",
    metadata,
    Column("repository", Repository, primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("title", OutsideText, nullable=False),
    Column("url", OutsideText, nullable=False),
    Column("author", OutsideText, nullable=False),
    Column("seen_at", UtcTime, nullable=False),
    Index("ix_pull_requests_seen_at", "seen_at"),
    comment="What people are shown about one pull request.",
)
