"""Which methods of Slack are closed for a while.

Only a new table: programs of revision 0017 run on beside this one, and wait each for themselves.
"""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "slack_limits",
        sa.Column("method", sa.Text, nullable=False),
        sa.Column("closed_until", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("method", name="pk_slack_limits"),
    )
