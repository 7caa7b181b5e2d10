"""Alerts about queues, and failures in a row.

Only new tables: programs of revision 0015 run on beside this one.
"""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "alerts",
        sa.Column("alert_id", _NUMBER, nullable=False),
        sa.Column("repository", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("value", sa.BigInteger, nullable=False),
        sa.Column("threshold", sa.BigInteger, nullable=False),
        sa.Column("began_at", sa.BigInteger, nullable=False),
        sa.Column("pull_request", sa.BigInteger),
        sa.Column("batch", sa.Text),
        sa.Column("ended_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("alert_id", name="pk_alerts"),
        sqlite_autoincrement=True,
    )
    active = sa.text("ended_at IS NULL")
    op.create_index(
        "uq_alerts_active",
        "alerts",
        ["repository", "kind"],
        unique=True,
        sqlite_where=active,
        postgresql_where=active,
    )
    op.create_table(
        "failure_streaks",
        sa.Column("repository", sa.Text, nullable=False),
        sa.Column("failures", sa.BigInteger, nullable=False),
        sa.Column("pull_request", sa.BigInteger),
        sa.PrimaryKeyConstraint("repository", name="pk_failure_streaks"),
    )
