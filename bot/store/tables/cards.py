"""The messages that are edited as what they tell of changes."""

from sqlalchemy import Boolean, Column, Index, Integer, Table, Text, UniqueConstraint

from bot.domain.cards import CardKind
from bot.store.column_types import OutsideText, Repository, UtcTime, Word
from bot.store.tables.schema import RowNumber, metadata, partial_index

cards = Table(
    "cards",
    metadata,
    Column("card_id", RowNumber, primary_key=True),
    Column("kind", Word(CardKind), nullable=False),
    Column("repository", Repository, nullable=False),
    Column("key", Text, nullable=False),
    Column("channel_id", Text, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("message_ts", OutsideText),
    Column("wanted", Integer, nullable=False),
    Column("shown", Integer, nullable=False),
    Column("due_at", UtcTime, nullable=False),
    Column("failures", Integer, nullable=False),
    Column("closed", Boolean, nullable=False),
    Column("is_lost", Boolean, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    Column("changed_at", UtcTime, nullable=False),
    UniqueConstraint(
        "kind", "repository", "key", "channel_id", "generation", name="uq_cards_generation"
    ),
    Index("ix_cards_changed_at", "changed_at"),
    sqlite_autoincrement=True,
    comment="One message that is edited as its subject changes.",
)
TO_EDIT = cards.c.message_ts.is_not(None) & ~cards.c.is_lost & (cards.c.wanted > cards.c.shown)
partial_index("ix_cards_due", cards.c.due_at, where=TO_EDIT)
UNPOSTED = cards.c.message_ts.is_(None) & ~cards.c.is_lost
partial_index("ix_cards_unposted", cards.c.card_id, where=UNPOSTED)
