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
)
"""A released lease stays as an expired row: a token that was given out never comes back."""

workers = Table(
    "workers",
    metadata,
    Column("holder", Text, primary_key=True),
    Column("alive_until", UtcTime, nullable=False),
)
"""The processes that share the repositories out."""

clock_jumps = Table(
    "clock_jumps",
    metadata,
    Column("at", UtcTime, primary_key=True),
    Column("seconds", BigInteger, nullable=False),
)
"""When a process's clock was set ahead, or back (negative): for `mqbot check`."""

slack_limits = Table(
    "slack_limits",
    metadata,
    Column("method", Text, primary_key=True),
    Column("closed_until", UtcTime, nullable=False),
    Column("met_at", UtcTime),
)
"""Methods that Slack has closed to the app for its rate, some for one channel only.

Both times are the database's own. Programs before revision 0024 stored none in `met_at`.
"""
