"""Pauses that lift themselves.

`audit.lifts_at` is NULL for all that was recorded before: programs of revision 0006 run on.
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_RUNNING = "state = 'running'"


def upgrade() -> None:
    op.add_column("audit", sa.Column("lifts_at", sa.BigInteger))
    op.create_table(
        "pause_timers",
        sa.Column("repository", sa.Text, nullable=False),
        sa.Column("paused_at", sa.BigInteger, nullable=False),
        sa.Column("lifts_at", sa.BigInteger, nullable=False),
        sa.Column("due_at", sa.BigInteger, nullable=False),
        sa.Column("set_by", sa.Text, nullable=False),
        sa.Column("set_by_name", sa.Text, nullable=False),
        sa.Column("channel_id", sa.Text),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("failures", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("repository", "paused_at", name="pk_pause_timers"),
    )
    op.create_index(
        "ix_pause_timers_due",
        "pause_timers",
        ["due_at"],
        sqlite_where=sa.text(_RUNNING),
        postgresql_where=sa.text(_RUNNING),
    )
