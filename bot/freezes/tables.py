"""The tables of freezes, and of the occurrences of recurring windows."""

import sqlalchemy as sa

from bot.freezes.freeze import Stage
from bot.freezes.windows import OccurrenceState
from bot.merge_queue.event_records import FreezeAttributes
from bot.store.schema import (
    OutsideText,
    Repository,
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

freezes = table(
    "freezes",
    "One scheduled freeze: planned, in force or over.",
    row_number("row_id"),
    *required(Repository, "repository"),
    *optional(sa.Text, "freeze_id"),
    *required(sa.BigInteger, "first_id", "set_id", "group_act_id"),
    *required(UtcTime, "set_at"),
    *required(as_json(FreezeAttributes), "terms"),
    *required(as_text(Stage), "stage"),
    *optional(as_json(FreezeAttributes), "before"),
    *optional(UtcTime, "begins_at", "ends_at", "over_at", "due_at"),
    *optional(OutsideText, "by", "removed_by", "removed_for"),
    *optional(sa.BigInteger, "queued"),
    sa.Index(None, "repository", "set_id"),
)
"""`freeze_id`: the service's, which identifies it once the service's list has shown it.

`due_at`: when its next stage begins.
"""
NOT_OVER = freezes.c.over_at.is_(None)


MADE_FOR_A_GROUP = freezes.c.group_act_id != 0
"""The acts on groups have numbers from 1 on."""

partial_index(freezes.c.repository, where=NOT_OVER)
partial_index(freezes.c.due_at, where=freezes.c.due_at.is_not(None))
partial_index(freezes.c.group_act_id, where=MADE_FOR_A_GROUP)
partial_index(
    freezes.c.repository,
    freezes.c.freeze_id,
    unique=True,
    where=freezes.c.freeze_id.is_not(None),
)


window_occurrences = table(
    "window_occurrences",
    "One time that a recurring window comes to one repository, and what became of it.",
    *key(Repository, "repository"),
    *key(sa.Text, "window"),
    *key(UtcTime, "begins_at"),
    *required(UtcTime, "ends_at"),
    *required(as_text(OccurrenceState), "state"),
    *required(sa.BigInteger, "act_id"),
    *optional(sa.Text, "freeze_id"),
    *required(sa.Boolean, "is_failure_posted"),
    sa.Index(None, "ends_at"),
)
