"""What processes share: who is alive, who does what, and which methods Slack has closed."""

from sqlalchemy import BigInteger, Column, Table, Text

from bot.storage.column_types import UtcTime
from bot.storage.tables.schema import metadata

leases = Table(
    "leases",
    metadata,
    Column("name", Text, primary_key=True),
    Column("holder", Text, nullable=False),
    Column("token", BigInteger, nullable=False),
    Column("expires_at", UtcTime, nullable=False),
    comment="One piece of work that one process at a time may do, and which one does it.",
)
"""A released lease stays as an expired row: a token that was given out never comes back."""

workers = Table(
    "workers",
    metadata,
    Column("holder", Text, primary_key=True),
    Column("alive_until", UtcTime, nullable=False),
    comment="One process that takes its share of the repositories.",
)
clock_jumps = Table(
    "clock_jumps",
    metadata,
    Column("at", UtcTime, primary_key=True, autoincrement=False),
    Column("seconds", BigInteger, nullable=False),
    comment="One jump of a process's clock, ahead or back (negative), for mqbot check.",
)
slack_limits = Table(
    "slack_limits",
    metadata,
    Column("method", Text, primary_key=True),
    Column("closed_until", UtcTime, nullable=False),
    Column("met_at", UtcTime, nullable=False),
    comment="One method, or one method in one channel, that Slack closed for its rate.",
)
"""Both times are the database's own."""
