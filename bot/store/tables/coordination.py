"""What processes share: who is alive, who does what, and what holds for a while."""

from enum import StrEnum

from sqlalchemy import BigInteger, Column, Index, Table, Text, literal_column

from bot.domain.leases import WORKER_LEASES
from bot.store.column_types import UtcTime, Word
from bot.store.tables.schema import metadata, partial_index


class KeyKind(StrEnum):
    """What a key stands for."""

    REQUEST = "request"
    LIMIT = "limit"
    JUMP = "jump"


leases = Table(
    "leases",
    metadata,
    Column("name", Text, primary_key=True),
    Column("holder", Text, nullable=False),
    Column("token", BigInteger, nullable=False),
    Column("expires_at", UtcTime, nullable=False),
    comment="One thing that one process has for a time: work, or its presence as a worker.",
)
"""A released lease stays as an expired row: a token that was given out never comes back.

The presence of a worker is required by nobody, and deleted when it has expired.
"""
PRESENT = leases.c.name.like(literal_column(f"'{WORKER_LEASES}%'"))
"""Written out, and not a parameter, or no database sees that the index has these rows."""
partial_index("ix_leases_workers", leases.c.expires_at, where=PRESENT)

expiring_keys = Table(
    "expiring_keys",
    metadata,
    Column("kind", Word(KeyKind), primary_key=True),
    Column("key", Text, primary_key=True),
    Column("until", UtcTime, nullable=False),
    Column("value", BigInteger),
    Index("ix_expiring_keys_until", "kind", "until"),
    comment="One thing that is remembered until a time: a request of Slack's, that it closed a "
    "method or a channel, or that a clock jumped.",
)
"""`value` of a limit is when it was met, and of a jump its seconds, negative when back.

Both times of a limit are the database's own. A jump, whose key is its time, is shown by
`mqbot check`.
"""
