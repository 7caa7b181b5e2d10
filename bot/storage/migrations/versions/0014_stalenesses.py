"""Event logs that are not read any more.

Only a new table: programs of revision 0013 run on beside this one.
"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "stalenesses",
        sa.Column("staleness_id", _NUMBER, nullable=False),
        sa.Column("repositories", sa.Text, nullable=False),
        sa.Column("since", sa.BigInteger, nullable=False),
        sa.Column("ended_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("staleness_id", name="pk_stalenesses"),
        sqlite_autoincrement=True,
    )
    active = sa.text("ended_at IS NULL")
    op.create_index(
        "ix_stalenesses_active",
        "stalenesses",
        ["staleness_id"],
        sqlite_where=active,
        postgresql_where=active,
    )
