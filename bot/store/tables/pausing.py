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
    text,
)

from bot.domain.audit import Action, Origin
from bot.domain.pause_records import PauseEnding, TimerState
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
    Column("ended_at", UtcTime),
    Column("ended_by_id", Text),
    Column("ended_by_name", OutsideText),
    Column("ending", Word(PauseEnding)),
    Column("end_told", Boolean, nullable=False),
    Column("group_act_id", BigInteger, nullable=False),
    UniqueConstraint("repository", "paused_at", name="uq_pauses_paused_at"),
    CheckConstraint("(ended_at IS NULL) = (ending IS NULL)", name="ended_somehow"),
    sqlite_autoincrement=True,
    comment="One pause of one repository's queue, in force or over.",
)
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
    Column("told_together", SortedSet, nullable=False),
    Column("results", CompactJson, nullable=False),
    Column("ended_at", UtcTime),
    Column("lifts_at", UtcTime),
    Index("ix_group_acts_latest", "group", "group_act_id"),
    sqlite_autoincrement=True,
    comment="One pause or resume that a person asked for on a group of repositories.",
)

group_pauses = Table(
    "group_pauses",
    metadata,
    Column("group", Text, primary_key=True),
    Column("repository", Repository, primary_key=True),
    Column("group_act_id", BigInteger, nullable=False),
    Column("stored_reason", OutsideText, nullable=False),
    Column("started_at", UtcTime, nullable=False),
    Column("paused_at", UtcTime),
    comment="One repository that the bot paused for a group and has not resumed for it.",
)
"""`paused_at` is None while the service's answer is not known.

Apart from the pauses, since it is stored before the bot pauses anything, and from the acts, since
a later act lets go of what another act holds.
"""

pause_timers = Table(
    "pause_timers",
    metadata,
    Column("repository", Repository, primary_key=True),
    Column("paused_at", UtcTime, primary_key=True),
    Column("lifts_at", UtcTime, nullable=False),
    Column("due_at", UtcTime, nullable=False),
    Column("set_by", Text, nullable=False),
    Column("set_by_name", OutsideText, nullable=False),
    Column("channel_id", Text),
    Column("state", Word(TimerState), nullable=False),
    Column("failures", Integer, nullable=False),
    comment="The time at which one pause ends by itself.",
)
partial_index(
    "ix_pause_timers_due",
    pause_timers.c.due_at,
    where=text("state = 'running'"),
)
"""Apart from the pauses: a timer is set with the end of the person's act, before the pause that
was made has a row.
"""

pause_reminders = Table(
    "pause_reminders",
    metadata,
    Column("pause_id", BigInteger, primary_key=True, autoincrement=False),
    Column("next_at", UtcTime, nullable=False),
    Column("sent", Integer, nullable=False),
    comment="The next reminder that one pause is still in force.",
)
"""Apart from the pauses: one transaction locks the plans of all pauses in force, and holds none of
the pauses. In one row with them it and whoever ends a pause could wait for each other.
"""
