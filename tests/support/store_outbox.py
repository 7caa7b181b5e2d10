"""The Outbox port in dictionaries."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import takewhile

from typing_extensions import override

from bot import ports
from bot.domain.classification import EventKind
from bot.domain.deliveries import (
    NOT_HEARD,
    SETTLED,
    Delivery,
    DeliveryState,
    NewDelivery,
    Subject,
    failed,
    is_due,
)
from bot.domain.errors import LeaseLost
from bot.domain.repository import RepositoryName
from bot.ports import Added, Folded, OutboxSummary, ParkedChannel
from tests.support.as_stored import as_stored

PRUNE_SLICE = 1000
FAILURES_TOLD = 10
SMALL = 50

Line = tuple[str, bool, bool]
"""A channel, whether it is its urgent line, and whether it waits for the digest."""


class InMemoryOutbox(ports.Outbox):
    def __init__(
        self,
        deliveries: dict[str, Delivery],
        next_sequences: dict[Line, int],
        told_by: dict[str, str],
        parked: dict[str, ParkedChannel],
    ) -> None:
        self._deliveries = deliveries
        self._next_sequences = next_sequences
        self._told_by = told_by
        self._parked = parked

    @override
    async def add(self, deliveries: Sequence[NewDelivery]) -> int:
        return len(self._add(deliveries))

    @override
    async def add_claimed(
        self,
        deliveries: Sequence[NewDelivery],
        at_once: Collection[str],
        *,
        now: datetime,
        claimed_until: datetime,
    ) -> Added:
        if claimed_until <= now:
            raise ValueError("a claim ends after it begins")
        busy = set(self._unsettled())
        added = self._add(deliveries)
        firsts: dict[Line, str] = {}
        for new in deliveries:
            if new.told_by is None:
                line = (new.channel_id, new.urgent, new.digest_at is not None)
                firsts.setdefault(line, new.delivery_id)
        claimed = []
        for line, unsettled in self._unsettled().items():
            first = unsettled[0]
            is_free = line not in busy and line[0] not in self._parked and first.due_at <= now
            is_first = firsts.get(line) == first.delivery_id
            if is_free and is_first and first.delivery_id in at_once:
                claimed.append(_claimed(first, claimed_until))
                self._deliveries[first.delivery_id] = replace(claimed[-1], attempted_at=now)
        return Added(len(added), claimed)

    def _add(self, deliveries: Sequence[NewDelivery]) -> list[str]:
        added = []
        known = {(each.channel_id, each.subject) for each in self._deliveries.values()}
        for new in map(as_stored, deliveries):
            if (new.channel_id, new.subject) not in known:
                known.add((new.channel_id, new.subject))
                line = (new.channel_id, new.urgent, new.digest_at is not None)
                sequence = self._next_sequences.get(line, 1)
                self._next_sequences[line] = sequence + 1
                self._deliveries[new.delivery_id] = Delivery(
                    delivery_id=new.delivery_id,
                    channel_id=new.channel_id,
                    subject=new.subject,
                    sequence=sequence,
                    created_at=new.due_at,
                    due_at=new.digest_at or new.due_at,
                    urgent=new.urgent,
                    digest=new.digest_at is not None,
                    kind=new.kind,
                    card_id=new.card_id,
                    folded=new.folded,
                    state=DeliveryState.FOLDED if new.told_by else DeliveryState.PENDING,
                    settled_at=new.due_at if new.told_by else None,
                )
                if new.told_by is not None:
                    self._told_by[new.delivery_id] = new.told_by
                if new.digest_at is not None:
                    self._bring_forward(new.channel_id, sequence, new.digest_at)
                added.append(new.delivery_id)
        return added

    def _bring_forward(self, channel_id: str, sequence: int, digest_at: datetime) -> None:
        """What stands in front of a sooner digest comes with it."""
        for each in self._unsettled().get((channel_id, False, True), ()):
            is_late = each.sequence < sequence and each.due_at > digest_at
            if is_late and each.state is DeliveryState.PENDING:
                self._deliveries[each.delivery_id] = replace(each, due_at=digest_at)

    @override
    async def claim(
        self, *, now: datetime, claimed_until: datetime, channels: int, per_channel: int
    ) -> Sequence[Delivery]:
        if claimed_until <= now:
            raise ValueError("a claim ends after it begins")
        lines = self._unsettled()
        heads = sorted(
            (_priority(unsettled[0]), claimable_at, line)
            for line, unsettled in lines.items()
            if is_due(
                replace(unsettled[0], due_at=(claimable_at := self._claimable_at(unsettled))),
                now,
            )
        )
        claimed = []
        for line in sorted((line for *_, line in heads[:channels]), key=_name):
            limit = 1 if line[0] in self._parked else per_channel
            for place, delivery in enumerate(lines[line][:limit]):
                if not is_due(delivery, now):
                    break
                taken = _claimed(delivery, claimed_until)
                claimed.append(taken)
                attempted_at = delivery.attempted_at or (now if place == 0 else None)
                self._deliveries[delivery.delivery_id] = replace(taken, attempted_at=attempted_at)
        return claimed

    @override
    async def attempt(self, delivery: Delivery, now: datetime) -> None:
        if delivery.attempted_at is not None:
            return
        stored = self._deliveries.get(delivery.delivery_id)
        if (
            stored is None
            or stored.attempts != delivery.attempts
            or stored.state is not DeliveryState.SENDING
        ):
            raise LeaseLost(delivery.delivery_id)
        self._deliveries[delivery.delivery_id] = replace(stored, attempted_at=now)

    def _unsettled(self) -> dict[Line, list[Delivery]]:
        """Of each line that holds any, in its order."""
        found: defaultdict[Line, list[Delivery]] = defaultdict(list)
        for delivery in self._deliveries.values():
            if delivery.state not in SETTLED:
                line = (delivery.channel_id, delivery.urgent, delivery.digest)
                found[line].append(delivery)
        for unsettled in found.values():
            unsettled.sort(key=lambda delivery: delivery.sequence)
        return found

    def _claimable_at(self, unsettled: Sequence[Delivery]) -> datetime:
        head = unsettled[0]
        parked = self._parked.get(head.channel_id)
        return max(head.due_at, parked.retry_at) if parked else head.due_at

    @override
    async def drop_unheard(
        self, channel_id: str, repository: RepositoryName, now: datetime
    ) -> None:
        for line, unsettled in self._unsettled().items():
            if line[0] != channel_id or not (line[2] or channel_id in self._parked):
                continue
            for each in unsettled:
                is_untried = each.state is DeliveryState.PENDING and each.attempted_at is None
                if is_untried and each.subject.repository == repository:
                    self._deliveries[each.delivery_id] = failed(each, NOT_HEARD, now)

    @override
    async def move_digest(
        self, channel_id: str, repository: RepositoryName, to: datetime, now: datetime
    ) -> None:
        for each in self._unsettled().get((channel_id, False, True), ()):
            waits = each.state is DeliveryState.PENDING and each.due_at > now
            if waits and each.subject.repository == repository:
                self._deliveries[each.delivery_id] = replace(each, due_at=to)
        for each in self._unsettled().get((channel_id, False, True), ()):
            self._bring_forward(channel_id, each.sequence, each.due_at)

    @override
    async def fold(self, *, now: datetime, longer_than: int, at_most: int) -> int:
        folded = 0
        for line, unsettled in self._unsettled().items():
            if line[1] or self._claimable_at(unsettled) > now:
                continue
            if line[2]:
                due = [each for each in unsettled if each.due_at <= now]
            elif self._next_sequences[line] - unsettled[0].sequence > longer_than:
                due = unsettled
            else:
                continue
            untried = [each for each in due[:2] if each.is_untried(now)]
            if not untried:
                continue
            summary = untried[0]
            behind = due[due.index(summary) + 1 :]
            told = [
                each
                for each in takewhile(
                    lambda one: one.is_untried(now) and one.folded <= SMALL, behind
                )
                if each.sequence <= summary.sequence + at_most
            ]
            self._tell(summary, told, now)
            folded += len(told)
        return folded

    def _tell(self, summary: Delivery, told: Sequence[Delivery], now: datetime) -> None:
        """A summary takes over what the others were to tell with themselves."""
        heads = {each.delivery_id for each in told}
        self._told_by.update(
            {one: summary.delivery_id for one, head in self._told_by.items() if head in heads}
        )
        for each in told:
            self._told_by[each.delivery_id] = summary.delivery_id
            self._deliveries[each.delivery_id] = replace(
                each, state=DeliveryState.FOLDED, settled_at=now
            )
        more = len(told) + sum(each.folded for each in told)
        self._deliveries[summary.delivery_id] = replace(summary, folded=summary.folded + more)

    @override
    async def folded_into(self, delivery_id: str) -> Folded:
        told = [
            each
            for each in self._deliveries.values()
            if delivery_id in (each.delivery_id, self._told_by.get(each.delivery_id))
        ]
        failures = sorted(
            (each for each in told if each.kind == EventKind.FAILURE),
            key=lambda each: each.sequence,
        )
        return Folded(
            counts=Counter((each.subject.repository, each.kind) for each in told),
            oldest_created_at=min(each.created_at for each in told),
            subjects=[each.subject for each in failures[-FAILURES_TOLD:]],
        )

    @override
    async def told_with(self, delivery_id: str, limit: int) -> Sequence[Subject]:
        told = [
            each
            for each in self._deliveries.values()
            if delivery_id in (each.delivery_id, self._told_by.get(each.delivery_id))
        ]
        return [each.subject for each in sorted(told, key=lambda one: one.sequence)][:limit]

    @override
    async def record(self, deliveries: Sequence[Delivery]) -> None:
        if any(delivery.state is DeliveryState.SENDING for delivery in deliveries):
            raise ValueError("only the outcome of an attempt is recorded")
        for delivery in deliveries:
            stored = self._deliveries.get(delivery.delivery_id)
            if stored is None or stored.attempts != delivery.attempts:
                raise LeaseLost(delivery.delivery_id)
        for delivery in map(as_stored, deliveries):
            stored = self._deliveries[delivery.delivery_id]
            if stored.state is DeliveryState.SENDING:
                attempted_at = delivery.attempted_at
                if delivery.state is not DeliveryState.PENDING:
                    attempted_at = attempted_at or stored.attempted_at
                self._deliveries[delivery.delivery_id] = replace(
                    stored,
                    state=delivery.state,
                    due_at=delivery.due_at,
                    attempted_at=attempted_at,
                    looks=delivery.looks,
                    message_ts=delivery.message_ts,
                    error=delivery.error,
                    settled_at=delivery.settled_at,
                    failures=delivery.failures,
                )

    @override
    async def park(self, parked: ParkedChannel) -> None:
        self._parked[parked.channel_id] = as_stored(parked)

    @override
    async def unpark(self, channel_id: str) -> None:
        self._parked.pop(channel_id, None)

    @override
    async def get(self, channel_id: str, subject: Subject) -> Delivery | None:
        for delivery in self._deliveries.values():
            if (delivery.channel_id, delivery.subject) == (channel_id, subject):
                return delivery
        return None

    @override
    async def in_doubt(self, limit: int) -> Sequence[Delivery]:
        doubtful = self._in_state(DeliveryState.IN_DOUBT)
        return sorted(doubtful, key=lambda each: (each.created_at, each.delivery_id))[:limit]

    def _in_state(self, state: DeliveryState) -> list[Delivery]:
        return [each for each in self._deliveries.values() if each.state is state]

    @override
    async def summary(self) -> OutboxSummary:
        counted = [each for each in self._deliveries.values() if not each.digest]
        states = Counter(each.state for each in counted)
        return OutboxSummary(
            pending=states[DeliveryState.PENDING],
            sending=states[DeliveryState.SENDING],
            in_doubt=states[DeliveryState.IN_DOUBT],
            oldest_created_at=_oldest(
                [each for each in counted if each.channel_id not in self._parked]
            ),
            parked=[
                self._parked[channel_id]
                for channel_id in sorted(self._parked)
                if any(line[0] == channel_id for line in self._unsettled())
            ],
        )

    @override
    async def delete_settled_before(self, settled_before: datetime) -> int:
        old = sorted(
            (delivery.settled_at, delivery.delivery_id)
            for delivery in self._deliveries.values()
            if delivery.settled_at is not None and delivery.settled_at < settled_before
        )[:PRUNE_SLICE]
        for _, delivery_id in old:
            del self._deliveries[delivery_id]
        return len(old)


def _priority(head: Delivery) -> int:
    if head.urgent:
        return 0
    return 1 if head.kind == EventKind.FAILURE else 2


def _name(line: Line) -> str:
    if line[2]:
        return f"~{line[0]}"
    return f"!{line[0]}" if line[1] else line[0]


def _oldest(deliveries: Iterable[Delivery]) -> datetime | None:
    unsettled = (each.created_at for each in deliveries if not each.state.is_settled)
    return min(unsettled, default=None)


def _is_foldable(delivery: Delivery, now: datetime) -> bool:
    return delivery.is_untried(now) and delivery.folded <= SMALL


def _claimed(delivery: Delivery, until: datetime) -> Delivery:
    return replace(
        delivery, state=DeliveryState.SENDING, attempts=delivery.attempts + 1, due_at=until
    )
