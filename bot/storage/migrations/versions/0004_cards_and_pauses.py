"""Messages that are edited, pauses from their beginning to their end, and who waits for it.

Nothing of revision 0003 is touched.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_TO_EDIT = "message_ts IS NOT NULL AND {} AND wanted > shown"
_OPEN = "ended_at IS NULL"


def upgrade() -> None:
    _create_cards()
    _create_pauses()
    op.create_table(
        "resume_watchers",
        sa.Column("pause_id", sa.BigInteger, nullable=False),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("pause_id", "user_id", name="pk_resume_watchers"),
        sa.ForeignKeyConstraint(
            ["pause_id"], ["pauses.pause_id"], name="fk_resume_watchers_pause_id"
        ),
    )


def _create_cards() -> None:
    op.create_table(
        "cards",
        sa.Column("card_id", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("repository", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("channel_id", sa.Text, nullable=False),
        sa.Column("generation", sa.Integer, nullable=False),
        sa.Column("message_ts", sa.Text),
        sa.Column("wanted", sa.Integer, nullable=False),
        sa.Column("shown", sa.Integer, nullable=False),
        sa.Column("due_at", sa.BigInteger, nullable=False),
        sa.Column("failures", sa.Integer, nullable=False),
        sa.Column("closed", sa.Boolean, nullable=False),
        sa.Column("is_lost", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("changed_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("card_id", name="pk_cards"),
        sa.UniqueConstraint(
            "kind", "repository", "key", "channel_id", "generation", name="uq_cards_generation"
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_cards_changed_at", "cards", ["changed_at"])
    _partial_index(
        "ix_cards_due",
        "cards",
        "due_at",
        sqlite=_TO_EDIT.format("is_lost = 0"),
        postgresql=_TO_EDIT.format("NOT is_lost"),
    )


def _create_pauses() -> None:
    op.create_table(
        "pauses",
        sa.Column("pause_id", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("repository", sa.Text, nullable=False),
        sa.Column("paused_at", sa.BigInteger, nullable=False),
        sa.Column("is_exact", sa.Boolean, nullable=False),
        sa.Column("stored_reason", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("by_id", sa.Text),
        sa.Column("by_name", sa.Text),
        sa.Column("event_id", sa.BigInteger),
        sa.Column("previous_reason", sa.Text),
        sa.Column("queued_at_start", sa.Integer),
        sa.Column("queued_now", sa.Integer),
        sa.Column("joined", sa.Text, nullable=False),
        sa.Column("ended_at", sa.BigInteger),
        sa.Column("ended_by_id", sa.Text),
        sa.Column("ended_by_name", sa.Text),
        sa.Column("ending", sa.Text),
        sa.Column("end_told", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("pause_id", name="pk_pauses"),
        sa.UniqueConstraint("repository", "paused_at", name="uq_pauses_paused_at"),
        sa.CheckConstraint(
            "(ended_at IS NULL) = (ending IS NULL)", name=op.f("ck_pauses_ended_somehow")
        ),
        sqlite_autoincrement=True,
    )
    _partial_index("ix_pauses_open", "pauses", "repository", sqlite=_OPEN, postgresql=_OPEN)
    _partial_index(
        "ix_pauses_untold",
        "pauses",
        "ended_at",
        sqlite="end_told = 0",
        postgresql="NOT end_told",
    )
    op.create_index("ix_pauses_ended_at", "pauses", ["ended_at"])


def _partial_index(name: str, table: str, column: str, *, sqlite: str, postgresql: str) -> None:
    """SQLite keeps a boolean as a number, which its planner knows again only as one."""
    op.create_index(
        name,
        table,
        [column],
        sqlite_where=sa.text(sqlite),
        postgresql_where=sa.text(postgresql),
    )
