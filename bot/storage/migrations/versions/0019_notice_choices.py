"""Which mentions and direct messages people have switched on or off.

Only a new table: programs of revision 0018 run on beside this one, and tell everybody everything.
"""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "notice_choices",
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("notice", sa.Text, nullable=False),
        sa.Column("is_on", sa.Boolean, nullable=False),
        sa.Column("chosen_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("user_id", "notice", name="pk_notice_choices"),
    )
