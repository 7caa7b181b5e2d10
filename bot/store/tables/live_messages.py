"""The messages that are edited as what they show changes."""

from sqlalchemy import Boolean, Column, Index, Integer, Table, Text, UniqueConstraint, text

from bot.domain.live_messages import LiveKind
from bot.store.column_types import OutsideText, Repository, UtcTime, Word
from bot.store.tables.schema import RowNumber, metadata, partial_index

live_messages = Table(
    "live_messages",
    metadata,
    Column("message_id", RowNumber, primary_key=True),
    Column("kind", Word(LiveKind), nullable=False),
    Column("repository", Repository, nullable=False),
    Column("key", Text, nullable=False),
    Column("channel_id", Text, nullable=False),
    Column("is_second", Boolean, nullable=False),
    Column("message_ts", OutsideText),
    Column("wanted", Integer, nullable=False),
    Column("shown", Integer, nullable=False),
    Column("digest", Text),
    Column("priority", Integer, nullable=False),
    Column("due_at", UtcTime, nullable=False),
    Column("failures", Integer, nullable=False),
    Column("closed", Boolean, nullable=False),
    Column("is_lost", Boolean, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    Column("changed_at", UtcTime, nullable=False),
    Column("made_by", OutsideText),
    Column("ended_at", UtcTime),
    Column("ended_by", OutsideText),
    UniqueConstraint("kind", "repository", "key", "channel_id", name="uq_live_messages_subject"),
    Index("ix_live_messages_changed_at", "changed_at"),
    sqlite_autoincrement=True,
    comment="One message that is edited as what it shows changes: a pause, a thread, a board.",
)
"""`made_by` to `ended_by` are of a board, which is kept until it ends."""

TO_EDIT = (
    live_messages.c.message_ts.is_not(None)
    & ~live_messages.c.is_lost
    & (live_messages.c.wanted > live_messages.c.shown)
)
partial_index(
    "ix_live_messages_due", live_messages.c.priority, live_messages.c.due_at, where=TO_EDIT
)
UNPOSTED = live_messages.c.message_ts.is_(None) & ~live_messages.c.is_lost
partial_index("ix_live_messages_unposted", live_messages.c.message_id, where=UNPOSTED)
KEPT = text("kind = 'board' AND ended_at IS NULL")
partial_index(
    "uq_live_messages_kept_board",
    live_messages.c.repository,
    live_messages.c.channel_id,
    unique=True,
    where=KEPT,
)
"""The repository comes first: each reading of a queue asks for the boards of a repository."""
