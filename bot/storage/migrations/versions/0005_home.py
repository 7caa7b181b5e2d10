"""When each event log was read last, and which login of the code host a person has.

Nothing of earlier revisions is touched: programs of those run on beside this one.
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "polls",
        sa.Column("repository", sa.Text, nullable=False),
        sa.Column("polled_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("repository", name="pk_polls"),
    )
    op.create_table(
        "accounts",
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("login", sa.Text, nullable=False),
        sa.Column("linked_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("user_id", name="pk_accounts"),
    )
    op.create_index("ix_accounts_login", "accounts", ["login"])
