"""Bisections of batches.

Only a new table: programs of revision 0016 run on beside this one, and tell bisections in posts.
"""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "bisections",
        sa.Column("repository", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("batch_id", sa.Text),
        sa.Column("pull_requests", sa.Text, nullable=False),
        sa.Column("last_at", sa.BigInteger, nullable=False),
        sa.Column("latest_event_id", sa.BigInteger, nullable=False),
        sa.Column("ended_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("repository", "key", name="pk_bisections"),
    )
    op.create_index("ix_bisections_last_at", "bisections", ["last_at"])
    op.create_index("ix_bisections_of", "bisections", ["repository", "last_at"])
