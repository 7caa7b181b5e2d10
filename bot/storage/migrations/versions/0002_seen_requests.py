"""Requests of Slack that were acted upon, so that no machine acts upon one again.

Nothing of revision 0001 is touched: programs of that revision run on beside this one.
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "seen_requests",
        sa.Column("request_key", sa.Text, nullable=False),
        sa.Column("until", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("request_key", name="pk_seen_requests"),
    )
    op.create_index("ix_seen_requests_until", "seen_requests", ["until"])
