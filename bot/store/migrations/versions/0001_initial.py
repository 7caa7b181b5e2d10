"""All tables. Until the first release this file changes with `bot.store.tables`, then never.

Types are written out, so that the revision stays what it is when the program's types change. Times
are whole microseconds since 1970 in UTC. Names follow the convention of `bot.store.tables`.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001_initial"
down_revision = None
branch_labels = None
depends_on = None

_ROW_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    _create_log()
    _create_outbox()
    _create_live_messages()
    _create_pausing()
    _create_people()
    _create_coordination()
    _refuse_changes_of_audit()


def _create_log() -> None:
    op.create_table(
        "repositories",
        sa.Column("repository", sa.Text, primary_key=True),
        sa.Column("origin", sa.BigInteger),
        sa.Column("watermark", sa.BigInteger),
        sa.Column("walk_received_from", sa.BigInteger),
        sa.Column("walk_received_to", sa.BigInteger),
        sa.Column("walk_cursor", sa.Text),
        sa.Column("walk_newest", sa.BigInteger),
        sa.Column("polled_at", sa.BigInteger),
        sa.Column("polled_types", sa.Text),
        sa.Column("failures", sa.BigInteger),
        sa.Column("failed_pull_request", sa.BigInteger),
        sa.Column("picture", sa.Text),
        sa.Column("read_at", sa.BigInteger),
        sa.Column("outage", sa.Text),
        sa.Column("out_since", sa.BigInteger),
        sa.CheckConstraint("(origin IS NULL) = (watermark IS NULL)", name="position_whole"),
        sa.CheckConstraint(
            "(walk_received_from IS NULL) = (walk_received_to IS NULL)", name="walk_has_both_bounds"
        ),
        sa.CheckConstraint("(polled_at IS NULL) = (polled_types IS NULL)", name="poll_whole"),
        sa.CheckConstraint("(picture IS NULL) = (read_at IS NULL)", name="picture_whole"),
        comment="One repository: what is read of its log, its failures in a row, what boards show.",
    )
    op.create_table(
        "events",
        sa.Column("repository", sa.Text, primary_key=True),
        sa.Column("event_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("received_at", sa.BigInteger, nullable=False),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("pull_request", sa.BigInteger),
        sa.Column("base_ref", sa.Text),
        sa.Column("session_id", sa.Text),
        sa.Column("details", sa.Text, nullable=False),
        sa.Column("routed", sa.Boolean, nullable=False),
        sa.Index("ix_events_pull_request", "repository", "pull_request", "received_at"),
        sa.Index("ix_events_received_at", "received_at"),
        sa.Index(
            "ix_events_unrouted",
            "repository",
            "received_at",
            "event_id",
            **_where("routed = 0", postgresql="NOT routed"),
        ),
        comment="One event of a repository's event log.",
    )
    op.create_table(
        "alerts",
        sa.Column("alert_id", _ROW_NUMBER, primary_key=True),
        sa.Column("repository", sa.Text, nullable=False),
        sa.Column("kind", sa.Text),
        sa.Column("began_at", sa.BigInteger, nullable=False),
        sa.Column("ended_at", sa.BigInteger),
        sa.Column("value", sa.BigInteger),
        sa.Column("threshold", sa.BigInteger),
        sa.Column("pull_request", sa.BigInteger),
        sa.Column("batch", sa.Text),
        sa.Column("notified_at", sa.BigInteger),
        sa.Column("repositories", sa.Text),
        sa.Column("recovered", sa.Text),
        sa.CheckConstraint("(kind IS NULL) = (repositories IS NOT NULL)", name="alert_or_outage"),
        sa.Index("ix_alerts_outages", "alert_id", **_where("kind IS NULL AND ended_at IS NULL")),
        sa.Index(
            "uq_alerts_active", "repository", "kind", unique=True, **_where("ended_at IS NULL")
        ),
        sqlite_autoincrement=True,
        comment="One warning, active or over: about the health of one queue, or an outage.",
    )
    op.create_table(
        "threads",
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("repository", sa.Text, primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("last_at", sa.BigInteger, nullable=False),
        sa.Column("ended_at", sa.BigInteger),
        sa.Column("pull_request", sa.BigInteger),
        sa.Column("session_id", sa.Text),
        sa.Column("began_at", sa.BigInteger),
        sa.Column("entered", sa.Boolean),
        sa.Column("batch_id", sa.Text),
        sa.Column("pull_requests", sa.Text),
        sa.Column("latest_event_id", sa.BigInteger),
        sa.Index("ix_threads_last_at", "last_at"),
        sa.Index("ix_threads_of", "kind", "repository", "last_at"),
        sa.Index("ix_threads_pull_request", "kind", "repository", "pull_request"),
        comment="One thing told of in threads: a pull request's queue entry, or a bisection.",
    )
    op.create_table(
        "pull_requests",
        sa.Column("repository", sa.Text, primary_key=True),
        sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("author", sa.Text, nullable=False),
        sa.Column("seen_at", sa.BigInteger, nullable=False),
        sa.Index("ix_pull_requests_seen_at", "seen_at"),
        comment="What people are shown about one pull request.",
    )


def _create_outbox() -> None:
    op.create_table(
        "channels",
        sa.Column("line", sa.Text, primary_key=True),
        sa.Column("next_sequence", sa.BigInteger, nullable=False),
        sa.Column("head_sequence", sa.BigInteger, nullable=False),
        sa.Column("claimable_at", sa.BigInteger),
        sa.Column("suspended_code", sa.Text),
        sa.Column("suspended_at", sa.BigInteger),
        sa.Column("retry_at", sa.BigInteger),
        sa.Column("default_repository", sa.Text),
        sa.CheckConstraint(
            "(suspended_at IS NULL) = (retry_at IS NULL) "
            "AND (suspended_at IS NULL) = (suspended_code IS NULL)",
            name="suspended_whole",
        ),
        sa.Index("ix_channels_claimable", "claimable_at", "line"),
        comment="One queue of posts to one channel; its ordinary one has its default repository.",
    )
    op.create_table(
        "deliveries",
        sa.Column("delivery_id", sa.Text, primary_key=True),
        sa.Column("channel_id", sa.Text, nullable=False),
        sa.Column("line", sa.Text, sa.ForeignKey("channels.line"), nullable=False),
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
        sa.Column("failures", sa.Integer, nullable=False),
        sa.Column("kind", sa.Text),
        sa.Column("summarizes", sa.Integer, nullable=False),
        sa.Column("summarized_by", sa.Text),
        sa.Column("root_id", sa.BigInteger),
        sa.UniqueConstraint("line", "sequence"),
        sa.UniqueConstraint(
            "subject_kind", "repository", "subject_id", "channel_id", name="uq_deliveries_subject"
        ),
        sa.CheckConstraint(
            "(settled_at IS NOT NULL) = (state = 'delivered' OR state = 'failed' "
            "OR state = 'summarized')",
            name="settled_has_time",
        ),
        sa.Index("ix_deliveries_settled_at", "settled_at", **_where("settled_at IS NOT NULL")),
        sa.Index(
            "ix_deliveries_summarized_by", "summarized_by", **_where("summarized_by IS NOT NULL")
        ),
        sa.Index("ix_deliveries_unsettled", "state", "created_at", **_where("settled_at IS NULL")),
        comment="One post to one channel: it waits, is being sent, is in doubt, or is settled.",
    )


def _create_live_messages() -> None:
    op.create_table(
        "live_messages",
        sa.Column("message_id", _ROW_NUMBER, primary_key=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("repository", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("channel_id", sa.Text, nullable=False),
        sa.Column("is_second", sa.Boolean, nullable=False),
        sa.Column("message_ts", sa.Text),
        sa.Column("wanted", sa.Integer, nullable=False),
        sa.Column("shown", sa.Integer, nullable=False),
        sa.Column("digest", sa.Text),
        sa.Column("priority", sa.Integer, nullable=False),
        sa.Column("due_at", sa.BigInteger, nullable=False),
        sa.Column("failures", sa.Integer, nullable=False),
        sa.Column("closed", sa.Boolean, nullable=False),
        sa.Column("is_lost", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("changed_at", sa.BigInteger, nullable=False),
        sa.Column("made_by", sa.Text),
        sa.Column("ended_at", sa.BigInteger),
        sa.Column("ended_by", sa.Text),
        sa.UniqueConstraint(
            "kind", "repository", "key", "channel_id", name="uq_live_messages_subject"
        ),
        sa.Index("ix_live_messages_changed_at", "changed_at"),
        sa.Index(
            "ix_live_messages_due",
            "priority",
            "due_at",
            **_where(
                "message_ts IS NOT NULL AND is_lost = 0 AND wanted > shown",
                postgresql="message_ts IS NOT NULL AND NOT is_lost AND wanted > shown",
            ),
        ),
        sa.Index(
            "ix_live_messages_unposted",
            "message_id",
            **_where(
                "message_ts IS NULL AND is_lost = 0",
                postgresql="message_ts IS NULL AND NOT is_lost",
            ),
        ),
        sa.Index(
            "uq_live_messages_kept_board",
            "repository",
            "channel_id",
            unique=True,
            **_where("kind = 'board' AND ended_at IS NULL"),
        ),
        sqlite_autoincrement=True,
        comment="One message that is edited as what it shows changes: a pause, a thread, a board.",
    )


def _create_pausing() -> None:
    op.create_table(
        "pauses",
        sa.Column("pause_id", _ROW_NUMBER, primary_key=True),
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
        sa.Column("stopped", sa.Text, nullable=False),
        sa.Column("ended_at", sa.BigInteger),
        sa.Column("ended_by_id", sa.Text),
        sa.Column("ended_by_name", sa.Text),
        sa.Column("ending", sa.Text),
        sa.Column("end_told", sa.Boolean, nullable=False),
        sa.Column("group_act_id", sa.BigInteger, nullable=False),
        sa.Column("lifts_at", sa.BigInteger),
        sa.Column("due_at", sa.BigInteger),
        sa.Column("end_set_by_id", sa.Text),
        sa.Column("end_set_by_name", sa.Text),
        sa.Column("channel_id", sa.Text),
        sa.Column("end_set_for", sa.Text),
        sa.Column("failures", sa.Integer, nullable=False),
        sa.Column("reminder_at", sa.BigInteger),
        sa.Column("reminders_sent", sa.Integer, nullable=False),
        sa.UniqueConstraint("repository", "paused_at", name="uq_pauses_paused_at"),
        sa.CheckConstraint("(ended_at IS NULL) = (ending IS NULL)", name="ended_somehow"),
        sa.Index("ix_pauses_due", "due_at", **_where("due_at IS NOT NULL")),
        sa.Index("ix_pauses_ended_at", "ended_at"),
        sa.Index("ix_pauses_open", "repository", **_where("ended_at IS NULL")),
        sa.Index(
            "ix_pauses_untold", "ended_at", **_where("end_told = 0", postgresql="NOT end_told")
        ),
        sqlite_autoincrement=True,
        comment="One pause of one repository's queue, in force or over, with its timer.",
    )
    op.create_table(
        "resume_watchers",
        sa.Column("pause_id", sa.BigInteger, sa.ForeignKey("pauses.pause_id"), primary_key=True),
        sa.Column("user_id", sa.Text, primary_key=True),
        comment="One person to notify, once, when one pause ends.",
    )
    op.create_table(
        "group_acts",
        sa.Column("group_act_id", _ROW_NUMBER, primary_key=True),
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
        sa.Column("notified_together", sa.Text, nullable=False),
        sa.Column("results", sa.Text, nullable=False),
        sa.Column("ended_at", sa.BigInteger),
        sa.Column("lifts_at", sa.BigInteger),
        sa.Index("ix_group_acts_latest", "group", "group_act_id"),
        sqlite_autoincrement=True,
        comment="One pause or resume that a person asked for on a group of repositories.",
    )


def _create_people() -> None:
    op.create_table(
        "subscriptions",
        sa.Column("channel_id", sa.Text, primary_key=True),
        sa.Column("repository", sa.Text, primary_key=True),
        sa.Column("source", sa.Text, primary_key=True),
        sa.Column("topics", sa.Text, nullable=False),
        sa.Column("branches", sa.Text, nullable=False),
        sa.Column("except_logins", sa.Text, nullable=False),
        sa.Column("created_by", sa.Text),
        sa.Column("created_at", sa.BigInteger),
        sa.Column("style", sa.Text, nullable=False),
        sa.Column("digest", sa.Text),
        sa.Index("ix_subscriptions_repository", "repository"),
        comment="One channel's subscription to one repository, by command or by the settings.",
    )
    op.create_table(
        "audit",
        sa.Column("record_id", _ROW_NUMBER, primary_key=True),
        sa.Column("act_id", sa.BigInteger, nullable=False),
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
        sa.Column("answer", sa.Text),
        sa.Column("heard_before", sa.Text),
        sa.Column("heard_after", sa.Text),
        sa.Column("group_act_id", sa.BigInteger, nullable=False),
        sa.Column("group", sa.Text),
        sa.Column("lifts_at", sa.BigInteger),
        sa.Index("ix_audit_act_id", "act_id", **_where("act_id > 0")),
        sa.Index("ix_audit_at", "at"),
        sa.Index("ix_audit_latest", "repository", "action", "result", "at"),
        sa.Index("ix_audit_repository_at", "repository", "at"),
        sqlite_autoincrement=True,
        comment="One act of a person, or its refusal. Only old refusals are ever deleted.",
    )
    op.create_table(
        "people",
        sa.Column("user_id", sa.Text, primary_key=True),
        sa.Column("login", sa.Text),
        sa.Column("linked_at", sa.BigInteger),
        sa.Column("switched_on", sa.Text, nullable=False),
        sa.Column("switched_off", sa.Text, nullable=False),
        sa.CheckConstraint("(login IS NULL) = (linked_at IS NULL)", name="linked_whole"),
        sa.Index("ix_people_login", "login"),
        sa.Index("ix_people_switched_on", "user_id", **_where("switched_on != '[]'")),
        comment="One person in Slack: their login at the code host, and the notices they switched.",
    )


def _create_coordination() -> None:
    op.create_table(
        "leases",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("holder", sa.Text, nullable=False),
        sa.Column("token", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
        sa.Index("ix_leases_workers", "expires_at", **_where("name LIKE 'worker:%'")),
        comment="One thing that one process has for a time: work, or its presence as a worker.",
    )
    op.create_table(
        "expiring_keys",
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("until", sa.BigInteger, nullable=False),
        sa.Column("value", sa.BigInteger),
        sa.Index("ix_expiring_keys_until", "kind", "until"),
        comment="One thing that is remembered until a time: a request of Slack's, that it closed a "
        "method or a channel, or that a clock jumped.",
    )


def _refuse_changes_of_audit() -> None:
    """Records stay as they are; refusals, of which anybody can cause many, may be deleted."""
    if op.get_bind().dialect.name == "sqlite":
        _refuse_on_sqlite("UPDATE")
        _refuse_on_sqlite("DELETE", "WHEN OLD.result <> 'refused' OR OLD.act_id <> 0")
        return
    op.execute(
        "CREATE FUNCTION audit_refuses_change() RETURNS trigger LANGUAGE plpgsql AS $$ "
        "BEGIN IF TG_OP = 'DELETE' AND OLD.result = 'refused' AND OLD.act_id = 0 THEN "
        "RETURN OLD; END IF; RAISE EXCEPTION 'audit records are only ever added' "
        "USING ERRCODE = 'restrict_violation'; END $$"
    )
    op.execute(
        "CREATE TRIGGER audit_refuses_change BEFORE UPDATE OR DELETE ON audit "
        "FOR EACH ROW EXECUTE FUNCTION audit_refuses_change()"
    )


def _refuse_on_sqlite(change: str, condition: str = "") -> None:
    op.execute(
        f"CREATE TRIGGER audit_refuses_{change.lower()} BEFORE {change} ON audit {condition} "
        "BEGIN SELECT RAISE(ABORT, 'audit records are only ever added'); END"
    )


def _where(condition: str, *, postgresql: str | None = None) -> dict[str, Any]:
    """For an index of some rows; SQLite stores booleans as numbers, and its planner wants them."""
    return {
        "sqlite_where": sa.text(condition),
        "postgresql_where": sa.text(postgresql or condition),
    }
