"""The table of storms."""

import sqlalchemy as sa

from bot.store.schema import (
    Repository,
    UtcTime,
    as_text,
    key,
    optional,
    partial_index,
    required,
    table,
)
from bot.storms.storm import StormEnd

storms = table(
    "storms",
    "Many failures of one branch at once, which one message counts.",
    *key(Repository, "repository"),
    *key(sa.Text, "key"),
    *required(UtcTime, "began_at", "last_at"),
    *optional(UtcTime, "ended_at"),
    *optional(as_text(StormEnd), "ending"),
    *optional(sa.Text, "branch"),
    sa.Index(None, "repository", "last_at"),
    sa.Index(None, "last_at"),
)
"""The key is that of the `LiveSubject` shown by its live messages."""

LASTS = storms.c.ended_at.is_(None)
partial_index(storms.c.repository, where=LASTS)
