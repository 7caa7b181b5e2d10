"""All tables. Until the first release this file changes with the tables of `bot.store`, then never.

Types are spelled out, so that changes of the program's types don't change this revision.
Constraints without a name get theirs from the convention in `bot.store.schema`.
"""

import sqlalchemy as sa
from alembic import op

from bot.store.schema import key, optional, required, row_number

revision = "0001_initial"
down_revision = None
branch_labels = None
depends_on = None

TEXT = sa.Text()
NUMBER = sa.BigInteger()
FLAG = sa.Boolean()
TIME = sa.BigInteger()
"""Whole microseconds since 1970 in UTC."""


def upgrade() -> None:
    op.create_table(
        "repositories",
        *key(TEXT, "repository"),
        *optional(TIME, "origin", "watermark"),
        *optional(TIME, "walk_window_received_from", "walk_window_received_to", "walk_newest"),
        *optional(TEXT, "walk_cursor", "polled_types", "picture"),
        *optional(TIME, "polled_at", "read_at"),
        *optional(NUMBER, "failures", "failed_pull_request"),
        comment="One repository: what is read of its log, its failures in a row, what boards show.",
    )
    op.create_table(
        "events",
        *key(TEXT, "repository"),
        *key(NUMBER, "event_id"),
        *required(TIME, "received_at"),
        *required(TEXT, "type", "details"),
        *required(FLAG, "routed"),
        *optional(NUMBER, "pull_request"),
        *optional(TEXT, "base_ref", "session_id"),
        _index("repository", "pull_request", "received_at"),
        _index("received_at"),
        _index("repository", "received_at", "event_id", where=_not("routed")),
        comment="One event of a repository's event log.",
    )
    op.create_table(
        "pull_requests",
        *key(TEXT, "repository"),
        *key(NUMBER, "number"),
        *required(TEXT, "title", "url", "author"),
        *required(TIME, "seen_at"),
        _index("seen_at"),
        comment="What people are shown about one pull request.",
    )
    op.create_table(
        "alerts",
        row_number("alert_id"),
        *optional(
            TEXT, "repository", "kind", "cause", "batch", "mention", "repositories", "recovered"
        ),
        *required(TIME, "began_at"),
        *optional(TIME, "ended_at", "notified_at"),
        *optional(NUMBER, "value", "threshold", "pull_request", "late"),
        sa.CheckConstraint(
            "(kind IS NULL) = (repositories IS NOT NULL) AND (kind IS NULL) = (cause IS NOT NULL) "
            "AND (repository IS NULL) = (cause = 'slack' AND cause IS NOT NULL)",
            name="alert_or_outage",
        ),
        _index("alert_id", where="kind IS NULL AND ended_at IS NULL"),
        _index("repository", "kind", where="ended_at IS NULL", unique=True),
        sqlite_autoincrement=True,
        comment="One warning, active or over: about the health of one queue, or an outage.",
    )
    op.create_table(
        "freezes",
        *key(TEXT, "repository"),
        *key(NUMBER, "event_id"),
        *required(NUMBER, "set_id"),
        *required(TIME, "set_at"),
        *required(TEXT, "terms", "stage"),
        *optional(TEXT, "by", "before", "removed_by", "removed_for"),
        *optional(TIME, "begins_at", "ends_at", "over_at", "due_at"),
        *optional(NUMBER, "queued"),
        _index("due_at", where="due_at IS NOT NULL"),
        comment="One scheduled freeze, by its first known event: planned, in force or over.",
    )
    op.create_table(
        "threads",
        *key(TEXT, "kind", "repository", "key"),
        *required(TIME, "last_at"),
        *optional(TIME, "began_at", "ended_at"),
        *optional(NUMBER, "pull_request", "latest_event_id"),
        *optional(TEXT, "session_id", "batch_id", "pull_requests"),
        *optional(FLAG, "entered"),
        _index("last_at"),
        _index("kind", "repository", "last_at"),
        _index("kind", "repository", "pull_request"),
        comment="The subject of a thread: a pull request's queue entry, or a bisection.",
    )
    op.create_table(
        "channels",
        *key(TEXT, "queue"),
        *required(NUMBER, "next_sequence", "head_sequence"),
        *optional(TIME, "claimable_at", "suspended_at", "retry_at"),
        *optional(TEXT, "suspended_code", "default_repository"),
        sa.CheckConstraint(
            "(suspended_at IS NULL) = (retry_at IS NULL) "
            "AND (suspended_at IS NULL) = (suspended_code IS NULL)",
            name="suspended_whole",
        ),
        _index("claimable_at", "queue"),
        comment="One queue of posts to one channel; its ordinary one has its default repository.",
    )
    op.create_table(
        "deliveries",
        *key(TEXT, "delivery_id"),
        sa.Column("queue", TEXT, sa.ForeignKey("channels.queue"), nullable=False),
        *required(NUMBER, "sequence", "subject_id"),
        *required(NUMBER, "attempts", "lookups", "failures", "summarizes"),
        *required(TEXT, "channel_id", "subject_kind", "repository", "state"),
        *required(TIME, "created_at", "due_at"),
        *optional(TIME, "attempted_at", "settled_at"),
        *optional(TEXT, "message_ts", "error", "kind", "summarized_by"),
        *optional(NUMBER, "root_id"),
        sa.UniqueConstraint("queue", "sequence"),
        sa.UniqueConstraint(
            "subject_kind", "repository", "subject_id", "channel_id", name="uq_deliveries_subject"
        ),
        sa.CheckConstraint(
            "(settled_at IS NOT NULL) = (state = 'delivered' OR state = 'failed' "
            "OR state = 'summarized')",
            name="settled_has_time",
        ),
        _index("settled_at", where="settled_at IS NOT NULL"),
        _index("summarized_by", where="summarized_by IS NOT NULL"),
        _index("state", "created_at", where="settled_at IS NULL"),
        comment="One post to one channel: it waits, is being sent, is in doubt, or is settled.",
    )
    op.create_table(
        "live_messages",
        row_number("message_id"),
        *required(TEXT, "kind", "repository", "key", "channel_id"),
        *required(FLAG, "is_second", "closed", "is_lost"),
        *required(NUMBER, "wanted", "shown", "priority", "failures"),
        *required(TIME, "due_at", "created_at", "changed_at"),
        *optional(TEXT, "message_ts", "digest", "made_by", "ended_by"),
        *optional(TIME, "ended_at"),
        sa.UniqueConstraint(
            "kind", "repository", "key", "channel_id", name="uq_live_messages_subject"
        ),
        _index("changed_at"),
        _index(
            "priority",
            "due_at",
            where=sa.and_(
                sa.text("message_ts IS NOT NULL"), _not("is_lost"), sa.text("wanted > shown")
            ),
        ),
        _index(
            "repository",
            "channel_id",
            where="kind = 'board' AND ended_at IS NULL",
            unique=True,
        ),
        sqlite_autoincrement=True,
        comment="One message that is edited as what it shows changes: a pause, a thread, a board.",
    )
    op.create_table(
        "pauses",
        row_number("pause_id"),
        *required(TEXT, "repository", "stored_reason", "reason", "joined", "stopped"),
        *required(TIME, "paused_at"),
        *required(FLAG, "is_exact", "end_notified"),
        *required(NUMBER, "group_act_id"),
        *optional(TEXT, "by_user_id", "by_name", "previous_reason"),
        *optional(NUMBER, "event_id", "queued_at_start", "queued_now"),
        *optional(TIME, "ended_at"),
        *optional(TEXT, "ended_by_user_id", "ended_by_name", "ending"),
        *optional(
            TIME, "timer_resumes_at", "timer_due_at", "reminders_next_at", "reminders_last_at"
        ),
        *optional(TEXT, "timer_set_by_user_id", "timer_set_by_name"),
        *optional(TEXT, "timer_channel_id", "timer_stored_reason"),
        *optional(NUMBER, "timer_failures", "reminders_sent"),
        sa.UniqueConstraint("repository", "paused_at", name="uq_pauses_paused_at"),
        sa.CheckConstraint("(ended_at IS NULL) = (ending IS NULL)", name="ended_somehow"),
        _index("timer_due_at", where="timer_due_at IS NOT NULL"),
        _index("ended_at"),
        _index("repository", where="ended_at IS NULL"),
        sqlite_autoincrement=True,
        comment="One pause of one repository's queue, in force or over, with its timer.",
    )
    op.create_table(
        "resume_watchers",
        sa.Column("pause_id", NUMBER, sa.ForeignKey("pauses.pause_id"), primary_key=True),
        *key(TEXT, "user_id"),
        comment="One person to notify, once, when one pause ends.",
    )
    op.create_table(
        "group_acts",
        row_number("group_act_id"),
        *required(TEXT, "group", "action", "origin", "asked"),
        *required(TEXT, "actor_user_id", "actor_name"),
        *required(TEXT, "repositories", "notified_together", "results"),
        *required(TIME, "at"),
        *optional(TEXT, "actor_team_id", "channel_id"),
        *optional(TIME, "ended_at", "resumes_at"),
        sqlite_autoincrement=True,
        comment="One pause or resume that a person asked for on a group of repositories.",
    )
    op.create_table(
        "subscriptions",
        *key(TEXT, "channel_id", "repository", "source"),
        *required(TEXT, "topics", "branches", "except_logins", "style"),
        *optional(TEXT, "created_by", "digest"),
        *optional(TIME, "created_at"),
        _index("repository"),
        comment="One channel's subscription to one repository, by command or by the settings.",
    )
    op.create_table(
        "people",
        *key(TEXT, "user_id"),
        *optional(TEXT, "login"),
        *optional(TIME, "linked_at"),
        *required(TEXT, "switched_on", "switched_off"),
        _index("login"),
        _index("user_id", where="switched_on != '[]'"),
        comment="One person in Slack: their login at the code host, and the notices they switched.",
    )
    op.create_table(
        "audit",
        row_number("record_id"),
        *required(NUMBER, "act_id", "group_act_id"),
        *required(TIME, "at"),
        *required(TEXT, "actor_user_id", "actor_name"),
        *required(TEXT, "action", "origin", "repository", "result"),
        *optional(TEXT, "actor_team_id", "channel_id", "group"),
        *optional(TEXT, "reason", "stored_reason", "previous_reason", "detail", "answer"),
        *optional(TEXT, "setting_before", "setting_after", "evidence"),
        *optional(TIME, "paused_at", "previous_paused_at", "resumes_at"),
        *optional(NUMBER, "pull_request"),
        _index("act_id", where="act_id > 0"),
        _index("at"),
        _index("repository", "at"),
        sqlite_autoincrement=True,
        comment="One act of a person, or its refusal. Only old refusals are ever deleted.",
    )
    _refuse_changes_of_audit()
    op.create_table(
        "leases",
        *key(TEXT, "name"),
        *required(TEXT, "holder"),
        *required(NUMBER, "token"),
        *required(TIME, "expires_at"),
        _index("expires_at", where="name LIKE 'worker:%'"),
        comment="One thing that one process has for a time: work, or its presence as a worker.",
    )
    op.create_table(
        "expiring_keys",
        *key(TEXT, "kind", "key"),
        *required(TIME, "until"),
        *optional(NUMBER, "value"),
        _index("until"),
        comment="One thing that is remembered until a time: a request of Slack's, that it closed a "
        "method or a channel, or that a clock jumped.",
    )


def _refuse_changes_of_audit() -> None:
    """Forbid changes of records; only refusals, which anybody can cause, may be deleted."""
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


def _index(
    *columns: str, where: str | sa.ColumnElement[bool] | None = None, unique: bool = False
) -> sa.Index:
    """An index, partial if `where` is given."""
    condition = sa.text(where) if isinstance(where, str) else where
    return sa.Index(
        None, *columns, unique=unique, sqlite_where=condition, postgresql_where=condition
    )


def _not(flag: str) -> sa.ColumnElement[bool]:
    """A flag as a literal: a number on SQLite."""
    return ~sa.column(flag, FLAG)
