"""What was read of the event logs, and how far."""

from sqlalchemy import BigInteger, Boolean, CheckConstraint, Column, Index, Table, Text

from bot.domain.boards import OutageCause
from bot.domain.live_messages import LiveKind
from bot.domain.queue_health import AlertKind
from bot.store.column_types import (
    CompactJson,
    Details,
    OutsideText,
    Repository,
    SortedSet,
    UtcTime,
    Word,
)
from bot.store.tables.schema import RowNumber, metadata, partial_index

repositories = Table(
    "repositories",
    metadata,
    Column("repository", Repository, primary_key=True),
    Column("origin", UtcTime),
    Column("watermark", UtcTime),
    Column("walk_received_from", UtcTime),
    Column("walk_received_to", UtcTime),
    Column("walk_cursor", Text),
    Column("walk_newest", UtcTime),
    Column("polled_at", UtcTime),
    Column("polled_types", SortedSet),
    Column("failures", BigInteger),
    Column("failed_pull_request", BigInteger),
    Column("picture", CompactJson),
    Column("read_at", UtcTime),
    Column("outage", Word(OutageCause)),
    Column("out_since", UtcTime),
    CheckConstraint("(origin IS NULL) = (watermark IS NULL)", name="position_whole"),
    CheckConstraint(
        "(walk_received_from IS NULL) = (walk_received_to IS NULL)", name="walk_has_both_bounds"
    ),
    CheckConstraint("(polled_at IS NULL) = (polled_types IS NULL)", name="poll_whole"),
    CheckConstraint("(picture IS NULL) = (read_at IS NULL)", name="picture_whole"),
    comment="One repository: what is read of its log, its failures in a row, what boards show.",
)
"""Each writer sets its own columns; None in those of the others: they have nothing to say yet.

`origin` to `walk_newest` are the position, `failures` and `failed_pull_request` how many in a row
left on failures, `picture` to `out_since` what boards show, as last read. A transaction that writes
a row here does so before it takes rows of live messages and channels, so that two never wait for
each other.
"""

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
    Column("details", Details, nullable=False),
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

alerts = Table(
    "alerts",
    metadata,
    Column("alert_id", RowNumber, primary_key=True),
    Column("repository", Repository, nullable=False),
    Column("kind", Word(AlertKind)),
    Column("began_at", UtcTime, nullable=False),
    Column("ended_at", UtcTime),
    Column("value", BigInteger),
    Column("threshold", BigInteger),
    Column("pull_request", BigInteger),
    Column("batch", OutsideText),
    Column("notified_at", UtcTime),
    Column("repositories", CompactJson),
    Column("recovered", CompactJson),
    CheckConstraint("(kind IS NULL) = (repositories IS NOT NULL)", name="alert_or_outage"),
    sqlite_autoincrement=True,
    comment="One warning, active or over: about the health of one queue, or an outage.",
)
"""Without a kind it is an outage, of all its `repositories`: event logs that can't be read.

`value` to `batch` are of queue health, `notified_at` to `recovered` of an outage.
"""
IS_OUTAGE = alerts.c.kind.is_(None)
partial_index(
    "uq_alerts_active",
    alerts.c.repository,
    alerts.c.kind,
    unique=True,
    where=alerts.c.ended_at.is_(None),
)
partial_index(
    "ix_alerts_outages",
    alerts.c.alert_id,
    where=IS_OUTAGE & alerts.c.ended_at.is_(None),
)

threads = Table(
    "threads",
    metadata,
    Column("kind", Word(LiveKind), primary_key=True),
    Column("repository", Repository, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("last_at", UtcTime, nullable=False),
    Column("ended_at", UtcTime),
    Column("pull_request", BigInteger),
    Column("session_id", OutsideText),
    Column("began_at", UtcTime),
    Column("entered", Boolean),
    Column("batch_id", OutsideText),
    Column("pull_requests", SortedSet),
    Column("latest_event_id", BigInteger),
    Index("ix_threads_pull_request", "kind", "repository", "pull_request"),
    Index("ix_threads_last_at", "last_at"),
    Index("ix_threads_of", "kind", "repository", "last_at"),
    comment="One thing told of in threads: a pull request's queue entry, or a bisection.",
)
"""Its key is that of the `LiveSubject` that its live messages show.

`pull_request` to `entered` are of a queue entry, `batch_id` to `latest_event_id` of a bisection.
"""

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
