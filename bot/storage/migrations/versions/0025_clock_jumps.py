"""Jumps of a process's clock, for `mqbot check`.

Only a new table: programs of revision 0024 run on beside this one.
"""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "clock_jumps",
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("seconds", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("at", name="pk_clock_jumps"),
    )
