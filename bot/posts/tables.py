"""Tables of the outbox and of live messages."""

import sqlalchemy as sa

from bot.posts.delivery import DeliveryState, SubjectKind
from bot.posts.live_message import LiveKind
from bot.store.schema import (
    OutsideText,
    Repository,
    UtcTime,
    as_text,
    key,
    optional,
    partial_index,
    required,
    row_number,
    table,
)

channel_queues = table(
    "channel_queues",
    "One queue of posts to one channel: ordinary, urgent, or for its digest.",
    *key(sa.Text, "queue"),
    *required(sa.BigInteger, "next_sequence", "head_sequence", default=1),
    *optional(UtcTime, "claimable_at", "suspended_at", "retry_at"),
    *optional(OutsideText, "suspended_code"),
    sa.CheckConstraint(
        "(suspended_at IS NULL) = (retry_at IS NULL) "
        "AND (suspended_at IS NULL) = (suspended_code IS NULL)",
        name="suspended_whole",
    ),
    sa.Index(None, "claimable_at", "queue"),
)
"""`head_sequence`: the first delivery that is not settled, or the next one to be added.
`claimable_at`: when the head is due, or `retry_at` if that is later; None if all is settled.
"""


deliveries = table(
    "deliveries",
    "One post to one channel: it waits, is being sent, is in doubt, or is settled.",
    *key(sa.Text, "delivery_id"),
    *required(sa.Text, "channel_id"),
    sa.Column("queue", sa.Text, sa.ForeignKey("channel_queues.queue"), nullable=False),
    *required(as_text(SubjectKind), "subject_kind"),
    *required(Repository, "repository"),
    *required(sa.BigInteger, "sequence", "subject_id"),
    *required(UtcTime, "created_at", "due_at"),
    *required(as_text(DeliveryState), "state"),
    *required(sa.BigInteger, "attempts", "lookups", "failures", "summarizes", default=0),
    *optional(UtcTime, "attempted_at", "settled_at"),
    *optional(OutsideText, "message_ts", "error"),
    *optional(sa.Text, "kind", "summarized_by", "process"),
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
partial_index(deliveries.c.message_ts, where=deliveries.c.message_ts.is_not(None))


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
    *optional(sa.Text, "content_hash", "edited_by"),
    *required(UtcTime, "due_at", "created_at", "changed_at"),
    *optional(OutsideText, "message_ts"),
    sa.UniqueConstraint("kind", "repository", "key", "channel_id", name="uq_live_messages_subject"),
    sa.Index(None, "changed_at"),
)
"""`edited_by` is the process that edited the message last."""


WAITS = live_messages.c.wanted > live_messages.c.shown


TO_EDIT = live_messages.c.message_ts.is_not(None) & ~live_messages.c.is_lost & WAITS
partial_index(live_messages.c.priority, live_messages.c.due_at, where=TO_EDIT)
partial_index(
    live_messages.c.kind,
    live_messages.c.repository,
    live_messages.c.key,
    where=~live_messages.c.closed,
)
partial_index(live_messages.c.message_ts, where=live_messages.c.message_ts.is_not(None))
