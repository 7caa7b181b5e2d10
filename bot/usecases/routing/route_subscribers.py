"""From events to the posts and threads of the channels that subscribed to them.

Each thread is about one queue entry or one bisection.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.domain.classification import EventKind, kinds, topic_of
from bot.domain.deliveries import NewDelivery, Subject, SubjectKind, delivery_id, summary_id
from bot.domain.event_records import EventRecord, PullRequestRecord
from bot.domain.event_types import PAUSE_DELETE
from bot.domain.live_messages import LiveKind, LiveSubject, Priority
from bot.domain.preceding_events import LONGEST_QUEUE_TIME, is_stopped_by_pause
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import NextDigest, Style, Subscription
from bot.domain.threads import (
    BISECTION_TYPES,
    ENDS,
    ENTRY_TYPES,
    LONGEST_BISECTION,
    Bisection,
    QueueEntry,
    bisection_of,
    changes_state,
    entry_before,
    entry_of,
    events_of,
    new_bisection,
    new_entry,
    state_of,
    with_bisection_event,
    with_entry_event,
)
from bot.store.transactions import Transaction
from bot.usecases.live_messages import first_post

EDIT_DELAY = timedelta(seconds=3)
"""How long an edit waits, so that it also shows events that follow immediately."""

BACKLOG = 100
"""More events than this are summarized: subjects that begin in them get no thread."""


def event_delivery(
    record: EventRecord,
    channel_id: str,
    kind: EventKind,
    now: datetime,
    *,
    root_id: int | None = None,
    digest_at: datetime | None = None,
) -> NewDelivery:
    """The delivery of an event; `channel_id` may also be a person's."""
    subject = Subject(SubjectKind.EVENT, record.repository, record.event_id)
    its_id = delivery_id(channel_id, subject, str(record.event_id))
    return NewDelivery(
        its_id, channel_id, subject, now, kind=kind, root_id=root_id, digest_at=digest_at
    )


@dataclass(slots=True, eq=False)
class Thread:
    """A slice's changes to one subject.

    `is_new`: it begins in this slice.
    `changed`: its live messages need an edit, with this priority.
    `roots`: those messages by channel; None until looked up.
    """

    subject: LiveSubject
    is_new: bool
    changed: Priority | None = None
    is_over: bool = False
    roots: dict[str, int] | None = None


@dataclass(slots=True)
class Threads:
    """The threads of one slice of events, in order; call `load` first."""

    transaction: Transaction
    repository: RepositoryName
    is_backlog: bool
    _threads: dict[LiveSubject, Thread] = field(default_factory=dict)
    _entries: dict[int, list[QueueEntry]] = field(default_factory=lambda: defaultdict(list))
    _bisections: dict[str, Bisection] = field(default_factory=dict)
    _changed_entries: dict[str, QueueEntry] = field(default_factory=dict)
    _changed_bisections: dict[str, Bisection] = field(default_factory=dict)
    _moved: list[tuple[Collection[int], LiveSubject]] = field(default_factory=list)

    def load(self, records: Sequence[EventRecord]) -> None:
        """Load the subjects of the events, and the queue entries that a pause made wait."""
        resumed = [one.received_at for one in records if one.type == PAUSE_DELETE]
        if resumed:
            self._mark_waiting(max(resumed))
        numbers = {one.pull_request for one in records if one.pull_request is not None}
        if numbers:
            since = min(one.received_at for one in records) - LONGEST_QUEUE_TIME
            entries = self.transaction.queue_entries
            for entry in entries.of(self.repository, numbers, since):
                self._entries[entry.pull_request].append(entry)
        bisected = [one.received_at for one in records if one.type in BISECTION_TYPES]
        if bisected:
            since = min(bisected) - LONGEST_BISECTION
            for one in self.transaction.bisections.since(self.repository, since):
                self._bisections[one.key] = one

    def _mark_waiting(self, resumed_at: datetime) -> None:
        """Edit the live messages of waiting entries, which say that the queue is paused."""
        entries = self.transaction.queue_entries.lasting(
            self.repository, resumed_at - LONGEST_QUEUE_TIME
        )
        if not entries:
            return
        records = self.transaction.events.of_pull_requests(
            self.repository,
            {one.pull_request for one in entries},
            since=min(one.began_at for one in entries),
        )
        for entry in entries:
            found = events_of(entry, records)
            kind_of = kinds(found)
            state = state_of(found, kind_of)
            if state is not None and (
                kind_of[state.event_id] is EventKind.ENTER or is_stopped_by_pause(state)
            ):
                thread = self._thread(LiveKind.ENTRY, entry.key, is_new=False)
                self._change(thread, is_over=False)

    def place(self, record: EventRecord, kind: EventKind) -> Thread | None:
        """The event's thread, begun by its first event; None without one."""
        if record.type in ENTRY_TYPES and record.pull_request is not None:
            return self._place_in_entry(record, kind, self._entries[record.pull_request])
        return self._place_in_bisection(record) if record.type in BISECTION_TYPES else None

    def _place_in_entry(
        self, record: EventRecord, kind: EventKind, known: list[QueueEntry]
    ) -> Thread:
        found = entry_of(record, known)
        before = entry_before(record, known) if found is None else None
        if found is None:
            entry = new_entry(record)
            thread = self._thread(LiveKind.ENTRY, entry.key, is_new=True)
            if before is not None:
                self._continue(self._thread(LiveKind.ENTRY, before.key, is_new=False), thread)
        else:
            entry = with_entry_event(found, record)
            thread = self._thread(LiveKind.ENTRY, entry.key, is_new=False)
            known.remove(found)
            if changes_state(record, kind):
                self._change(thread, is_over=kind in ENDS, kind=kind)
        known.append(entry)
        self._changed_entries[entry.key] = entry
        return thread

    def _continue(self, before: Thread, thread: Thread) -> None:
        """Have messages of a queue entry show the next one, if people can see how it ended."""
        if before.changed is not None:
            return
        shown = self.transaction.live_messages.of(before.subject)
        roots = {one.channel_id: one.message_id for one in shown if one.shows_its_end}
        if not roots:
            return
        before.roots = None
        thread.roots, thread.is_new = roots, False
        self._moved.append((roots.values(), thread.subject))
        self._change(thread, is_over=False)

    def _place_in_bisection(self, record: EventRecord) -> Thread:
        found = bisection_of(record, self._bisections.values())
        if found is None:
            bisection = new_bisection(record)
            thread = self._thread(LiveKind.BISECTION, bisection.key, is_new=True)
        else:
            bisection = with_bisection_event(found, record)
            thread = self._thread(LiveKind.BISECTION, bisection.key, is_new=False)
            self._change(thread, is_over=bisection.ended_at is not None)
        self._bisections[bisection.key] = self._changed_bisections[bisection.key] = bisection
        return thread

    def _thread(self, kind: LiveKind, key: str, *, is_new: bool) -> Thread:
        subject = LiveSubject(kind, self.repository, key)
        thread = self._threads.get(subject)
        if thread is None:
            # A new subject has no messages yet, so there is nothing to look up.
            roots: dict[str, int] | None = {} if is_new else None
            thread = self._threads[subject] = Thread(subject, is_new, roots=roots)
        return thread

    def _change(self, thread: Thread, *, is_over: bool, kind: EventKind | None = None) -> None:
        if self.is_backlog and thread.is_new:
            return
        priority = Priority.FAILURE if kind is EventKind.FAILURE else Priority.REST
        thread.changed = min(priority, thread.changed or Priority.REST)
        thread.is_over = is_over or thread.is_over

    def roots_of(self, thread: Thread) -> dict[str, int]:
        """The live messages that show it, by channel."""
        if thread.roots is None:
            found = self.transaction.live_messages.of(thread.subject)
            thread.roots = {one.channel_id: one.message_id for one in found}
        return thread.roots

    def notify(
        self,
        thread: Thread,
        record: EventRecord,
        kind: EventKind,
        channels: Collection[str],
        now: datetime,
    ) -> list[NewDelivery]:
        """Reply in each channel's thread, or begin that thread."""
        if not channels:
            return []
        roots = self.roots_of(thread)
        deliveries: list[NewDelivery] = []
        for channel_id in channels:
            root_id = roots.get(channel_id)
            if root_id is None and not self.is_backlog:
                deliveries += self._open(thread.subject, roots, channel_id, kind, now)
                continue
            deliveries.append(event_delivery(record, channel_id, kind, now, root_id=root_id))
        return deliveries

    def _open(
        self,
        subject: LiveSubject,
        roots: dict[str, int],
        channel_id: str,
        kind: EventKind,
        now: datetime,
    ) -> list[NewDelivery]:
        message_id = self.transaction.live_messages.add(subject, channel_id, now=now)
        if message_id is None:
            return []
        roots[channel_id] = message_id
        return [first_post(subject, message_id, channel_id, now, subject.key, kind)]

    def finish(self, now: datetime) -> None:
        """Store the queue entries and bisections, and have their live messages edited."""
        entries, bisections = self._changed_entries, self._changed_bisections
        self.transaction.queue_entries.save([entries[key] for key in sorted(entries)])
        self.transaction.bisections.save([bisections[key] for key in sorted(bisections)])
        for message_ids, subject in self._moved:
            self.transaction.live_messages.move(message_ids, subject)
        changed = [one for one in self._threads.values() if one.changed is not None]
        for thread in sorted(changed, key=lambda one: (one.subject.kind, one.subject.key)):
            self.transaction.live_messages.mark(
                thread.subject,
                due_at=now + EDIT_DELAY,
                closed=thread.is_over,
                priority=thread.changed,
            )


@dataclass(frozen=True, slots=True)
class MatchingSubscribers:
    """Finds the subscriptions that match each of many events, caching equal ones.

    `seen`: the known pull requests of the events.
    """

    subscriptions: Sequence[Subscription]
    seen: Mapping[int, PullRequestRecord]
    _found: dict[tuple[str, EventKind, str | None, str | None], Sequence[Subscription]] = field(
        default_factory=dict
    )

    def of(self, record: EventRecord, kind: EventKind) -> Sequence[Subscription]:
        known = self.seen.get(record.pull_request) if record.pull_request is not None else None
        author = known.author if known is not None else None
        key = (record.type, kind, record.base_ref, author)
        if key not in self._found:
            topic = topic_of(kind)
            self._found[key] = [
                one
                for one in self.subscriptions
                if one.wants(
                    topic=topic, event_type=record.type, branch=record.base_ref, author=author
                )
            ]
        return self._found[key]

    def channels(self, record: EventRecord, kind: EventKind) -> Collection[str]:
        return dict.fromkeys(one.channel_id for one in self.of(record, kind))


@dataclass(frozen=True, slots=True)
class PauseInForce:
    """Since when the queue is paused, and the channels with a card that counts arrivals."""

    paused_at: datetime
    channels: Collection[str]

    def counts(self, record: EventRecord, kind: EventKind, subscription: Subscription) -> bool:
        """Whether the card is the notice of the event; a feed gets its posts all the same."""
        is_arrival = kind is EventKind.ENTER and record.received_at >= self.paused_at
        has_card = subscription.channel_id in self.channels
        return is_arrival and has_card and subscription.style is Style.THREAD


@dataclass(frozen=True, slots=True)
class Subscribers:
    """Routes a slice of events to the subscribed channels.

    `threads`: None if no channel uses threads.
    `batches`: by event id, the batch of merges that share one post.
    `pause`: the one in force, if any.
    `posted`: the channel, by event id, that has a post about the act which caused the event.
    """

    matching: MatchingSubscribers
    threads: Threads | None
    batches: Mapping[int, str]
    next_digest: NextDigest
    pause: PauseInForce | None = None
    posted: Mapping[int, str | None] = field(default_factory=dict)

    def route(self, record: EventRecord, kind: EventKind, now: datetime) -> Sequence[NewDelivery]:
        """The deliveries of an event that is not about a pause."""
        posted = self.posted.get(record.event_id)
        matching = self.matching.of(record, kind)
        subscriptions: Sequence[Subscription] = [
            one for one in matching if one.channel_id != posted
        ]
        thread = self.threads.place(record, kind) if self.threads is not None else None
        if self.threads is None or thread is None or not subscriptions:
            return self._posts(record, kind, subscriptions, now)
        subscriptions = self._without_counted(record, kind, subscriptions, thread)
        channels = {one.channel_id for one in subscriptions if one.style is Style.THREAD}
        if record.event_id in self.batches:
            # Without a thread the batch gets one post, and no thread per pull request.
            channels &= self.threads.roots_of(thread).keys()
        in_threads = self.threads.notify(thread, record, kind, sorted(channels), now)
        others = [one for one in subscriptions if one.channel_id not in channels]
        return in_threads + self._posts(record, kind, others, now)

    def _without_counted(
        self,
        record: EventRecord,
        kind: EventKind,
        subscriptions: Sequence[Subscription],
        thread: Thread,
    ) -> Sequence[Subscription]:
        """Those whose channel has no pause card that counts the event instead of a post."""
        pause = self.pause
        if pause is None or self.threads is None:
            return subscriptions
        roots = self.threads.roots_of(thread)
        return [
            one
            for one in subscriptions
            if one.channel_id in roots or not pause.counts(record, kind, one)
        ]

    def _posts(
        self,
        record: EventRecord,
        kind: EventKind,
        subscriptions: Sequence[Subscription],
        now: datetime,
    ) -> list[NewDelivery]:
        """One per channel; if any of its subscriptions is immediate, there is no digest."""
        waits: dict[str, datetime | None] = {}
        for one in subscriptions:
            if one.digest is None or one.style is not Style.DIGEST or kind is EventKind.FAILURE:
                waits[one.channel_id] = None
            else:
                waits.setdefault(one.channel_id, self.next_digest(one.digest, now))
        return [
            event_delivery(record, channel_id, kind, now, digest_at=digest_at)
            for channel_id, digest_at in waits.items()
        ]

    def in_one_post(self, deliveries: Sequence[NewDelivery]) -> Sequence[NewDelivery]:
        """Combine the merges of a batch into the first one's post in each channel."""
        together: dict[tuple[str, str], list[NewDelivery]] = defaultdict(list)
        for one in deliveries:
            batch_id = self.batches.get(one.subject.subject_id)
            is_post = one.root_id is None and one.digest_at is None
            if batch_id is not None and is_post and one.subject.kind is SubjectKind.EVENT:
                together[one.channel_id, batch_id].append(one)
        changed: dict[str, NewDelivery] = {}
        for first, *others in together.values():
            if not others:
                continue
            its_id = summary_id(first.delivery_id, others[-1].delivery_id)
            changed[first.delivery_id] = replace(first, delivery_id=its_id, summarizes=len(others))
            changed |= {one.delivery_id: replace(one, summarized_by=its_id) for one in others}
        return [changed.get(one.delivery_id, one) for one in deliveries]
