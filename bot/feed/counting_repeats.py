"""Equal verdicts on a pull request: the earlier message counts them, and no other one is posted."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from bot.feed.repeats import (
    COUNTED_KINDS,
    LONGEST_COUNT,
    Repeats,
    counted_from,
    has_verdict,
    in_a_row,
)
from bot.kernel.repository import RepositoryName
from bot.log.around_merges import EARLIER_EVENTS_READ
from bot.log.classification import EventKind, kinds
from bot.log.preceding import with_preceding_events
from bot.log.rows import Events
from bot.merge_queue.event_records import EventRecord
from bot.posts.delivery import (
    SHOWN_BY_ROOTS,
    Delivery,
    DeliveryState,
    NewDelivery,
    Subject,
    SubjectKind,
)
from bot.posts.live_message import LiveKind, LiveSubject, Priority
from bot.posts.live_messages import LiveMessages
from bot.posts.outbox import Outbox
from bot.removals.removed_here import preceding_events
from bot.slack.person import is_for_person
from bot.store.transaction import Transaction


class MessageForm(StrEnum):
    """The form of a message about an event; the keys of live messages hold it."""

    DIRECT = "direct"  #: to a person
    POST = "post"  #: to a channel
    REPLY = "reply"  #: in a thread


_MAY_COUNT = frozenset(
    {
        DeliveryState.PENDING,
        DeliveryState.SENDING,
        DeliveryState.IN_DOUBT,
        DeliveryState.DELIVERED,
    }
)


def form_of(delivery: Delivery | NewDelivery) -> MessageForm:
    if is_for_person(delivery.channel_id):
        return MessageForm.DIRECT
    return MessageForm.POST if delivery.root_id is None else MessageForm.REPLY


def is_counted(delivery: Delivery | NewDelivery) -> bool:
    """Whether a message about such an event may count others."""
    return counts(delivery.kind, form_of(delivery))


def counts(kind: str | None, form: MessageForm) -> bool:
    return kind in COUNTED_KINDS and (kind != EventKind.ENTER or form is MessageForm.REPLY)


def repeated(repository: RepositoryName, event_id: int, form: MessageForm) -> LiveSubject:
    return LiveSubject(LiveKind.REPEATED, repository, f"{event_id} {form}")


class Repeated(NamedTuple):
    """A message that counts equal verdicts: the event it is about, and the message's form."""

    about: Subject
    form: MessageForm


def repeated_of(subject: LiveSubject) -> Repeated:
    """The opposite of `repeated`."""
    event_id, _, form = subject.key.partition(" ")
    about = Subject(SubjectKind.EVENT, subject.repository, int(event_id))
    return Repeated(about, MessageForm(form))


def repeats_from(transaction: Transaction, first: EventRecord) -> Repeats | None:
    """What a message about the event counts; None where one with such a verdict may not count."""
    row = _rows(transaction, [first], first.received_at).get(first.event_id)
    return counted_from(first, row) if row is not None else None


def _rows(
    transaction: Transaction, about: Sequence[EventRecord], since: datetime
) -> Mapping[int, Sequence[EventRecord]]:
    """By event id, the events in a row with the verdict of each event in `about` that has one.

    `about`: events of one repository. `since`: earlier events are in no row.
    """
    numbers = {record.pull_request for record in about if record.pull_request is not None}
    if not numbers:
        return {}
    repository = about[0].repository
    found = Events(transaction).of_pull_requests(
        repository, numbers, since=since, limit=EARLIER_EVENTS_READ
    )
    around = preceding_events(transaction, repository, found)
    kind_of = kinds(found, around)
    by_number: dict[int, list[EventRecord]] = defaultdict(list)
    for record in found:
        complete = with_preceding_events(record, around)
        if record.pull_request is not None and has_verdict(complete, kind_of[record.event_id]):
            by_number[record.pull_request].append(complete)
    row_of: dict[int, Sequence[EventRecord]] = {}
    for events in by_number.values():
        for row in in_a_row(events, kind_of):
            for record in row:
                row_of[record.event_id] = row
    return row_of


class CountedOnce:
    """Which new deliveries an earlier message to the same address can count instead."""

    def __init__(
        self,
        transaction: Transaction,
        records: Sequence[EventRecord],
        kind_of: Mapping[int, EventKind],
        edit_at: datetime,
        now: datetime,
    ) -> None:
        """`edit_at`: when the earlier messages are edited."""
        self.transaction = transaction
        self.records = {record.event_id: record for record in records}
        self.kind_of = kind_of
        self.edit_at = edit_at
        self.now = now
        self._known: dict[tuple[str, int], Delivery | NewDelivery] = {}
        self._edited: dict[tuple[str, LiveSubject], bool] = {}

    def left(self, deliveries: Sequence[NewDelivery]) -> Sequence[NewDelivery]:
        """The deliveries to add; the others' messages are edited.

        This locks the channels' queues before the messages to edit, the order in which a post
        about an event is stored.
        """
        earlier = self._earlier(deliveries)
        if not any(earlier.values()):
            return deliveries
        Outbox(self.transaction).lock_queues({delivery.channel_id for delivery in deliveries})
        self._load(deliveries, earlier)
        left: list[NewDelivery] = []
        for delivery in deliveries:
            if not _may_be_counted(delivery):
                left.append(delivery)
                continue
            event_id = delivery.subject.subject_id
            before = earlier.get(event_id, ())
            if not any(self._is_counted_by(event, delivery) for event in before):
                left.append(delivery)
                self._known.setdefault((delivery.channel_id, event_id), delivery)
        self._mark_edited()
        return left

    def _mark_edited(self) -> None:
        changed = {subject for (_, subject), is_edited in self._edited.items() if is_edited}
        for subject in sorted(changed, key=lambda subject: subject.key):
            LiveMessages(self.transaction).mark(
                subject, due_at=self.edit_at, priority=Priority.FAILURE
            )

    def _earlier(self, deliveries: Sequence[NewDelivery]) -> Mapping[int, Sequence[EventRecord]]:
        """By event id, the earlier events with its verdict, latest first."""
        ids = {delivery.subject.subject_id for delivery in deliveries if _may_be_counted(delivery)}
        about = [
            record
            for record in self.records.values()
            if record.event_id in ids and has_verdict(record, self.kind_of[record.event_id])
        ]
        if not about:
            return {}
        since = min(record.received_at for record in about) - LONGEST_COUNT
        rows = _rows(self.transaction, about, since)
        return {event_id: _before(event_id, row) for event_id, row in rows.items()}

    def _load(
        self, deliveries: Sequence[NewDelivery], earlier: Mapping[int, Sequence[EventRecord]]
    ) -> None:
        """Read the deliveries to each address about the earlier events."""
        ids_by_channel: dict[str, set[int]] = defaultdict(set)
        for new in deliveries:
            if _may_be_counted(new):
                before = earlier.get(new.subject.subject_id, ())
                ids_by_channel[new.channel_id].update(event.event_id for event in before)
        repository = deliveries[0].subject.repository
        for channel_id, ids in sorted(ids_by_channel.items()):
            stored = Outbox(self.transaction).of_events(channel_id, repository, ids)
            for delivery in stored:
                if _shows_its_event(delivery):
                    self._known[channel_id, delivery.subject.subject_id] = delivery

    def _is_counted_by(self, event: EventRecord, new: NewDelivery) -> bool:
        """Whether the message about `event` to the same address counts it; then it's edited."""
        known = self._known.get((new.channel_id, event.event_id))
        if known is None:
            return False
        subject = repeated(event.repository, event.event_id, form_of(known))
        edited = (new.channel_id, subject)
        if edited not in self._edited:
            self._edited[edited] = self._begin(subject, known)
        return self._edited[edited]

    def _begin(self, subject: LiveSubject, known: Delivery | NewDelivery) -> bool:
        """Have the message edited from now on; False if Slack takes no edit of it."""
        live = LiveMessages(self.transaction)
        channel_id = known.channel_id
        shown = [message for message in live.of(subject) if message.channel_id == channel_id]
        if any(message.is_lost for message in shown):
            return False
        if not shown:
            live.add(subject, channel_id, now=self.now)
        if isinstance(known, Delivery) and known.progress.message_ts is not None:
            live.begin_edits(subject, channel_id, known.progress.message_ts, None)
        return True


def _shows_its_event(known: Delivery) -> bool:
    """Whether it is, or will be, a message of its own."""
    return (
        known.progress.state in _MAY_COUNT and not known.waits_for_digest and not known.summarizes
    )


def _may_be_counted(new: NewDelivery) -> bool:
    """Not what waits for a digest or is shown by another message."""
    if new.subject.kind is not SubjectKind.EVENT or new.digest_at is not None:
        return False
    if not is_counted(new):
        return False
    return new.root_id is None or new.kind not in SHOWN_BY_ROOTS


def _before(event_id: int, row: Sequence[EventRecord]) -> Sequence[EventRecord]:
    """The events before this one that a message may still count with it, latest first."""
    index = [event.event_id for event in row].index(event_id)
    since = row[index].received_at - LONGEST_COUNT
    return [event for event in reversed(row[:index]) if event.received_at >= since]


def begin_counting(transaction: Transaction, posted: Delivery, content_hash: str | None) -> None:
    """Let a message that was just posted show what was counted while it was on its way.

    The queue of its channel is locked: see `CountedOnce.left`.
    """
    about = posted.subject
    is_event = about.kind is SubjectKind.EVENT and not posted.summarizes
    message_ts = posted.progress.message_ts
    if message_ts is None or not is_event or not is_counted(posted):
        return
    subject = repeated(about.repository, about.subject_id, form_of(posted))
    LiveMessages(transaction).begin_edits(subject, posted.channel_id, message_ts, content_hash)
