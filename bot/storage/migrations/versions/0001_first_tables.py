"""The first tables.

Column types are written out: a revision stays what it was when the program's types change.
Times are whole microseconds since 1970 in UTC.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_SETTLED = "settled_at IS NOT NULL"
_TOLD = "told_by IS NOT NULL"
_UNSETTLED = "settled_at IS NULL"


def upgrade() -> None:
    _create_event_tables()
    _create_outbox_tables()
    _create_subscriptions()
    _create_audit()


def _create_event_tables() -> None:
    op.create_table(
        "leases",
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("holder", sa.Text, nullable=False),
        sa.Column("token", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_leases"),
    )
    op.create_table(
        "positions",
        sa.Column("repository", sa.Text, nullable=False),
        sa.Column("origin", sa.BigInteger, nullable=False),
        sa.Column("watermark", sa.BigInteger, nullable=False),
        sa.Column("walk_received_from", sa.BigInteger),
        sa.Column("walk_received_to", sa.BigInteger),
        sa.Column("walk_cursor", sa.Text),
        sa.Column("walk_newest", sa.BigInteger),
        sa.PrimaryKeyConstraint("repository", name="pk_positions"),
        sa.CheckConstraint(
            "(walk_received_from IS NULL) = (walk_received_to IS NULL)",
            name=op.f("ck_positions_walk_has_both_bounds"),
        ),
    )
    op.create_table(
        "events",
        sa.Column("repository", sa.Text, nullable=False),
        sa.Column("event_id", sa.BigInteger, autoincrement=False, nullable=False),
        sa.Column("received_at", sa.BigInteger, nullable=False),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("pull_request", sa.BigInteger),
        sa.Column("base_ref", sa.Text),
        sa.Column("session_id", sa.Text),
        sa.Column("details", sa.Text, nullable=False),
        sa.Column("routed", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.PrimaryKeyConstraint("repository", "event_id", name="pk_events"),
    )
    op.create_index("ix_events_received_at", "events", ["received_at"])
    op.create_index(
        "ix_events_unrouted",
        "events",
        ["repository", "received_at", "event_id"],
        sqlite_where=sa.text("routed = 0"),
        postgresql_where=sa.text("NOT routed"),
    )
    op.create_table(
        "pull_requests",
        sa.Column("repository", sa.Text, nullable=False),
        sa.Column("number", sa.BigInteger, autoincrement=False, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("author", sa.Text, nullable=False),
        sa.Column("seen_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("repository", "number", name="pk_pull_requests"),
    )
    op.create_index("ix_pull_requests_seen_at", "pull_requests", ["seen_at"])


def _create_outbox_tables() -> None:
    op.create_table(
        "destinations",
        sa.Column("line", sa.Text, nullable=False),
        sa.Column("next_sequence", sa.BigInteger, nullable=False),
        sa.Column("head_sequence", sa.BigInteger, nullable=False),
        sa.Column("claimable_at", sa.BigInteger),
        sa.Column("parked_code", sa.Text),
        sa.Column("parked_at", sa.BigInteger),
        sa.Column("retry_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("line", name="pk_destinations"),
        sa.CheckConstraint(
            "(parked_at IS NULL) = (retry_at IS NULL) "
            "AND (parked_at IS NULL) = (parked_code IS NULL)",
            name=op.f("ck_destinations_parked_whole"),
        ),
    )
    op.create_index("ix_destinations_claimable", "destinations", ["claimable_at", "line"])
    op.create_table(
        "deliveries",
        sa.Column("delivery_id", sa.Text, nullable=False),
        sa.Column("channel_id", sa.Text, nullable=False),
        sa.Column("line", sa.Text, nullable=False),
        sa.Column("sequence", sa.BigInteger, nullable=False),
        sa.Column("subject_kind", sa.Text, nullable=False),
        sa.Column("repository", sa.Text, nullable=False),
        sa.Column("subject_id", sa.BigInteger, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("due_at", sa.BigInteger, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("attempted_at", sa.BigInteger),
        sa.Column("looks", sa.Integer, nullable=False),
        sa.Column("message_ts", sa.Text),
        sa.Column("error", sa.Text),
        sa.Column("settled_at", sa.BigInteger),
        sa.Column("failures", sa.Integer, nullable=False, server_default="0"),
        sa.Column("kind", sa.Text),
        sa.Column("folded", sa.Integer, nullable=False, server_default="0"),
        sa.Column("told_by", sa.Text),
        sa.PrimaryKeyConstraint("delivery_id", name="pk_deliveries"),
        sa.ForeignKeyConstraint(["line"], ["destinations.line"], name="fk_deliveries_line"),
        sa.UniqueConstraint("line", "sequence", name="uq_deliveries_line_sequence"),
        sa.UniqueConstraint(
            "subject_kind", "repository", "subject_id", "channel_id", name="uq_deliveries_subject"
        ),
        sa.CheckConstraint(
            "(settled_at IS NOT NULL) = (state IN ('delivered', 'failed', 'folded'))",
            name=op.f("ck_deliveries_settled_has_time"),
        ),
    )
    op.create_index(
        "ix_deliveries_told_by",
        "deliveries",
        ["told_by"],
        sqlite_where=sa.text(_TOLD),
        postgresql_where=sa.text(_TOLD),
    )
    op.create_index(
        "ix_deliveries_unsettled",
        "deliveries",
        ["state", "created_at"],
        sqlite_where=sa.text(_UNSETTLED),
        postgresql_where=sa.text(_UNSETTLED),
    )
    op.create_index(
        "ix_deliveries_settled_at",
        "deliveries",
        ["settled_at"],
        sqlite_where=sa.text(_SETTLED),
        postgresql_where=sa.text(_SETTLED),
    )


def _create_subscriptions() -> None:
    op.create_table(
        "subscriptions",
        sa.Column("channel_id", sa.Text, nullable=False),
        sa.Column("repository", sa.Text, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("topics", sa.Text, nullable=False),
        sa.Column("branch", sa.Text),
        sa.Column("except_logins", sa.Text, nullable=False),
        sa.Column("created_by", sa.Text),
        sa.Column("created_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("channel_id", "repository", "source", name="pk_subscriptions"),
    )
    op.create_index("ix_subscriptions_repository", "subscriptions", ["repository"])


def _create_audit() -> None:
    op.create_table(
        "audit",
        sa.Column(
            "record_id",
            sa.BigInteger().with_variant(sa.Integer, "sqlite"),
            autoincrement=True,
            nullable=False,
        ),
        sa.Column("act_id", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("user_name", sa.Text, nullable=False),
        sa.Column("team_id", sa.Text),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("origin", sa.Text, nullable=False),
        sa.Column("repository", sa.Text, nullable=False),
        sa.Column("result", sa.Text, nullable=False),
        sa.Column("channel_id", sa.Text),
        sa.Column("reason", sa.Text),
        sa.Column("stored_reason", sa.Text),
        sa.Column("paused_at", sa.BigInteger),
        sa.Column("previous_reason", sa.Text),
        sa.Column("previous_paused_at", sa.BigInteger),
        sa.Column("detail", sa.Text),
        sa.PrimaryKeyConstraint("record_id", name="pk_audit"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_audit_latest", "audit", ["repository", "action", "result", "at"])
    op.create_index("ix_audit_repository_at", "audit", ["repository", "at"])
    _refuse_changes_of_audit()


def _refuse_changes_of_audit() -> None:
    if op.get_bind().dialect.name == "sqlite":
        for act in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER audit_refuses_{act.lower()} BEFORE {act} ON audit "
                "BEGIN SELECT RAISE(ABORT, 'audit records are only ever added'); END"
            )
        return
    op.execute(
        "CREATE FUNCTION audit_refuses_change() RETURNS trigger LANGUAGE plpgsql AS $$ "
        "BEGIN RAISE EXCEPTION 'audit records are only ever added' "
        "USING ERRCODE = 'restrict_violation'; END $$"
    )
    op.execute(
        "CREATE TRIGGER audit_refuses_change BEFORE UPDATE OR DELETE ON audit "
        "FOR EACH ROW EXECUTE FUNCTION audit_refuses_change()"
    )
