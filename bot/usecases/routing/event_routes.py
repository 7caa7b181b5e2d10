"""What an event becomes: the deliveries to the channels and people that hear of it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.domain.audit import AuditRecord
from bot.domain.classification import PAUSE_TYPES, EventKind
from bot.domain.deliveries import NewDelivery, Subject, SubjectKind, delivery_id, summary_id
from bot.domain.digests import NextDigest
from bot.domain.event_records import EventRecord
from bot.domain.hearing import Hearing
from bot.domain.queue import Pause
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import Style, Subscription
from bot.store.transactions import Transaction
from bot.usecases.routing.route_pauses import is_of_later_pause, route_act, route_pause
from bot.usecases.routing.threaded import Threaded


@dataclass(frozen=True, slots=True)
class EventRoutes:
    """Of one slice of events: what each is, who hears of it, and where threads tell of it.

    `authors`: the people to be told of an event, by its id. `observed`: the pause in force that
    was read after the events, if it was read. `threaded` is None where no channel is told in
    threads. `merged_together`: the batch, by event id, of merges that one post is to tell.
    """

    transaction: Transaction
    repository: RepositoryName
    hearing: Hearing
    kinds: Mapping[int, EventKind]
    authors: Mapping[int, Sequence[str]]
    observed: Pause | None
    threaded: Threaded | None
    next_digest: NextDigest
    merged_together: Mapping[int, str]

    def to_people(
        self, record: EventRecord, people: Sequence[str], now: datetime
    ) -> list[NewDelivery]:
        """What the people whose event it is are told, after the channels."""
        subject = Subject(SubjectKind.EVENT, self.repository, record.event_id)
        kind = self.kinds[record.event_id]
        identity = str(record.event_id)
        return [
            NewDelivery(delivery_id(one, subject, identity), one, subject, now, kind=kind)
            for one in people
        ]

    def to_channels(self, record: EventRecord, now: datetime) -> Sequence[NewDelivery]:
        """What the channels that hear of the event are told; `tell_pause` tells of a pause."""
        if record.type in PAUSE_TYPES:
            return ()
        kind = self.kinds[record.event_id]
        hearers = self.hearing.of(record, kind)
        thread = self.threaded.place(record, kind) if self.threaded is not None else None
        if not hearers.subscriptions:
            return ()
        if self.threaded is None or thread is None:
            return self._posts(record, kind, hearers.subscriptions, now)
        threads = self.threaded.threads
        if record.event_id in self.merged_together:
            # Where no thread tells of it, there is one post for the batch and no thread for each.
            hearers = hearers.with_threads_in(threads.cards_of(thread))
        told = threads.tell(thread, record, kind, hearers.in_threads, now)
        return told + self._posts(record, kind, hearers.others, now) if hearers.others else told

    def tell_pause(self, record: EventRecord, act: AuditRecord | None, now: datetime) -> None:
        """Put what a pause event tells on record, and tell the channels that hear of it."""
        hearing = self.hearing.of(record, self.kinds[record.event_id]).subscriptions
        channels = dict.fromkeys(one.channel_id for one in hearing)
        if act is not None and not is_of_later_pause(self.transaction, record, act):
            route_act(self.transaction, record, act, channels, now, self.observed)
        else:
            route_pause(self.transaction, record, channels, now, self.observed)

    def _posts(
        self,
        record: EventRecord,
        kind: EventKind,
        hearing: Sequence[Subscription],
        now: datetime,
    ) -> list[NewDelivery]:
        """One a channel; what any of its subscriptions wants at once does not wait for a digest."""
        subject = Subject(SubjectKind.EVENT, self.repository, record.event_id)
        waits: dict[str, datetime | None] = {}
        for one in hearing:
            is_digest = one.style is Style.DIGEST and kind is not EventKind.FAILURE
            if is_digest and one.digest is not None:
                waits.setdefault(one.channel_id, self.next_digest(one.digest, now))
            else:
                waits[one.channel_id] = None
        return [
            NewDelivery(
                delivery_id(channel_id, subject, str(record.event_id)),
                channel_id,
                subject,
                now,
                kind=kind,
                digest_at=digest_at,
            )
            for channel_id, digest_at in waits.items()
        ]

    def in_one_post(self, deliveries: Sequence[NewDelivery]) -> Sequence[NewDelivery]:
        """The same, with what a batch merged told by the first of it in each channel."""
        if not self.merged_together:
            return deliveries
        parties: dict[tuple[str, str], list[NewDelivery]] = defaultdict(list)
        for one in deliveries:
            if self._is_one_of_several(one):
                batch_id = self.merged_together[one.subject.subject_id]
                parties[one.channel_id, batch_id].append(one)
        changed: dict[str, NewDelivery] = {}
        for first, *others in parties.values():
            if not others:
                continue
            its_id = summary_id(first.delivery_id, others[-1].delivery_id)
            changed[first.delivery_id] = replace(first, delivery_id=its_id, folded=len(others))
            changed |= {one.delivery_id: replace(one, told_by=its_id) for one in others}
        return [changed.get(one.delivery_id, one) for one in deliveries]

    def _is_one_of_several(self, delivery: NewDelivery) -> bool:
        return (
            delivery.subject.kind is SubjectKind.EVENT
            and delivery.subject.subject_id in self.merged_together
            and delivery.card_id is None
            and delivery.digest_at is None
        )
