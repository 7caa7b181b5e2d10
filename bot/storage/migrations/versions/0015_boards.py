"""Boards, and what they say of each repository.

Only new tables: programs of revision 0014 run on beside this one.
"""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "boards",
        sa.Column("board_id", _NUMBER, nullable=False),
        sa.Column("channel_id", sa.Text, nullable=False),
        sa.Column("repository", sa.Text, nullable=False),
        sa.Column("made_by", sa.Text, nullable=False),
        sa.Column("made_at", sa.BigInteger, nullable=False),
        sa.Column("ended_at", sa.BigInteger),
        sa.Column("ended_by", sa.Text),
        sa.PrimaryKeyConstraint("board_id", name="pk_boards"),
        sqlite_autoincrement=True,
    )
    kept, ended = sa.text("ended_at IS NULL"), sa.text("ended_at IS NOT NULL")
    op.create_index(
        "uq_boards_kept",
        "boards",
        ["repository", "channel_id"],
        unique=True,
        sqlite_where=kept,
        postgresql_where=kept,
    )
    op.create_index(
        "ix_boards_ended_at",
        "boards",
        ["ended_at"],
        sqlite_where=ended,
        postgresql_where=ended,
    )
    op.create_table(
        "board_sights",
        sa.Column("repository", sa.Text, nullable=False),
        sa.Column("picture", sa.Text, nullable=False),
        sa.Column("read_at", sa.BigInteger, nullable=False),
        sa.Column("outage", sa.Text),
        sa.Column("out_since", sa.BigInteger),
        sa.PrimaryKeyConstraint("repository", name="pk_board_sights"),
    )
