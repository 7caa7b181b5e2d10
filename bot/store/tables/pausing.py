"""Pauses, and what is kept for as long as they go on."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
)

from bot.domain.audit import Action, Origin
from bot.domain.pause_records import PauseEnding
from bot.store.column_types import (
    CompactJson,
    OutsideText,
    Repository,
    SortedSet,
    UtcTime,
    Word,
)
from bot.store.tables.schema import RowNumber, metadata, partial_index

pauses = Table(
    "pauses",
    metadata,
    Column("pause_id", RowNumber, primary_key=True),
    Column("repository", Repository, nullable=False),
    Column("paused_at", UtcTime, nullable=False),
    Column("is_exact", Boolean, nullable=False),
    Column("stored_reason", OutsideText, nullable=False),
    Column("reason", OutsideText, nullable=False),
    Column("by_id", Text),
    Column("by_name", OutsideText),
    Column("event_id", BigInteger),
    Column("previous_reason", OutsideText),
    Column("queued_at_start", Integer),
    Column("queued_now", Integer),
    Column("joined", SortedSet, nullable=False),
    Column("stopped", SortedSet, nullable=False),
    Column("ended_at", UtcTime),
    Column("ended_by_id", Text),
    Column("ended_by_name", OutsideText),
    Column("ending", Word(PauseEnding)),
    Column("end_told", Boolean, nullable=False),
    Column("group_act_id", BigInteger, nullable=False),
    Column("lifts_at", UtcTime),
    Column("due_at", UtcTime),
    Column("end_set_by_id", Text),
    Column("end_set_by_name", OutsideText),
    Column("channel_id", Text),
    Column("end_set_for", OutsideText),
    Column("failures", Integer, nullable=False),
    Column("reminder_at", UtcTime),
    Column("reminders_sent", Integer, nullable=False),
    UniqueConstraint("repository", "paused_at", name="uq_pauses_paused_at"),
    CheckConstraint("(ended_at IS NULL) = (ending IS NULL)", name="ended_somehow"),
    sqlite_autoincrement=True,
    comment="One pause of one repository's queue, in force or over, with its timer.",
)
"""Who changes a pause holds its repository, and the repositories of several in their order.

`lifts_at` is when it ends by itself, `due_at` when that is tried next; `channel_id` is where that
was asked for, `end_set_for` the reason that the service held then.
"""
partial_index(
    "ix_pauses_open",
    pauses.c.repository,
    where=pauses.c.ended_at.is_(None),
)
partial_index(
    "ix_pauses_untold",
    pauses.c.ended_at,
    where=~pauses.c.end_told,
)
partial_index(
    "ix_pauses_due",
    pauses.c.due_at,
    where=pauses.c.due_at.is_not(None),
)
Index("ix_pauses_ended_at", pauses.c.ended_at)

resume_watchers = Table(
    "resume_watchers",
    metadata,
    Column("pause_id", BigInteger, ForeignKey("pauses.pause_id"), primary_key=True),
    Column("user_id", Text, primary_key=True),
    comment="One person to notify, once, when one pause ends.",
)
group_acts = Table(
    "group_acts",
    metadata,
    Column("group_act_id", RowNumber, primary_key=True),
    Column("group", Text, nullable=False),
    Column("action", Word(Action), nullable=False),
    Column("at", UtcTime, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("user_name", OutsideText, nullable=False),
    Column("team_id", Text),
    Column("origin", Word(Origin), nullable=False),
    Column("repositories", CompactJson, nullable=False),
    Column("channel_id", Text),
    Column("asked", OutsideText, nullable=False),
    Column("notified_together", SortedSet, nullable=False),
    Column("results", CompactJson, nullable=False),
    Column("ended_at", UtcTime),
    Column("lifts_at", UtcTime),
    Index("ix_group_acts_latest", "group", "group_act_id"),
    sqlite_autoincrement=True,
    comment="One pause or resume that a person asked for on a group of repositories.",
)
