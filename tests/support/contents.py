"""The contents of a database, for tests that look inside."""

from collections import defaultdict
from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

from sqlalchemy import Engine, Select, select

from bot.acts.group_act import GroupAct
from bot.acts.group_acts import GroupActs
from bot.acts.record import AuditRecord
from bot.acts.rows import Audit
from bot.health.outage import Outage
from bot.health.outage_rows import Outages
from bot.kernel.metrics import SuspendedChannel
from bot.kernel.repository import RepositoryName
from bot.log.position import Position
from bot.log.rows import Positions, PullRequests
from bot.log.tables import events, pull_requests, repositories
from bot.merge_queue.event_records import EventRecord, PullRequestRecord
from bot.pauses.pause import PauseRecord
from bot.pauses.rows import Pauses
from bot.posts.channel_queues import delivery_of
from bot.posts.delivery import Delivery, Subject, SubjectKind
from bot.posts.events import events_about
from bot.posts.live_message import LiveMessage
from bot.posts.live_messages import LiveMessages
from bot.posts.outbox import Outbox
from bot.posts.tables import deliveries, live_messages
from bot.store.lease_values import Lease
from bot.store.statements import Dataclass, Numbered
from bot.store.tables import leases
from bot.store.transaction import Transaction

T = TypeVar("T", bound=Dataclass)


class Contents:
    """Each kind of row is read when it is first asked for."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def _rows(self, statement: Select[*tuple[Any, ...]]) -> list[Any]:
        with self._engine.connect() as connection:
            return list(connection.execute(statement).all())

    def _column(self, column: Any) -> list[Any]:
        return [row[0] for row in self._rows(select(column).order_by(column))]

    def _numbered(self, part: Callable[[Transaction], Numbered[T]]) -> dict[int, T]:
        with self._engine.connect() as connection:
            records = part(Transaction(connection))
            return dict(sorted(records.get(self._column(records.number)).items()))

    @cached_property
    def deliveries(self) -> dict[str, Delivery]:
        """In the order in which they were added to each line."""
        kept = deliveries.c
        rows = self._rows(select(deliveries).order_by(kept.created_at, kept.queue, kept.sequence))
        return {row.delivery_id: row for row in map(delivery_of, rows)}

    @cached_property
    def summarized_by(self) -> dict[str, list[Delivery]]:
        """What each summary tells."""
        kept = deliveries.c
        reported: dict[str, list[Delivery]] = defaultdict(list)
        for delivery_id, summary in self._rows(
            select(kept.delivery_id, kept.summarized_by).where(kept.summarized_by.is_not(None))
        ):
            reported[summary].append(self.deliveries[delivery_id])
        return reported

    @cached_property
    def suspended(self) -> dict[str, SuspendedChannel]:
        with self._engine.connect() as connection:
            transaction = Transaction(connection)
            found = Outbox(transaction).summary().suspended
        return {subscription.channel_id: subscription for subscription in found}

    @cached_property
    def leases(self) -> dict[str, Lease]:
        kept = leases.c
        rows = self._rows(select(kept.name, kept.holder, kept.token, kept.expires_at))
        return {row.name: Lease(*row) for row in rows}

    @cached_property
    def routed(self) -> dict[Subject, bool]:
        kept = events.c
        rows = self._rows(select(kept.repository, kept.event_id, kept.routed))
        return {Subject(SubjectKind.EVENT, row.repository, row.event_id): row[2] for row in rows}

    @cached_property
    def events(self) -> dict[Subject, EventRecord]:
        with self._engine.connect() as connection:
            transaction = Transaction(connection)
            return dict(events_about(transaction, list(self.routed)))

    @cached_property
    def pull_requests(self) -> dict[tuple[RepositoryName, int], PullRequestRecord]:
        kept = pull_requests.c
        keys = [(row[0], row[1]) for row in self._rows(select(kept.repository, kept.number))]
        with self._engine.connect() as connection:
            transaction = Transaction(connection)
            part = PullRequests(transaction)
            return {
                (name, number): record
                for name, wanted in keys
                for number, record in part.get(name, [wanted]).items()
            }

    @cached_property
    def positions(self) -> dict[RepositoryName, Position]:
        names = self._column(repositories.c.repository)
        with self._engine.connect() as connection:
            transaction = Transaction(connection)
            return dict(Positions(transaction).load(names))

    @cached_property
    def audit(self) -> dict[int, AuditRecord]:
        return self._numbered(Audit)

    @cached_property
    def live_messages(self) -> dict[int, LiveMessage]:
        ids = self._column(live_messages.c.message_id)
        with self._engine.connect() as connection:
            transaction = Transaction(connection)
            return dict(sorted(LiveMessages(transaction).get(ids).items()))

    @cached_property
    def pauses(self) -> dict[int, PauseRecord]:
        return self._numbered(Pauses)

    @cached_property
    def outages(self) -> dict[int, Outage]:
        return self._numbered(Outages)

    @cached_property
    def group_acts(self) -> dict[int, GroupAct]:
        return self._numbered(GroupActs)
