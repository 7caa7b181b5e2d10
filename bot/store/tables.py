"""All tables, and what their indexes hold."""

from datetime import datetime

import sqlalchemy as sa

from bot.domain.asked import Asked
from bot.domain.audit import Action, Actor, ActResult, Evidence, Origin
from bot.domain.boards import Picture, Unread
from bot.domain.deliveries import DeliveryState, SubjectKind
from bot.domain.event_log import Walk
from bot.domain.event_records import FreezeAttributes
from bot.domain.freezes import Stage
from bot.domain.group_acts import RepositoryResult
from bot.domain.leases import WORKER_LEASES, KeyKind
from bot.domain.live_messages import LiveKind
from bot.domain.notices import Notice
from bot.domain.pause_records import PauseEnding, ReminderPlan, Timer
from bot.domain.queue_health import AlertKind
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import DigestTime, Style, SubscriptionSource
from bot.store.schema import (
    Details,
    OutsideText,
    Repository,
    SortedSet,
    UtcTime,
    as_json,
    as_text,
    key,
    optional,
    partial_index,
    required,
    row_number,
    table,
)

repositories = table(
    "repositories",
    "One repository: what is read of its log, its failures in a row, what boards show.",
    *key(Repository, "repository"),
    *optional(UtcTime, "origin", "watermark", "polled_at", "read_at"),
    *optional(as_json(Walk), "walk"),
    *optional(SortedSet, "polled_types"),
    *optional(sa.BigInteger, "failures", "failed_pull_request"),
    *optional(as_json(Picture), "picture"),
    *optional(as_json(Unread), "unread"),
)
"""Each writer sets its own columns; columns without a value yet are None.

To avoid deadlocks, a transaction writes here before it locks live messages and channels.
"""

events = table(
    "events",
    "One event of a repository's event log.",
    *key(Repository, "repository"),
    *key(sa.BigInteger, "event_id"),
    *required(UtcTime, "received_at"),
    *required(OutsideText, "type"),
    *optional(sa.BigInteger, "pull_request"),
    *optional(OutsideText, "base_ref", "session_id"),
    *required(Details, "details"),
    *required(sa.Boolean, "routed"),
    sa.Index(None, "received_at"),
    sa.Index(None, "repository", "pull_request", "received_at"),
)
partial_index(events.c.repository, events.c.received_at, events.c.event_id, where=~events.c.routed)

pull_requests = table(
    "pull_requests",
    "What people are shown about one pull request.",
    *key(Repository, "repository"),
    *key(sa.BigInteger, "number"),
    *required(OutsideText, "title", "url", "author"),
    *required(UtcTime, "seen_at"),
    sa.Index(None, "seen_at"),
)

alerts = table(
    "alerts",
    "One warning, active or over: about the health of one queue, or an outage.",
    row_number("alert_id"),
    *optional(Repository, "repository"),
    *optional(as_text(AlertKind), "kind"),
    *required(UtcTime, "began_at"),
    *optional(UtcTime, "ended_at", "notified_at"),
    *optional(sa.BigInteger, "value", "threshold", "pull_request", "late"),
    *optional(OutsideText, "batch"),
    *optional(sa.Text, "mention"),
    *optional(as_json(tuple[RepositoryName, ...]), "repositories"),
    *optional(as_json(dict[RepositoryName, datetime]), "recovered"),
    sa.CheckConstraint(
        "(kind IS NULL) = (repositories IS NOT NULL) AND (repository IS NOT NULL OR kind IS NULL)",
        name="alert_or_outage",
    ),
)
"""A row without a kind is an outage; Slack's has no repository.
`value` to `mention` are of queue health; `notified_at`, `recovered` and `late` are of an outage.
"""
IS_OUTAGE = alerts.c.kind.is_(None)
LASTS = alerts.c.ended_at.is_(None)
partial_index(alerts.c.repository, alerts.c.kind, unique=True, where=LASTS)
partial_index(alerts.c.alert_id, where=IS_OUTAGE & LASTS)

freezes = table(
    "freezes",
    "One scheduled freeze, by its first known event: planned, in force or over.",
    *key(Repository, "repository"),
    *key(sa.BigInteger, "event_id"),
    *required(sa.BigInteger, "set_id"),
    *required(UtcTime, "set_at"),
    *required(as_json(FreezeAttributes), "terms"),
    *required(as_text(Stage), "stage"),
    *optional(as_json(FreezeAttributes), "before"),
    *optional(UtcTime, "begins_at", "ends_at", "over_at", "due_at"),
    *optional(OutsideText, "by", "removed_by", "removed_for"),
    *optional(sa.BigInteger, "queued"),
)
"""`due_at`: when its next stage begins."""
partial_index(freezes.c.due_at, where=freezes.c.due_at.is_not(None))

channels = table(
    "channels",
    "One queue of posts to one channel; its ordinary one has its default repository.",
    *key(sa.Text, "queue"),
    *required(sa.BigInteger, "next_sequence", "head_sequence", default=1),
    *optional(UtcTime, "claimable_at", "suspended_at", "retry_at"),
    *optional(OutsideText, "suspended_code"),
    *optional(Repository, "default_repository"),
    sa.CheckConstraint(
        "(suspended_at IS NULL) = (retry_at IS NULL) "
        "AND (suspended_at IS NULL) = (suspended_code IS NULL)",
        name="suspended_whole",
    ),
    sa.Index(None, "claimable_at", "queue"),
)
"""`head_sequence`: the first delivery that is not settled, or the next one to be added.
`claimable_at`: when the head is due, or `retry_at` if that is later; None if all is settled.
`default_repository`: only the ordinary queue has one, and its row may exist for that alone.
"""

deliveries = table(
    "deliveries",
    "One post to one channel: it waits, is being sent, is in doubt, or is settled.",
    *key(sa.Text, "delivery_id"),
    *required(sa.Text, "channel_id"),
    sa.Column("queue", sa.Text, sa.ForeignKey("channels.queue"), nullable=False),
    *required(as_text(SubjectKind), "subject_kind"),
    *required(Repository, "repository"),
    *required(sa.BigInteger, "sequence", "subject_id"),
    *required(UtcTime, "created_at", "due_at"),
    *required(as_text(DeliveryState), "state"),
    *required(sa.BigInteger, "attempts", "lookups", "failures", "summarizes", default=0),
    *optional(UtcTime, "attempted_at", "settled_at"),
    *optional(OutsideText, "message_ts", "error"),
    *optional(sa.Text, "kind", "summarized_by"),
    *optional(sa.BigInteger, "root_id"),
    sa.UniqueConstraint("queue", "sequence"),
    # The channel comes last: pruning looks up events in any channel.
    sa.UniqueConstraint(
        "subject_kind", "repository", "subject_id", "channel_id", name="uq_deliveries_subject"
    ),
    # Not IN (...): for a list of three, SQLite builds a table for each row it checks.
    sa.CheckConstraint(
        "(settled_at IS NOT NULL) = (state = 'delivered' OR state = 'failed' "
        "OR state = 'summarized')",
        name="settled_has_time",
    ),
)
"""While a delivery is being sent, `due_at` is the end of its claim."""
UNSETTLED = deliveries.c.settled_at.is_(None)
partial_index(deliveries.c.summarized_by, where=deliveries.c.summarized_by.is_not(None))
partial_index(deliveries.c.state, deliveries.c.created_at, where=UNSETTLED)
partial_index(deliveries.c.settled_at, where=deliveries.c.settled_at.is_not(None))

live_messages = table(
    "live_messages",
    "One message that is edited as what it shows changes: a pause, a thread, a board.",
    row_number("message_id"),
    *required(as_text(LiveKind), "kind"),
    *required(Repository, "repository"),
    *required(sa.Text, "key", "channel_id"),
    *required(sa.Boolean, "is_second", "closed", "is_lost", default=False),
    *required(sa.BigInteger, "wanted", default=1),
    *required(sa.BigInteger, "shown", "failures", default=0),
    *required(sa.BigInteger, "priority"),
    *optional(sa.Text, "digest"),
    *required(UtcTime, "due_at", "created_at", "changed_at"),
    *optional(OutsideText, "message_ts", "made_by", "ended_by"),
    *optional(UtcTime, "ended_at"),
    sa.UniqueConstraint("kind", "repository", "key", "channel_id", name="uq_live_messages_subject"),
    sa.Index(None, "changed_at"),
)
"""`made_by`, `ended_by` and `ended_at` belong to a board, which is open until it ends."""

threads = table(
    "threads",
    "The subject of a thread: a pull request's queue entry, or a bisection.",
    *key(as_text(LiveKind), "kind"),
    *key(Repository, "repository"),
    *key(sa.Text, "key"),
    *required(UtcTime, "last_at"),
    *optional(UtcTime, "began_at", "ended_at"),
    *optional(sa.BigInteger, "pull_request", "latest_event_id"),
    *optional(OutsideText, "session_id", "batch_id"),
    *optional(sa.Boolean, "entered"),
    *optional(SortedSet, "pull_requests"),
    sa.Index(None, "kind", "repository", "pull_request"),
    sa.Index(None, "last_at"),
    sa.Index(None, "kind", "repository", "last_at"),
)
"""The key is that of the `LiveSubject` shown by its live messages.

`batch_id`, `pull_requests` and `latest_event_id` belong to bisections, the rest to queue entries.
"""
WAITS = live_messages.c.wanted > live_messages.c.shown
TO_EDIT = live_messages.c.message_ts.is_not(None) & ~live_messages.c.is_lost & WAITS
OPEN_BOARD = sa.text("kind = 'board' AND ended_at IS NULL")
partial_index(live_messages.c.priority, live_messages.c.due_at, where=TO_EDIT)
partial_index(live_messages.c.repository, live_messages.c.channel_id, unique=True, where=OPEN_BOARD)
"""The repository comes first, because boards are read by repository."""

group_acts = table(
    "group_acts",
    "One pause or resume that a person asked for on a group of repositories.",
    row_number("group_act_id"),
    *required(sa.Text, "group"),
    *required(as_json(Actor), "actor"),
    *required(as_text(Action), "action"),
    *required(as_text(Origin), "origin"),
    *required(UtcTime, "at"),
    *required(as_json(Asked), "asked"),
    *optional(sa.Text, "channel_id"),
    *required(as_json(tuple[RepositoryName, ...]), "repositories"),
    *required(SortedSet, "notified_together"),
    *required(as_json(tuple[RepositoryResult, ...]), "results"),
    *optional(UtcTime, "ended_at", "resumes_at"),
)

pauses = table(
    "pauses",
    "One pause of one repository's queue, in force or over, with its timer.",
    row_number("pause_id"),
    *required(Repository, "repository"),
    *required(UtcTime, "paused_at"),
    *required(sa.Boolean, "is_exact"),
    *required(OutsideText, "stored_reason", "reason"),
    *optional(OutsideText, "previous_reason"),
    *optional(as_json(Actor), "by", "ended_by"),
    *optional(sa.BigInteger, "event_id", "queued_at_start", "queued_now"),
    *required(SortedSet, "joined", "stopped"),
    *optional(UtcTime, "ended_at"),
    *optional(as_text(PauseEnding), "ending"),
    *required(sa.Boolean, "end_notified"),
    *required(sa.BigInteger, "group_act_id"),
    *optional(as_json(Timer), "timer"),
    *optional(UtcTime, "timer_due_at"),
    *optional(as_json(ReminderPlan), "reminders"),
    sa.UniqueConstraint("repository", "paused_at", name="uq_pauses_paused_at"),
    sa.CheckConstraint("(ended_at IS NULL) = (ending IS NULL)", name="ended_somehow"),
)
"""To change a pause, lock its repository first; lock several repositories in their order.

`timer_due_at` is that of the timer.
"""
IN_FORCE = pauses.c.ended_at.is_(None)
TIMED = pauses.c.timer_due_at.is_not(None)
partial_index(pauses.c.repository, where=IN_FORCE)
partial_index(pauses.c.timer_due_at, where=TIMED)
sa.Index(None, pauses.c.ended_at)

resume_watchers = table(
    "resume_watchers",
    "One person to notify, once, when one pause ends.",
    sa.Column("pause_id", sa.BigInteger, sa.ForeignKey("pauses.pause_id"), primary_key=True),
    *key(sa.Text, "user_id"),
)

subscriptions = table(
    "subscriptions",
    "One channel's subscription to one repository, by command or by the settings.",
    *key(sa.Text, "channel_id"),
    *key(Repository, "repository"),
    *key(as_text(SubscriptionSource), "source"),
    *required(SortedSet, "topics", "branches", "except_logins"),
    *optional(sa.Text, "created_by"),
    *optional(UtcTime, "created_at"),
    *required(as_text(Style), "style"),
    *optional(as_json(DigestTime), "digest"),
    sa.Index(None, "repository"),
)

people = table(
    "people",
    "One person in Slack: their login at the code host, and the notices they chose.",
    *key(sa.Text, "user_id"),
    *optional(sa.Text, "login"),
    *optional(UtcTime, "linked_at"),
    *optional(as_json(dict[Notice, bool]), "choices"),
    sa.Index(None, "login"),
)
"""`linked_at`: when the person chose their login, or to have none; None if the settings decide."""
HAS_CHOSEN = people.c.choices.is_not(None)
partial_index(people.c.user_id, where=HAS_CHOSEN)

audit = table(
    "audit",
    "One act of a person, or its refusal. Only old refusals are ever deleted.",
    row_number("record_id"),
    *required(sa.BigInteger, "act_id", "group_act_id"),
    *required(UtcTime, "at"),
    *required(as_json(Actor), "actor"),
    *optional(sa.Text, "channel_id", "group"),
    *required(as_text(Action), "action"),
    *required(as_text(Origin), "origin"),
    *required(Repository, "repository"),
    *required(as_text(ActResult), "result"),
    *optional(OutsideText, "reason", "stored_reason", "previous_reason", "detail", "answer"),
    *optional(OutsideText, "setting_before", "setting_after"),
    *optional(as_json(Evidence), "evidence"),
    *optional(UtcTime, "paused_at", "previous_paused_at", "resumes_at"),
    *optional(sa.BigInteger, "pull_request"),
    sa.Index(None, "repository", "at"),
    sa.Index(None, "at"),
)
partial_index(audit.c.act_id, where=audit.c.act_id > 0)

leases = table(
    "leases",
    "One thing that one process has for a time: work, or its presence as a worker.",
    *key(sa.Text, "name"),
    *required(sa.Text, "holder"),
    *required(sa.BigInteger, "token"),
    *required(UtcTime, "expires_at"),
)
"""A released lease stays, expired, so that tokens never repeat; an expired heartbeat goes."""
PRESENT = leases.c.name.like(sa.literal_column(f"'{WORKER_LEASES}%'"))
"""A literal, because with a parameter no database would use the partial index."""
partial_index(leases.c.expires_at, where=PRESENT)

expiring_keys = table(
    "expiring_keys",
    "One thing remembered until a time: a request, a limit of Slack's, a clock's jump.",
    *key(as_text(KeyKind), "kind"),
    *key(sa.Text, "key"),
    *required(UtcTime, "until"),
    *optional(sa.BigInteger, "value"),
    sa.Index(None, "until"),
)
"""`value` is the time at which a limit was met, or a jump's seconds, negative if back.
The times of limits are the database's. The key of a jump is its time.
"""
