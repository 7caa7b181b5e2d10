"""What is to be told: deliveries, and the lines that they wait in."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
)

from bot.domain.deliveries import DeliveryState, SubjectKind
from bot.store.column_types import OutsideText, Repository, UtcTime, Word
from bot.store.tables.schema import metadata, partial_index

channels = Table(
    "channels",
    metadata,
    Column("line", Text, primary_key=True),
    Column("next_sequence", BigInteger, nullable=False, default=1),
    Column("head_sequence", BigInteger, nullable=False, default=1),
    Column("claimable_at", UtcTime),
    Column("suspended_code", OutsideText),
    Column("suspended_at", UtcTime),
    Column("retry_at", UtcTime),
    Column("default_repository", Repository),
    CheckConstraint(
        "(suspended_at IS NULL) = (retry_at IS NULL) "
        "AND (suspended_at IS NULL) = (suspended_code IS NULL)",
        name="suspended_whole",
    ),
    Index("ix_channels_claimable", "claimable_at", "line"),
    comment="One queue of posts to one channel; its ordinary one has its default repository.",
)
"""A channel has up to three queues, named by `channel_queues.queues_of`.

`head_sequence` is the first delivery that is not settled, or the next one to be added.
`claimable_at` is None when everything is settled. Else it is when the head is due or, in a
suspended channel, `retry_at` where that is later. A transaction that changes deliveries of a
queue holds the lock of this row, so the order in a queue is the order of commits.
`default_repository`, of the ordinary queue alone, is what is meant when none is typed; a row may
be there for that, with nothing ever added.
"""

deliveries = Table(
    "deliveries",
    metadata,
    Column("delivery_id", Text, primary_key=True),
    Column("channel_id", Text, nullable=False),
    Column("line", Text, ForeignKey("channels.line"), nullable=False),
    Column("sequence", BigInteger, nullable=False),
    Column("subject_kind", Word(SubjectKind), nullable=False),
    Column("repository", Repository, nullable=False),
    Column("subject_id", BigInteger, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    Column("due_at", UtcTime, nullable=False),
    Column("state", Word(DeliveryState), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("attempted_at", UtcTime),
    Column("looks", Integer, nullable=False),
    Column("message_ts", OutsideText),
    Column("error", OutsideText),
    Column("settled_at", UtcTime),
    Column("failures", Integer, nullable=False),
    Column("kind", Text),
    Column("summarizes", Integer, nullable=False),
    Column("summarized_by", Text),
    Column("root_id", BigInteger),
    UniqueConstraint("line", "sequence"),
    # The channel comes last: pruning asks who refers to an event, whatever the channel.
    UniqueConstraint(
        "subject_kind", "repository", "subject_id", "channel_id", name="uq_deliveries_subject"
    ),
    # One by one: of a list of three SQLite makes a table for each row that it checks.
    CheckConstraint(
        "(settled_at IS NOT NULL) = (state = 'delivered' OR state = 'failed' "
        "OR state = 'summarized')",
        name="settled_has_time",
    ),
    comment="One post to one channel: it waits, is being sent, is in doubt, or is settled.",
)
"""`due_at` of a delivery that is sending is the end of its claim.

`summarized_by` is the summary that tells a summarized delivery; `summarizes` counts those that a
summary tells.
`root_id` is the live message in whose thread it is told.
"""

partial_index(
    "ix_deliveries_summarized_by",
    deliveries.c.summarized_by,
    where=deliveries.c.summarized_by.is_not(None),
)

partial_index(
    "ix_deliveries_unsettled",
    deliveries.c.state,
    deliveries.c.created_at,
    where=deliveries.c.settled_at.is_(None),
)
partial_index(
    "ix_deliveries_settled_at",
    deliveries.c.settled_at,
    where=deliveries.c.settled_at.is_not(None),
)
