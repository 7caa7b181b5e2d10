"""Channel queues: their names, their deliveries as rows, and the rows of `channels`.

A row of `channels` is one channel queue, with its head and when that can be claimed.

A transaction locks the rows of the queues whose deliveries it changes, in the order of their
names, and calls `_update_heads` before it ends.
"""

from collections.abc import Iterable

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Table,
    Text,
    UniqueConstraint,
    and_,
    bindparam,
    case,
    func,
    select,
    update,
)

from bot.domain.deliveries import Delivery, DeliveryState, NewDelivery, Subject, SubjectKind
from bot.domain.repository import RepositoryName
from bot.store.column_types import AsText, OutsideText, Repository, UtcTime
from bot.store.schema import key, metadata, optional, partial_index, required
from bot.store.statements import Condition, Part, ResultRow, as_row, from_row, slices

channels = Table(
    "channels",
    metadata,
    *key(Text, "line"),
    Column("next_sequence", BigInteger, nullable=False, default=1),
    Column("head_sequence", BigInteger, nullable=False, default=1),
    *optional(UtcTime, "claimable_at"),
    *optional(OutsideText, "suspended_code"),
    *optional(UtcTime, "suspended_at", "retry_at"),
    *optional(Repository, "default_repository"),
    CheckConstraint(
        "(suspended_at IS NULL) = (retry_at IS NULL) "
        "AND (suspended_at IS NULL) = (suspended_code IS NULL)",
        name="suspended_whole",
    ),
    Index(None, "claimable_at", "line"),
    comment="One queue of posts to one channel; its ordinary one has its default repository.",
)
"""A channel has up to three queues, named by `queues_of`.

`head_sequence` is the first delivery that is not settled, or the next one to be added.
`claimable_at` is None when everything is settled. Else it is when the head is due or, in a
suspended channel, `retry_at` where that is later. A transaction that changes deliveries of a
queue holds the lock of this row, so the order in a queue is the order of commits.
`default_repository`, of the ordinary queue alone, is what is meant when none is typed; a row may
be there for that, with nothing ever added.
"""

deliveries = Table(
    "deliveries",
    metadata,
    *key(Text, "delivery_id"),
    *required(Text, "channel_id"),
    Column("line", Text, ForeignKey("channels.line"), nullable=False),
    *required(BigInteger, "sequence"),
    *required(AsText(SubjectKind), "subject_kind"),
    *required(Repository, "repository"),
    *required(BigInteger, "subject_id"),
    *required(UtcTime, "created_at", "due_at"),
    *required(AsText(DeliveryState), "state"),
    *required(BigInteger, "attempts", "looks", "failures", "summarizes"),
    *optional(UtcTime, "attempted_at", "settled_at"),
    *optional(OutsideText, "message_ts", "error"),
    *optional(Text, "kind", "summarized_by"),
    *optional(BigInteger, "root_id"),
    UniqueConstraint("line", "sequence"),
    # The channel comes last: pruning asks who refers to an event, whatever the channel.
    UniqueConstraint(
        "subject_kind", "repository", "subject_id", "channel_id", name="uq_deliveries_subject"
    ),
    # One by one: of a list of three SQLite makes a table for each row that it checks.
    CheckConstraint(
        "(settled_at IS NOT NULL) = (state = 'delivered' OR state = 'failed' "
        "OR state = 'summarized')",
        name="settled_has_time",
    ),
    comment="One post to one channel: it waits, is being sent, is in doubt, or is settled.",
)
"""`due_at` of a delivery that is sending is the end of its claim.

`summarized_by` is the summary that tells a summarized delivery; `summarizes` counts those that a
summary tells.
`root_id` is the live message in whose thread it is told.
"""
UNSETTLED = deliveries.c.settled_at.is_(None)
_IS_TOLD_BY_ANOTHER = deliveries.c.summarized_by.is_not(None)
partial_index(deliveries.c.summarized_by, where=_IS_TOLD_BY_ANOTHER)
partial_index(deliveries.c.state, deliveries.c.created_at, where=UNSETTLED)
partial_index(deliveries.c.settled_at, where=deliveries.c.settled_at.is_not(None))

URGENT = "!"
"""Starts the name of a channel's urgent queue; no channel id starts with it."""

DIGEST = "~"
"""Starts the name of the queue that waits for a channel's digest; no channel id starts with it."""


def delivery_of(row: ResultRow) -> Delivery:
    return from_row(
        Delivery,
        row,
        subject=Subject(row.subject_kind, row.repository, row.subject_id),
        urgent=row.line.startswith(URGENT),
        digest=row.line.startswith(DIGEST),
    )


def queue_of(delivery: Delivery) -> str:
    return _queue(delivery.channel_id, urgent=delivery.urgent, digest=delivery.digest)


def queue_for(new: NewDelivery) -> str:
    return _queue(new.channel_id, urgent=new.urgent, digest=new.digest_at is not None)


def queues_of(channel_id: str) -> list[str]:
    """All queues of a channel: the ordinary one, the urgent one, and the one for its digest."""
    return [channel_id, f"{URGENT}{channel_id}", f"{DIGEST}{channel_id}"]


def _queue(channel_id: str, *, urgent: bool, digest: bool) -> str:
    if digest:
        return f"{DIGEST}{channel_id}"
    return f"{URGENT}{channel_id}" if urgent else channel_id


def new_row(new: NewDelivery, queue: str, sequence: int) -> dict[str, object]:
    is_summarized = new.summarized_by is not None
    return as_row(
        deliveries,
        new,
        line=queue,
        sequence=sequence,
        subject_kind=new.subject.kind,
        repository=new.subject.repository,
        subject_id=new.subject.subject_id,
        created_at=new.due_at,
        due_at=new.digest_at or new.due_at,
        state=DeliveryState.SUMMARIZED if is_summarized else DeliveryState.PENDING,
        settled_at=new.due_at if is_summarized else None,
        attempts=0,
        looks=0,
        failures=0,
    )


_FIRST = (
    select(deliveries.c.sequence)
    .where(
        deliveries.c.line == channels.c.line,
        deliveries.c.sequence >= channels.c.head_sequence,
        UNSETTLED,
    )
    .order_by(deliveries.c.sequence)
    .limit(1)
    .correlate(channels)
)
# In a suspended channel the next try waits for `retry_at`.
_CLAIMABLE_AT = case(
    (deliveries.c.due_at < channels.c.retry_at, channels.c.retry_at),
    else_=deliveries.c.due_at,
)
# To make a statement takes longer than to run it; these two run for each post.
_SET_HEADS = (
    update(channels)
    .where(channels.c.line.in_(bindparam("queues", expanding=True)))
    .values(
        head_sequence=func.coalesce(_FIRST.scalar_subquery(), channels.c.next_sequence),
        claimable_at=_FIRST.with_only_columns(_CLAIMABLE_AT).scalar_subquery(),
    )
)
_LOCKED = (
    select(channels)
    .where(channels.c.line.in_(bindparam("queues", expanding=True)))
    .order_by(channels.c.line)
    .with_for_update()
)


def unsettled(queue: str) -> Condition:
    """The deliveries of a queue that are not settled, read from its head on, not from the start."""
    head = select(channels.c.head_sequence).where(channels.c.line == queue).scalar_subquery()
    return and_(deliveries.c.line == queue, deliveries.c.sequence >= head, UNSETTLED)


class ChannelQueues(Part):
    """Locking channel queues, and keeping their rows up to date."""

    def _lock(self, names: Iterable[str]) -> dict[str, ResultRow]:
        """Lock the rows of these queues, and return those that exist, by name."""
        return {
            row.line: row
            for some in slices(sorted(set(names)))
            for row in self._run(_LOCKED, {"queues": some})
        }

    def _lock_or_add(self, names: Iterable[str]) -> dict[str, ResultRow]:
        wanted = sorted(set(names))
        locked = self._lock(wanted)
        missing = [name for name in wanted if name not in locked]
        if missing:
            new = self._insert(channels).on_conflict_do_nothing()
            self._run(new, [{"line": name} for name in missing])
            locked |= self._lock(missing)
        return locked

    def _update_heads(self, names: Iterable[str]) -> None:
        """Set the head of each locked queue to its first unsettled delivery."""
        for some in slices(sorted(set(names))):
            self._run(_SET_HEADS, {"queues": some})

    def _update_waiting(self, queue: str, *which: Condition, **values: object) -> bool:
        """Change pending deliveries of a locked queue; whether there were any."""
        pending = deliveries.c.state == DeliveryState.PENDING
        changed = self._change(deliveries, unsettled(queue), pending, *which, **values)
        if changed:
            self._update_heads([queue])
        return changed > 0


class ChannelDefaults(Part):
    """The repository that is meant in a channel when none is typed, in the row of its queue."""

    def set(self, channel_id: str, repository: RepositoryName) -> None:
        """Instead of the one there was, if there was one."""
        self._put(channels, {"line": channel_id, "default_repository": repository})

    def forget(self, channel_id: str) -> None:
        self._change(channels, channels.c.line == channel_id, default_repository=None)

    def of(self, channel_id: str) -> RepositoryName | None:
        default = select(channels.c.default_repository).where(channels.c.line == channel_id)
        found: RepositoryName | None = self._run(default).scalar_one_or_none()
        return found
