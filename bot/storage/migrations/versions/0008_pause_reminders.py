"""Reminders of pauses that go on.

Nothing of revision 0007 is touched.
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "pause_reminders",
        sa.Column("pause_id", sa.BigInteger, autoincrement=False, nullable=False),
        sa.Column("next_at", sa.BigInteger, nullable=False),
        sa.Column("sent", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("pause_id", name="pk_pause_reminders"),
    )
