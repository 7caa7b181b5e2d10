"""Stays in the queue, and deliveries that are told in the thread of a card.

What programs of revision 0012 add is told in the channel itself: they run on beside this one.
"""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("deliveries", sa.Column("card_id", sa.BigInteger))
    op.create_table(
        "stays",
        sa.Column("repository", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("pull_request", sa.BigInteger, nullable=False),
        sa.Column("session_id", sa.Text),
        sa.Column("began_at", sa.BigInteger, nullable=False),
        sa.Column("last_at", sa.BigInteger, nullable=False),
        sa.Column("entered", sa.Boolean, nullable=False),
        sa.Column("ended_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("repository", "key", name="pk_stays"),
    )
    op.create_index("ix_stays_pull_request", "stays", ["repository", "pull_request"])
    op.create_index("ix_stays_last_at", "stays", ["last_at"])
    op.create_index(
        "ix_cards_unposted",
        "cards",
        ["card_id"],
        sqlite_where=sa.text("message_ts IS NULL AND is_lost = 0"),
        postgresql_where=sa.text("message_ts IS NULL AND NOT is_lost"),
    )
