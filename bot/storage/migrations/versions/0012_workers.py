"""Which processes share the repositories out.

A program of revision 0011 shares with nobody: what it holds it keeps until it is stopped.
"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "workers",
        sa.Column("holder", sa.Text, nullable=False),
        sa.Column("alive_until", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("holder", name="pk_workers"),
    )
