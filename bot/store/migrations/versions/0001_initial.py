"""All tables. Until the first release this file changes with the tables of `bot.store`, then never.

Types are spelled out, so that changes of the program's types don't change this revision.
Constraints without a name get theirs from the convention in `bot.store.schema`.
"""

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.types import TypeEngine

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
    _create_log()
    _create_outbox()
    _create_live_messages()
    _create_pauses()
    _create_people()
    _create_audit()
    _create_coordination()


def _create_log() -> None:
    op.create_table(
        "repositories",
        *_key(TEXT, "repository"),
        *_optional(TIME, "origin", "watermark"),
        *_optional(TIME, "walk_window_received_from", "walk_window_received_to", "walk_newest"),
        *_optional(TEXT, "walk_cursor", "polled_types", "picture"),
        *_optional(TIME, "polled_at", "read_at"),
        *_optional(NUMBER, "failures", "failed_pull_request"),
        comment="One repository: what is read of its log, its failures in a row, what boards show.",
    )
    op.create_table(
        "events",
        *_key(TEXT, "repository"),
        *_key(NUMBER, "event_id"),
        *_required(TIME, "received_at"),
        *_required(TEXT, "type", "details"),
        *_required(FLAG, "routed"),
        *_optional(NUMBER, "pull_request"),
        *_optional(TEXT, "base_ref", "session_id"),
        comment="One event of a repository's event log.",
    )
    _index("events", "repository", "pull_request", "received_at")
    _index("events", "received_at")
    _index("events", "repository", "received_at", "event_id", where=_not("routed"))
    op.create_table(
        "pull_requests",
        *_key(TEXT, "repository"),
        *_key(NUMBER, "number"),
        *_required(TEXT, "title", "url", "author"),
        *_required(TIME, "seen_at"),
        comment="What people are shown about one pull request.",
    )
    _index("pull_requests", "seen_at")
    op.create_table(
        "alerts",
        _row_number("alert_id"),
        *_optional(
            TEXT, "repository", "kind", "cause", "batch", "mention", "repositories", "recovered"
        ),
        *_required(TIME, "began_at"),
        *_optional(TIME, "ended_at", "notified_at"),
        *_optional(NUMBER, "value", "threshold", "pull_request", "late"),
        sa.CheckConstraint(
            "(kind IS NULL) = (repositories IS NOT NULL) AND (kind IS NULL) = (cause IS NOT NULL) "
            "AND (repository IS NULL) = (cause = 'slack' AND cause IS NOT NULL)",
            name="alert_or_outage",
        ),
        sqlite_autoincrement=True,
        comment="One warning, active or over: about the health of one queue, or an outage.",
    )
    _index("alerts", "alert_id", where="kind IS NULL AND ended_at IS NULL")
    _index("alerts", "repository", "kind", where="ended_at IS NULL", unique=True)
    op.create_table(
        "freezes",
        *_key(TEXT, "repository"),
        *_key(NUMBER, "event_id"),
        *_required(NUMBER, "set_id"),
        *_required(TIME, "set_at"),
        *_required(TEXT, "terms", "stage"),
        *_optional(TEXT, "by", "before", "removed_by", "removed_for"),
        *_optional(TIME, "begins_at", "ends_at", "over_at", "due_at"),
        *_optional(NUMBER, "queued"),
        comment="One scheduled freeze, by its first known event: planned, in force or over.",
    )
    _index("freezes", "due_at", where="due_at IS NOT NULL")
    op.create_table(
        "threads",
        *_key(TEXT, "kind", "repository", "key"),
        *_required(TIME, "last_at"),
        *_optional(TIME, "began_at", "ended_at"),
        *_optional(NUMBER, "pull_request", "latest_event_id"),
        *_optional(TEXT, "session_id", "batch_id", "pull_requests"),
        *_optional(FLAG, "entered"),
        comment="The subject of a thread: a pull request's queue entry, or a bisection.",
    )
    _index("threads", "last_at")
    _index("threads", "kind", "repository", "last_at")
    _index("threads", "kind", "repository", "pull_request")


def _create_outbox() -> None:
    op.create_table(
        "channels",
        *_key(TEXT, "queue"),
        *_required(NUMBER, "next_sequence", "head_sequence"),
        *_optional(TIME, "claimable_at", "suspended_at", "retry_at"),
        *_optional(TEXT, "suspended_code", "default_repository"),
        sa.CheckConstraint(
            "(suspended_at IS NULL) = (retry_at IS NULL) "
            "AND (suspended_at IS NULL) = (suspended_code IS NULL)",
            name="suspended_whole",
        ),
        comment="One queue of posts to one channel; its ordinary one has its default repository.",
    )
    _index("channels", "claimable_at", "queue")
    op.create_table(
        "deliveries",
        *_key(TEXT, "delivery_id"),
        sa.Column("queue", TEXT, sa.ForeignKey("channels.queue"), nullable=False),
        *_required(NUMBER, "sequence", "subject_id"),
        *_required(NUMBER, "attempts", "lookups", "failures", "summarizes"),
        *_required(TEXT, "channel_id", "subject_kind", "repository", "state"),
        *_required(TIME, "created_at", "due_at"),
        *_optional(TIME, "attempted_at", "settled_at"),
        *_optional(TEXT, "message_ts", "error", "kind", "summarized_by"),
        *_optional(NUMBER, "root_id"),
        sa.UniqueConstraint("queue", "sequence"),
        sa.UniqueConstraint(
            "subject_kind", "repository", "subject_id", "channel_id", name="uq_deliveries_subject"
        ),
        sa.CheckConstraint(
            "(settled_at IS NOT NULL) = (state = 'delivered' OR state = 'failed' "
            "OR state = 'summarized')",
            name="settled_has_time",
        ),
        comment="One post to one channel: it waits, is being sent, is in doubt, or is settled.",
    )
    _index("deliveries", "settled_at", where="settled_at IS NOT NULL")
    _index("deliveries", "summarized_by", where="summarized_by IS NOT NULL")
    _index("deliveries", "state", "created_at", where="settled_at IS NULL")


def _create_live_messages() -> None:
    op.create_table(
        "live_messages",
        _row_number("message_id"),
        *_required(TEXT, "kind", "repository", "key", "channel_id"),
        *_required(FLAG, "is_second", "closed", "is_lost"),
        *_required(NUMBER, "wanted", "shown", "priority", "failures"),
        *_required(TIME, "due_at", "created_at", "changed_at"),
        *_optional(TEXT, "message_ts", "digest", "made_by", "ended_by"),
        *_optional(TIME, "ended_at"),
        sa.UniqueConstraint(
            "kind", "repository", "key", "channel_id", name="uq_live_messages_subject"
        ),
        sqlite_autoincrement=True,
        comment="One message that is edited as what it shows changes: a pause, a thread, a board.",
    )
    _index("live_messages", "changed_at")
    _index(
        "live_messages",
        "priority",
        "due_at",
        where=sa.and_(
            sa.text("message_ts IS NOT NULL"), _not("is_lost"), sa.text("wanted > shown")
        ),
    )
    _index(
        "live_messages",
        "repository",
        "channel_id",
        where="kind = 'board' AND ended_at IS NULL",
        unique=True,
    )


def _create_pauses() -> None:
    op.create_table(
        "pauses",
        _row_number("pause_id"),
        *_required(TEXT, "repository", "stored_reason", "reason", "joined", "stopped"),
        *_required(TIME, "paused_at"),
        *_required(FLAG, "is_exact", "end_notified"),
        *_required(NUMBER, "group_act_id"),
        *_optional(TEXT, "by_user_id", "by_name", "previous_reason"),
        *_optional(NUMBER, "event_id", "queued_at_start", "queued_now"),
        *_optional(TIME, "ended_at"),
        *_optional(TEXT, "ended_by_user_id", "ended_by_name", "ending"),
        *_optional(
            TIME, "timer_resumes_at", "timer_due_at", "reminders_next_at", "reminders_last_at"
        ),
        *_optional(TEXT, "timer_set_by_user_id", "timer_set_by_name"),
        *_optional(TEXT, "timer_channel_id", "timer_stored_reason"),
        *_optional(NUMBER, "timer_failures", "reminders_sent"),
        sa.UniqueConstraint("repository", "paused_at", name="uq_pauses_paused_at"),
        sa.CheckConstraint("(ended_at IS NULL) = (ending IS NULL)", name="ended_somehow"),
        sqlite_autoincrement=True,
        comment="One pause of one repository's queue, in force or over, with its timer.",
    )
    _index("pauses", "timer_due_at", where="timer_due_at IS NOT NULL")
    _index("pauses", "ended_at")
    _index("pauses", "repository", where="ended_at IS NULL")
    op.create_table(
        "resume_watchers",
        sa.Column("pause_id", NUMBER, sa.ForeignKey("pauses.pause_id"), primary_key=True),
        *_key(TEXT, "user_id"),
        comment="One person to notify, once, when one pause ends.",
    )
    op.create_table(
        "group_acts",
        _row_number("group_act_id"),
        *_required(TEXT, "group", "action", "origin", "asked"),
        *_required(TEXT, "actor_user_id", "actor_name"),
        *_required(TEXT, "repositories", "notified_together", "results"),
        *_required(TIME, "at"),
        *_optional(TEXT, "actor_team_id", "channel_id"),
        *_optional(TIME, "ended_at", "resumes_at"),
        sqlite_autoincrement=True,
        comment="One pause or resume that a person asked for on a group of repositories.",
    )


def _create_people() -> None:
    op.create_table(
        "subscriptions",
        *_key(TEXT, "channel_id", "repository", "source"),
        *_required(TEXT, "topics", "branches", "except_logins", "style"),
        *_optional(TEXT, "created_by", "digest"),
        *_optional(TIME, "created_at"),
        comment="One channel's subscription to one repository, by command or by the settings.",
    )
    _index("subscriptions", "repository")
    op.create_table(
        "people",
        *_key(TEXT, "user_id"),
        *_optional(TEXT, "login"),
        *_optional(TIME, "linked_at"),
        *_required(TEXT, "switched_on", "switched_off"),
        comment="One person in Slack: their login at the code host, and the notices they switched.",
    )
    _index("people", "login")
    _index("people", "user_id", where="switched_on != '[]'")


def _create_audit() -> None:
    op.create_table(
        "audit",
        _row_number("record_id"),
        *_required(NUMBER, "act_id", "group_act_id"),
        *_required(TIME, "at"),
        *_required(TEXT, "actor_user_id", "actor_name"),
        *_required(TEXT, "action", "origin", "repository", "result"),
        *_optional(TEXT, "actor_team_id", "channel_id", "group"),
        *_optional(TEXT, "reason", "stored_reason", "previous_reason", "detail", "answer"),
        *_optional(TEXT, "setting_before", "setting_after", "evidence"),
        *_optional(TIME, "paused_at", "previous_paused_at", "resumes_at"),
        *_optional(NUMBER, "pull_request"),
        sqlite_autoincrement=True,
        comment="One act of a person, or its refusal. Only old refusals are ever deleted.",
    )
    _index("audit", "act_id", where="act_id > 0")
    _index("audit", "at")
    _index("audit", "repository", "at")
    _refuse_changes_of_audit()


def _create_coordination() -> None:
    op.create_table(
        "leases",
        *_key(TEXT, "name"),
        *_required(TEXT, "holder"),
        *_required(NUMBER, "token"),
        *_required(TIME, "expires_at"),
        comment="One thing that one process has for a time: work, or its presence as a worker.",
    )
    _index("leases", "expires_at", where="name LIKE 'worker:%'")
    op.create_table(
        "expiring_keys",
        *_key(TEXT, "kind", "key"),
        *_required(TIME, "until"),
        *_optional(NUMBER, "value"),
        comment="One thing that is remembered until a time: a request of Slack's, that it closed a "
        "method or a channel, or that a clock jumped.",
    )
    _index("expiring_keys", "until")


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


def _row_number(name: str) -> sa.Column[int]:
    """SQLite numbers rows by itself only in an INTEGER column, which holds 64 bits there."""
    return sa.Column(name, NUMBER.with_variant(sa.Integer(), "sqlite"), primary_key=True)


def _key(kind: TypeEngine[Any], *names: str) -> Iterator[sa.Column[Any]]:
    return (sa.Column(name, kind, primary_key=True, autoincrement=False) for name in names)


def _required(kind: TypeEngine[Any], *names: str) -> Iterator[sa.Column[Any]]:
    return (sa.Column(name, kind, nullable=False) for name in names)


def _optional(kind: TypeEngine[Any], *names: str) -> Iterator[sa.Column[Any]]:
    return (sa.Column(name, kind) for name in names)


def _index(
    table: str,
    *columns: str,
    where: str | sa.ColumnElement[bool] | None = None,
    unique: bool = False,
) -> None:
    """Create an index, partial if `where` is given."""
    condition = sa.text(where) if isinstance(where, str) else where
    op.create_index(
        None, table, columns, unique=unique, sqlite_where=condition, postgresql_where=condition
    )


def _not(flag: str) -> sa.ColumnElement[bool]:
    """A flag as a literal: a number on SQLite."""
    return ~sa.column(flag, FLAG)
