"""From stored events to deliveries: who hears about each of them."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.domain.audit import ActResult, AuditRecord
from bot.domain.classification import (
    PAUSE_TYPES,
    SETTLING,
    EventKind,
    kinds,
    settled,
    topic_of,
)
from bot.domain.deliveries import NewDelivery, Subject, SubjectKind
from bot.domain.event_records import EventRecord, PullRequestRecord
from bot.domain.pauses import SAME_ACT, act_told_by, is_under_way
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import Subscription
from bot.ports import Transaction
from bot.usecases.acts import end_act
from bot.usecases.group_marks import group_act_of, subjects, tell_together

SLICE = 1000
"""Events routed in one transaction; a backlog of any size is kept out of memory."""


@dataclass(frozen=True, slots=True)
class Routed:
    """Deliveries added, events that have to wait, and whether there is more to route at once."""

    added: int
    waiting: int
    more: bool


async def route_events(
    transaction: Transaction, repository: RepositoryName, now: datetime
) -> Routed:
    """Route the oldest events, as far as they can be judged, at most SLICE of them.

    Order per channel is the order of the events, so an event that has to wait holds those
    behind it.
    """
    unrouted, behind = await _slice(transaction, repository)
    if not unrouted:
        return Routed(0, 0, more=False)
    subscriptions = await transaction.subscriptions.of_repository(repository)
    judged = settled(unrouted, now)
    routes = _Routes(
        transaction, repository, subscriptions, kinds(judged), await _seen(transaction, judged)
    )
    acts = await _acts(transaction, repository, judged)
    routed: list[EventRecord] = []
    deliveries: list[NewDelivery] = []
    for record in judged:
        act = act_told_by(record, acts) if record.type in PAUSE_TYPES else None
        if act is not None and await _is_going_on(transaction, act, acts, now):
            break
        deliveries += await routes.of(record, act, now)
        routed.append(record)
    added = await transaction.outbox.add(deliveries)
    await transaction.events.mark_routed(repository, [record.event_id for record in routed])
    waiting = len(unrouted) - len(routed) + behind
    return Routed(added, waiting, more=bool(behind and routed))


async def _slice(
    transaction: Transaction, repository: RepositoryName
) -> tuple[Sequence[EventRecord], int]:
    """The oldest events, about SLICE of them, and how many of those read follow.

    What follows a silent leave decides what it means, so the end of a full slice is left for
    the next one; a burst that has no such end is read further.
    """
    limit = SLICE
    while True:
        found = await transaction.events.unrouted(repository, limit)
        if len(found) < limit:
            return found, 0
        until = found[-1].received_at - SETTLING
        whole = [record for record in found if record.received_at < until]
        if whole:
            return whole, len(found) - len(whole)
        limit *= 4


async def _seen(
    transaction: Transaction, records: Sequence[EventRecord]
) -> Mapping[int, PullRequestRecord]:
    numbers = {record.pull_request for record in records if record.pull_request is not None}
    return await transaction.pull_requests.get(records[0].repository, numbers) if numbers else {}


async def _acts(
    transaction: Transaction, repository: RepositoryName, records: Sequence[EventRecord]
) -> list[AuditRecord]:
    """The acts that a pause event among `records` may be the service's record of."""
    pauses = [record.received_at for record in records if record.type in PAUSE_TYPES]
    if not pauses:
        return []
    return list(await transaction.audit.since(repository, min(pauses) - SAME_ACT))


async def _is_going_on(
    transaction: Transaction, act: AuditRecord, acts: Sequence[AuditRecord], now: datetime
) -> bool:
    """Whether its end, or that of the act on a group that it is a part of, is still to come."""
    if is_under_way(act, acts, now):
        return True
    group_act = await group_act_of(transaction, act)
    return group_act is not None and group_act.is_under_way(now)


@dataclass(frozen=True, slots=True)
class _Routes:
    transaction: Transaction
    repository: RepositoryName
    subscriptions: Sequence[Subscription]
    kinds: Mapping[int, EventKind]
    seen: Mapping[int, PullRequestRecord]

    async def of(
        self, record: EventRecord, act: AuditRecord | None, now: datetime
    ) -> list[NewDelivery]:
        hearing = [one for one in self.subscriptions if self._wants(one, record)]
        channels = dict.fromkeys(one.channel_id for one in hearing)
        subject = Subject(SubjectKind.EVENT, self.repository, record.event_id)
        if act is not None:
            # The service's record of an act made through this bot: told as that act, which the
            # outbox knows already unless a crash cut it short.
            ended = await self._end_of(act, record)
            if ended.channel_id is not None and ended is not act:
                channels.setdefault(ended.channel_id)
            group_act = await group_act_of(self.transaction, ended)
            if group_act is not None:
                await tell_together(self.transaction, group_act)
            return self._deliveries(subjects(ended, group_act, channels), record, now)
        return self._deliveries(dict.fromkeys(channels, subject), record, now)

    def _deliveries(
        self, told: Mapping[str, Subject], record: EventRecord, now: datetime
    ) -> list[NewDelivery]:
        kind = self.kinds[record.event_id]
        urgent = record.type in PAUSE_TYPES
        return [
            NewDelivery(uuid.uuid4().hex, channel_id, subject, now, urgent=urgent, kind=kind)
            for channel_id, subject in told.items()
        ]

    def _wants(self, subscription: Subscription, record: EventRecord) -> bool:
        author = self.seen.get(record.pull_request) if record.pull_request is not None else None
        if author is not None and author.author in subscription.except_logins:
            return False
        return subscription.wants(
            topic=topic_of(self.kinds[record.event_id]),
            event_type=record.type,
            branch=record.base_ref,
        )

    async def _end_of(self, act: AuditRecord, record: EventRecord) -> AuditRecord:
        if act.result is ActResult.DONE:
            return act
        paused_at = record.received_at if record.details.get("reason") is not None else None
        done = replace(
            act,
            result=ActResult.DONE,
            paused_at=paused_at,
            detail="known from the event log",
            act_id=act.act_id or act.record_id,
            record_id=0,
        )
        return await end_act(self.transaction, done)
