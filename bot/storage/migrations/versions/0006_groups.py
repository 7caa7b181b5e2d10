"""Acts on groups of repositories, and what is held paused for a group.

Programs of revision 0005 run on beside this one: they act on no groups.
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "group_acts",
        sa.Column(
            "group_act_id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), nullable=False
        ),
        sa.Column("group", sa.Text, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("user_name", sa.Text, nullable=False),
        sa.Column("team_id", sa.Text),
        sa.Column("origin", sa.Text, nullable=False),
        sa.Column("repositories", sa.Text, nullable=False),
        sa.Column("channel_id", sa.Text),
        sa.Column("asked", sa.Text, nullable=False),
        sa.Column("told_together", sa.Text, nullable=False),
        sa.Column("results", sa.Text, nullable=False),
        sa.Column("ended_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("group_act_id", name="pk_group_acts"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_group_acts_latest", "group_acts", ["group", "group_act_id"])
    op.create_table(
        "group_pauses",
        sa.Column("group", sa.Text, nullable=False),
        sa.Column("repository", sa.Text, nullable=False),
        sa.Column("group_act_id", sa.BigInteger, nullable=False),
        sa.Column("stored_reason", sa.Text, nullable=False),
        sa.Column("started_at", sa.BigInteger, nullable=False),
        sa.Column("paused_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("group", "repository", name="pk_group_pauses"),
    )
    op.add_column(
        "audit", sa.Column("group_act_id", sa.BigInteger, nullable=False, server_default="0")
    )
    op.add_column("audit", sa.Column("group", sa.Text))
