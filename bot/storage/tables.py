"""The tables, their named constraints and their indexes."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
)

from bot.domain.audit import Action, ActResult, Origin
from bot.domain.cards import CardKind
from bot.domain.deliveries import DeliveryState, SubjectKind
from bot.domain.pause_records import PauseEnding
from bot.domain.subscriptions import SubscriptionSource
from bot.domain.timers import TimerState
from bot.storage.column_types import (
    CompactJson,
    OutsideText,
    Repository,
    SortedNumbers,
    SortedWords,
    UtcTime,
    Word,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

_RowNumber = BigInteger().with_variant(Integer, "sqlite")
"""SQLite numbers rows by itself only in a column declared INTEGER, which holds 64 bits there."""

leases = Table(
    "leases",
    metadata,
    Column("name", Text, primary_key=True),
    Column("holder", Text, nullable=False),
    Column("token", BigInteger, nullable=False),
    Column("expires_at", UtcTime, nullable=False),
)
"""A released lease stays as an expired row: a token that was given out never comes back."""

positions = Table(
    "positions",
    metadata,
    Column("repository", Repository, primary_key=True),
    Column("origin", UtcTime, nullable=False),
    Column("watermark", UtcTime, nullable=False),
    Column("walk_received_from", UtcTime),
    Column("walk_received_to", UtcTime),
    Column("walk_cursor", Text),
    Column("walk_newest", UtcTime),
    CheckConstraint(
        "(walk_received_from IS NULL) = (walk_received_to IS NULL)", name="walk_has_both_bounds"
    ),
)

events = Table(
    "events",
    metadata,
    Column("repository", Repository, primary_key=True),
    Column("event_id", BigInteger, primary_key=True, autoincrement=False),
    Column("received_at", UtcTime, nullable=False),
    Column("type", OutsideText, nullable=False),
    Column("pull_request", BigInteger),
    Column("base_ref", OutsideText),
    Column("session_id", OutsideText),
    Column("details", CompactJson, nullable=False),
    Column("routed", Boolean, nullable=False, server_default=false()),
    Index("ix_events_received_at", "received_at"),
    Index("ix_events_pull_request", "repository", "pull_request", "received_at"),
)
Index(
    "ix_events_unrouted",
    events.c.repository,
    events.c.received_at,
    events.c.event_id,
    sqlite_where=~events.c.routed,
    postgresql_where=~events.c.routed,
)

pull_requests = Table(
    "pull_requests",
    metadata,
    Column("repository", Repository, primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("title", OutsideText, nullable=False),
    Column("url", OutsideText, nullable=False),
    Column("author", OutsideText, nullable=False),
    Column("seen_at", UtcTime, nullable=False),
    Index("ix_pull_requests_seen_at", "seen_at"),
)

destinations = Table(
    "destinations",
    metadata,
    Column("line", Text, primary_key=True),
    Column("next_sequence", BigInteger, nullable=False),
    Column("head_sequence", BigInteger, nullable=False),
    Column("claimable_at", UtcTime),
    Column("parked_code", OutsideText),
    Column("parked_at", UtcTime),
    Column("retry_at", UtcTime),
    CheckConstraint(
        "(parked_at IS NULL) = (retry_at IS NULL) AND (parked_at IS NULL) = (parked_code IS NULL)",
        name="parked_whole",
    ),
    Index("ix_destinations_claimable", "claimable_at", "line"),
)
"""One row a line: where it starts and when its first delivery can be claimed.

A channel has two lines, named by `delivery_rows.line_of`: the ordinary and the urgent one.
`head_sequence` is the first delivery that is not settled, or the next to be added.
`claimable_at` is None when everything is settled; else the head's due time, or the time of the
next try where that is later and the channel is parked. Whoever changes deliveries of a line
holds this row's lock, so the order in a line is the order of commits.
"""

deliveries = Table(
    "deliveries",
    metadata,
    Column("delivery_id", Text, primary_key=True),
    Column("channel_id", Text, nullable=False),
    Column("line", Text, ForeignKey("destinations.line"), nullable=False),
    Column("sequence", BigInteger, nullable=False),
    Column("subject_kind", Word(SubjectKind), nullable=False),
    Column("repository", Repository, nullable=False),
    Column("subject_id", BigInteger, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    Column("due_at", UtcTime, nullable=False),
    Column("state", Word(DeliveryState), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("attempted_at", UtcTime),
    Column("looks", Integer, nullable=False),
    Column("message_ts", OutsideText),
    Column("error", OutsideText),
    Column("settled_at", UtcTime),
    Column("failures", Integer, nullable=False, server_default="0"),
    Column("kind", Text),
    Column("folded", Integer, nullable=False, server_default="0"),
    Column("told_by", Text),
    UniqueConstraint("line", "sequence"),
    # The channel comes last: pruning asks who refers to an event, whatever the channel.
    UniqueConstraint(
        "subject_kind", "repository", "subject_id", "channel_id", name="uq_deliveries_subject"
    ),
    CheckConstraint(
        "(settled_at IS NOT NULL) = (state IN ('delivered', 'failed', 'folded'))",
        name="settled_has_time",
    ),
)
"""`due_at` of a delivery that is sending is the end of its claim.

`told_by` is the summary that tells a folded delivery; `folded` counts those a summary tells.
"""

Index(
    "ix_deliveries_told_by",
    deliveries.c.told_by,
    sqlite_where=deliveries.c.told_by.is_not(None),
    postgresql_where=deliveries.c.told_by.is_not(None),
)

Index(
    "ix_deliveries_unsettled",
    deliveries.c.state,
    deliveries.c.created_at,
    sqlite_where=deliveries.c.settled_at.is_(None),
    postgresql_where=deliveries.c.settled_at.is_(None),
)
Index(
    "ix_deliveries_settled_at",
    deliveries.c.settled_at,
    sqlite_where=deliveries.c.settled_at.is_not(None),
    postgresql_where=deliveries.c.settled_at.is_not(None),
)

subscriptions = Table(
    "subscriptions",
    metadata,
    Column("channel_id", Text, primary_key=True),
    Column("repository", Repository, primary_key=True),
    Column("source", Word(SubscriptionSource), primary_key=True),
    Column("topics", SortedWords, nullable=False),
    Column("branch", OutsideText),
    Column("except_logins", SortedWords, nullable=False),
    Column("created_by", Text),
    Column("created_at", UtcTime),
    Index("ix_subscriptions_repository", "repository"),
)

audit = Table(
    "audit",
    metadata,
    Column("record_id", _RowNumber, primary_key=True),
    Column("act_id", BigInteger, nullable=False, server_default="0"),
    Column("at", UtcTime, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("user_name", OutsideText, nullable=False),
    Column("team_id", Text),
    Column("action", Word(Action), nullable=False),
    Column("origin", Word(Origin), nullable=False),
    Column("repository", Repository, nullable=False),
    Column("result", Word(ActResult), nullable=False),
    Column("channel_id", Text),
    Column("reason", OutsideText),
    Column("stored_reason", OutsideText),
    Column("paused_at", UtcTime),
    Column("previous_reason", OutsideText),
    Column("previous_paused_at", UtcTime),
    Column("detail", OutsideText),
    Column("answer", OutsideText),
    Column("heard_before", OutsideText),
    Column("heard_after", OutsideText),
    Column("group_act_id", BigInteger, nullable=False, server_default="0"),
    Column("group", Text),
    Column("lifts_at", UtcTime),
    Index("ix_audit_latest", "repository", "action", "result", "at"),
    Index("ix_audit_repository_at", "repository", "at"),
    Index("ix_audit_at", "at"),
    sqlite_autoincrement=True,
)
Index(
    "ix_audit_act_id",
    audit.c.act_id,
    sqlite_where=audit.c.act_id > 0,
    postgresql_where=audit.c.act_id > 0,
)

seen_requests = Table(
    "seen_requests",
    metadata,
    Column("request_key", Text, primary_key=True),
    Column("until", UtcTime, nullable=False),
    Index("ix_seen_requests_until", "until"),
)

cards = Table(
    "cards",
    metadata,
    Column("card_id", _RowNumber, primary_key=True),
    Column("kind", Word(CardKind), nullable=False),
    Column("repository", Repository, nullable=False),
    Column("key", Text, nullable=False),
    Column("channel_id", Text, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("message_ts", OutsideText),
    Column("wanted", Integer, nullable=False),
    Column("shown", Integer, nullable=False),
    Column("due_at", UtcTime, nullable=False),
    Column("failures", Integer, nullable=False),
    Column("closed", Boolean, nullable=False),
    Column("is_lost", Boolean, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    Column("changed_at", UtcTime, nullable=False),
    UniqueConstraint(
        "kind", "repository", "key", "channel_id", "generation", name="uq_cards_generation"
    ),
    Index("ix_cards_changed_at", "changed_at"),
    sqlite_autoincrement=True,
)
TO_EDIT = cards.c.message_ts.is_not(None) & ~cards.c.is_lost & (cards.c.wanted > cards.c.shown)
Index("ix_cards_due", cards.c.due_at, sqlite_where=TO_EDIT, postgresql_where=TO_EDIT)

pauses = Table(
    "pauses",
    metadata,
    Column("pause_id", _RowNumber, primary_key=True),
    Column("repository", Repository, nullable=False),
    Column("paused_at", UtcTime, nullable=False),
    Column("is_exact", Boolean, nullable=False),
    Column("stored_reason", OutsideText, nullable=False),
    Column("reason", OutsideText, nullable=False),
    Column("by_id", Text),
    Column("by_name", OutsideText),
    Column("event_id", BigInteger),
    Column("previous_reason", OutsideText),
    Column("queued_at_start", Integer),
    Column("queued_now", Integer),
    Column("joined", SortedNumbers, nullable=False),
    Column("ended_at", UtcTime),
    Column("ended_by_id", Text),
    Column("ended_by_name", OutsideText),
    Column("ending", Word(PauseEnding)),
    Column("end_told", Boolean, nullable=False),
    UniqueConstraint("repository", "paused_at", name="uq_pauses_paused_at"),
    CheckConstraint("(ended_at IS NULL) = (ending IS NULL)", name="ended_somehow"),
    sqlite_autoincrement=True,
)
Index(
    "ix_pauses_open",
    pauses.c.repository,
    sqlite_where=pauses.c.ended_at.is_(None),
    postgresql_where=pauses.c.ended_at.is_(None),
)
Index(
    "ix_pauses_untold",
    pauses.c.ended_at,
    sqlite_where=~pauses.c.end_told,
    postgresql_where=~pauses.c.end_told,
)
Index("ix_pauses_ended_at", pauses.c.ended_at)

resume_watchers = Table(
    "resume_watchers",
    metadata,
    Column("pause_id", BigInteger, ForeignKey("pauses.pause_id"), primary_key=True),
    Column("user_id", Text, primary_key=True),
)
"""People to be told, once, when the queue goes on."""
polls = Table(
    "polls",
    metadata,
    Column("repository", Repository, primary_key=True),
    Column("polled_at", UtcTime, nullable=False),
)

accounts = Table(
    "accounts",
    metadata,
    Column("user_id", Text, primary_key=True),
    Column("login", Text, nullable=False),
    Column("linked_at", UtcTime, nullable=False),
    Index("ix_accounts_login", "login"),
)

group_acts = Table(
    "group_acts",
    metadata,
    Column("group_act_id", _RowNumber, primary_key=True),
    Column("group", Text, nullable=False),
    Column("action", Word(Action), nullable=False),
    Column("at", UtcTime, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("user_name", OutsideText, nullable=False),
    Column("team_id", Text),
    Column("origin", Word(Origin), nullable=False),
    Column("repositories", CompactJson, nullable=False),
    Column("channel_id", Text),
    Column("asked", OutsideText, nullable=False),
    Column("told_together", SortedWords, nullable=False),
    Column("results", CompactJson, nullable=False),
    Column("ended_at", UtcTime),
    Index("ix_group_acts_latest", "group", "group_act_id"),
    sqlite_autoincrement=True,
)

group_pauses = Table(
    "group_pauses",
    metadata,
    Column("group", Text, primary_key=True),
    Column("repository", Repository, primary_key=True),
    Column("group_act_id", BigInteger, nullable=False),
    Column("stored_reason", OutsideText, nullable=False),
    Column("started_at", UtcTime, nullable=False),
    Column("paused_at", UtcTime),
)
"""What the bot paused for a group and has not restored; `paused_at` is None until it is heard."""
pause_timers = Table(
    "pause_timers",
    metadata,
    Column("repository", Repository, primary_key=True),
    Column("paused_at", UtcTime, primary_key=True),
    Column("lifts_at", UtcTime, nullable=False),
    Column("due_at", UtcTime, nullable=False),
    Column("set_by", Text, nullable=False),
    Column("set_by_name", OutsideText, nullable=False),
    Column("channel_id", Text),
    Column("state", Word(TimerState), nullable=False),
    Column("failures", Integer, nullable=False),
)
Index(
    "ix_pause_timers_due",
    pause_timers.c.due_at,
    sqlite_where=text("state = 'running'"),
    postgresql_where=text("state = 'running'"),
)

pause_reminders = Table(
    "pause_reminders",
    metadata,
    Column("pause_id", BigInteger, primary_key=True, autoincrement=False),
    Column("next_at", UtcTime, nullable=False),
    Column("sent", Integer, nullable=False),
)
