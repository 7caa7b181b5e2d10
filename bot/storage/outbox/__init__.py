"""Deliveries: added in order, claimed from the head of each channel, settled once."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import bindparam, case, func, select, update

from bot.domain.deliveries import Delivery, DeliveryState, NewDelivery, Subject
from bot.domain.repository import RepositoryName
from bot.ports import Folded, OutboxSummary, ParkedChannel
from bot.storage.outbox.added_rows import (
    NEW,
    AddedRow,
    appended,
    columns_of,
    digests_in_order,
    numbers,
)
from bot.storage.outbox.claims import Claims
from bot.storage.outbox.delivery_rows import (
    FIELDS,
    RECORD_ATTEMPTED,
    RECORD_PENDING,
    delivery_of,
    ended_lines,
    line_for,
    line_with,
    lines_of,
    outcome_values,
    require_recorded,
)
from bot.storage.outbox.destinations import DIGEST, URGENT, Destinations
from bot.storage.outbox.summaries import Summaries
from bot.storage.statements import Prepared, PreparedList, Statements
from bot.storage.tables import deliveries, destinations


class SqlOutbox:
    """Deliveries as rows, with one row a line that says where it starts.

    Each claim counts an attempt, so the number of attempts tells one claim from the next.
    """

    def __init__(self, statements: Statements) -> None:
        self._statements = statements
        self._destinations = Destinations(statements)
        self._claims = Claims(statements, self._destinations)
        self._summaries = Summaries(statements, self._destinations)
        self._open: set[str] = set()
        """Lines that this transaction has locked, of channels that are not parked."""

    def add(self, deliveries: Sequence[NewDelivery]) -> int:
        """`created_at` becomes the given `due_at`, also of what waits for a digest."""
        if not deliveries:
            return 0
        deliveries = digests_in_order(deliveries)
        lines = [line_for(new) for new in deliveries]
        locked = self._destinations.lock_or_add(lines)
        sequences = numbers(lines, locked)
        rows = [AddedRow(*each) for each in zip(deliveries, lines, sequences, strict=True)]
        count = self._statements.add(_ADD, columns_of(deliveries, lines, sequences), **NEW)
        if count < len(rows):
            known = self._statements.rows_in(_ADDED, [new.delivery_id for new in deliveries])
            added = {(row.delivery_id, row.sequence) for row in known}
            rows = [row for row in rows if (row.new.delivery_id, row.sequence) in added]
        self._destinations.save(appended(locked, rows))
        self._summaries.bring_forward(rows)
        return len(rows)

    def claim(
        self, *, now: datetime, claimed_until: datetime, channels: int, per_channel: int
    ) -> Sequence[Delivery]:
        return self._claims.claim(
            now=now, claimed_until=claimed_until, channels=channels, per_channel=per_channel
        )

    def attempt(self, delivery: Delivery, now: datetime) -> None:
        self._claims.attempt(delivery, now)

    def record(self, deliveries: Sequence[Delivery]) -> None:
        """Raise LeaseLost, naming the delivery, when its claim is another's by now.

        `attempts` and `sequence` are never changed. A `None` as `attempted_at` keeps the stored
        time unless the delivery is pending again. What was recorded already is passed over, so
        that a batch whose commit went unheard can be recorded again.
        """
        if any(delivery.state is DeliveryState.SENDING for delivery in deliveries):
            raise ValueError("only the outcome of an attempt is recorded")
        lines = {line_with(one) for one in deliveries}
        # All lines of a channel, in one order: it may be parked with this, or not any more, while
        # the outcome of another of its lines is recorded.
        of_channels = {line for one in deliveries for line in lines_of(one.channel_id)}
        locked = self._destinations.lock(of_channels)
        self._open.update(line for line, one in locked.items() if one.parked_at is None)
        passed_over = [one for one in deliveries if not self._record(one)]
        stored = self._stored([one.delivery_id for one in passed_over])
        for one in passed_over:
            require_recorded(one, stored.get(one.delivery_id))
        # Nearly every line has nothing but what is settled now: nothing of it has to be read.
        ended = {} if passed_over else ended_lines(deliveries, locked)
        self._destinations.save([ended[line] for line in sorted(ended)])
        self._destinations.find_heads(lines - ended.keys())

    def _record(self, delivery: Delivery) -> bool:
        """Whether its claim was still open."""
        statement = RECORD_PENDING if delivery.state is DeliveryState.PENDING else RECORD_ATTEMPTED
        return bool(self._statements.changed(statement, **outcome_values(delivery)))

    def _stored(self, delivery_ids: Sequence[str]) -> dict[str, Delivery]:
        rows = self._statements.rows_in(_STORED, delivery_ids)
        return {row.delivery_id: delivery_of(row) for row in rows}

    def park(self, parked: ParkedChannel) -> None:
        self._open.difference_update(lines_of(parked.channel_id))
        self._set_parked(parked.channel_id, parked)

    def unpark(self, channel_id: str) -> None:
        # Asked first: nearly every channel that is posted to was not parked.
        lines = lines_of(channel_id)
        if self._open.isdisjoint(lines) and self._destinations.any_parked(lines):
            self._set_parked(channel_id, None)

    def _set_parked(self, channel_id: str, parked: ParkedChannel | None) -> None:
        """All lines of a channel share its fate."""
        lines = lines_of(channel_id)
        if parked is None:
            self._destinations.lock(lines)
        else:
            self._destinations.lock_or_add(lines)
        self._statements.run(
            update(destinations)
            .where(destinations.c.line.in_(lines))
            .values(
                parked_code=parked.code if parked else None,
                parked_at=parked.parked_at if parked else None,
                retry_at=parked.retry_at if parked else None,
            )
        )
        self._destinations.find_heads(lines)

    def fold(self, *, now: datetime, longer_than: int, at_most: int) -> int:
        return self._summaries.fold(now=now, longer_than=longer_than, at_most=at_most)

    def drop_unheard(self, channel_id: str, repository: RepositoryName, now: datetime) -> None:
        self._summaries.drop_unheard(channel_id, repository, now)

    def move_digest(
        self, channel_id: str, repository: RepositoryName, to: datetime, now: datetime
    ) -> None:
        self._summaries.move_digest(channel_id, repository, to, now)

    def folded_into(self, delivery_id: str) -> Folded:
        return self._summaries.folded_into(delivery_id)

    def told_with(self, delivery_id: str, limit: int) -> Sequence[Subject]:
        return self._summaries.told_with(delivery_id, limit)

    def get(self, channel_id: str, subject: Subject) -> Delivery | None:
        rows = self._statements.run(
            select(*FIELDS).where(
                deliveries.c.subject_kind == subject.kind,
                deliveries.c.repository == subject.repository,
                deliveries.c.subject_id == subject.subject_id,
                deliveries.c.channel_id == channel_id,
            )
        )
        row = rows.first()
        return None if row is None else delivery_of(row)

    def in_doubt(self, limit: int) -> Sequence[Delivery]:
        """The oldest first."""
        rows = self._statements.run(
            select(*FIELDS)
            .where(deliveries.c.settled_at.is_(None), deliveries.c.state == DeliveryState.IN_DOUBT)
            .order_by(deliveries.c.created_at, deliveries.c.delivery_id)
            .limit(limit)
        )
        return [delivery_of(row) for row in rows]

    def summary(self) -> OutboxSummary:
        counted = self._statements.run(
            select(deliveries.c.state, func.count(), func.min(_UNLESS_PARKED))
            .join_from(deliveries, destinations, destinations.c.line == deliveries.c.line)
            # What waits for a digest is not late.
            .where(deliveries.c.settled_at.is_(None), deliveries.c.line.not_like(f"{DIGEST}%"))
            .group_by(deliveries.c.state)
        )
        states = {state: (count, oldest) for state, count, oldest in counted}
        parked = self._statements.run(
            select(
                destinations.c.line,
                destinations.c.parked_code,
                destinations.c.parked_at,
                destinations.c.retry_at,
                destinations.c.claimable_at,
            )
            .where(destinations.c.parked_at.is_not(None))
            .order_by(destinations.c.line)
        )
        rows = parked.all()
        # A channel that nothing waits for is nothing to mend.
        waited_for = {row.line for row in rows if row.claimable_at is not None}
        return OutboxSummary(
            pending=states.get(DeliveryState.PENDING, (0,))[0],
            sending=states.get(DeliveryState.SENDING, (0,))[0],
            in_doubt=states.get(DeliveryState.IN_DOUBT, (0,))[0],
            oldest_created_at=min((one for _, one in states.values() if one), default=None),
            parked=[
                ParkedChannel(row.line, row.parked_code, row.parked_at, row.retry_at)
                for row in rows
                if row.line[0] not in {URGENT, DIGEST}
                and not waited_for.isdisjoint(lines_of(row.line))
            ],
        )


_UNLESS_PARKED = case((destinations.c.parked_at.is_(None), deliveries.c.created_at))

_LATER = {"message_ts", "error"}

_ADD = Prepared(
    lambda insert: (
        insert(deliveries)
        .values(
            {
                column.name: bindparam(column.name)
                for column in deliveries.columns
                if column.name not in _LATER
            }
        )
        .on_conflict_do_nothing(
            index_elements=["subject_kind", "repository", "subject_id", "channel_id"]
        )
        .returning(deliveries.c.delivery_id)
    )
)

_ADDED = PreparedList(
    "delivery",
    deliveries.c.delivery_id.type,
    lambda _, delivery_ids: select(deliveries.c.delivery_id, deliveries.c.sequence).where(
        deliveries.c.delivery_id.in_(delivery_ids)
    ),
)


_STORED = PreparedList(
    "delivery",
    deliveries.c.delivery_id.type,
    lambda _, delivery_ids: select(*FIELDS).where(deliveries.c.delivery_id.in_(delivery_ids)),
)
