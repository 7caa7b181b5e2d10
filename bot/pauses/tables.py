"""Tables of pauses."""

import sqlalchemy as sa

from bot.kernel.actor import Actor
from bot.pauses.pause import PauseEnding, ReminderPlan, Timer
from bot.store.schema import (
    OutsideText,
    Repository,
    SortedSet,
    UtcTime,
    as_json,
    as_text,
    key,
    optional,
    partial_index,
    required,
    row_number,
    table,
)

pauses = table(
    "pauses",
    "One continuous time in which one queue is paused, in force or over, with its timer.",
    row_number("pause_id"),
    *required(Repository, "repository"),
    *required(UtcTime, "paused_at"),
    *required(OutsideText, "stored_reason", "reason"),
    *optional(OutsideText, "previous_reason"),
    *optional(as_json(Actor), "by", "taken_over_by", "ended_by", "told_end_by"),
    *optional(UtcTime, "taken_over_at"),
    *optional(sa.BigInteger, "event_id", "queued_at_start", "queued_now"),
    *required(SortedSet, "waited", "stopped"),
    *optional(UtcTime, "ended_at"),
    *optional(as_text(PauseEnding), "ending"),
    *optional(sa.BigInteger, "end_id"),
    *required(sa.Boolean, "end_notified"),
    *required(sa.BigInteger, "group_act_id"),
    *optional(as_json(Timer), "timer"),
    *optional(UtcTime, "timer_due_at"),
    *optional(as_json(ReminderPlan), "reminders"),
    *optional(UtcTime, "began_at", "seen_at", "missing_since", "end_seen_at", "told_end_at"),
    sa.UniqueConstraint("repository", "paused_at", name="uq_pauses_paused_at"),
    sa.CheckConstraint("(ended_at IS NULL) = (ending IS NULL)", name="ended_somehow"),
)
"""To change a pause, lock its repository first; lock several repositories in their order.

`timer_due_at` is that of the timer.
"""


IN_FORCE = pauses.c.ended_at.is_(None)


TIMED = pauses.c.timer_due_at.is_not(None)


OF_AN_ACT = pauses.c.group_act_id != 0
"""The acts on groups have numbers from 1 on."""

partial_index(pauses.c.repository, unique=True, where=IN_FORCE)
partial_index(pauses.c.timer_due_at, where=TIMED)
partial_index(pauses.c.ended_at, pauses.c.pause_id, where=~pauses.c.end_notified)
sa.Index(None, pauses.c.ended_at)
partial_index(pauses.c.group_act_id, where=OF_AN_ACT)


pause_lines = table(
    "pause_lines",
    "What one pause said before its reason was changed, and who said it.",
    row_number("line_id"),
    sa.Column("pause_id", sa.BigInteger, sa.ForeignKey("pauses.pause_id"), nullable=False),
    *required(UtcTime, "paused_at"),
    *required(OutsideText, "stored_reason", "reason"),
    *optional(as_json(Actor), "by", "taken_over_by"),
    *optional(sa.BigInteger, "event_id"),
    *required(sa.BigInteger, "group_act_id"),
    sa.Index(None, "pause_id"),
)


pause_ends = table(
    "pause_ends",
    "One end of one pause, true or false, which its posts are about.",
    row_number("end_id"),
    sa.Column("pause_id", sa.BigInteger, sa.ForeignKey("pauses.pause_id"), nullable=False),
    *required(UtcTime, "ended_at"),
    *optional(as_json(Actor), "ended_by"),
    *required(as_text(PauseEnding), "ending"),
    sa.Index(None, "pause_id"),
)


resume_watchers = table(
    "resume_watchers",
    "One person to notify, once, when one pause ends.",
    sa.Column("pause_id", sa.BigInteger, sa.ForeignKey("pauses.pause_id"), primary_key=True),
    *key(sa.Text, "user_id"),
)
