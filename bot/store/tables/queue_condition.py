"""What is known of the condition of queues."""

from sqlalchemy import BigInteger, Column, Table

from bot.domain.alerts import AlertKind
from bot.store.column_types import OutsideText, Repository, UtcTime, Word
from bot.store.tables.schema import RowNumber, metadata, partial_index

alerts = Table(
    "alerts",
    metadata,
    Column("alert_id", RowNumber, primary_key=True),
    Column("repository", Repository, nullable=False),
    Column("kind", Word(AlertKind), nullable=False),
    Column("value", BigInteger, nullable=False),
    Column("threshold", BigInteger, nullable=False),
    Column("began_at", UtcTime, nullable=False),
    Column("pull_request", BigInteger),
    Column("batch", OutsideText),
    Column("ended_at", UtcTime),
    sqlite_autoincrement=True,
    comment="One warning about one queue, active or over.",
)
partial_index(
    "uq_alerts_active",
    alerts.c.repository,
    alerts.c.kind,
    unique=True,
    where=alerts.c.ended_at.is_(None),
)
