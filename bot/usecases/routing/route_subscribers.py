"""From events to the posts and threads of the channels that subscribed to them.

Each thread is about one queue entry or one bisection.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TypeVar

from bot.domain import threads
from bot.domain.audit import AuditRecord
from bot.domain.classification import EventKind, is_merge, kinds, topic_of
from bot.domain.deliveries import NewDelivery, Subject, SubjectKind, delivery_id, summary_id
from bot.domain.event_records import EventRecord, PullRequestRecord
from bot.domain.event_types import PAUSE_DELETE
from bot.domain.live_messages import LiveKind, LiveMessage, LiveSubject, Priority
from bot.domain.preceding_events import LONGEST_QUEUE_TIME, is_stopped_by_pause
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import NextDigest, Style, Subscription
from bot.store.transactions import Transaction
from bot.usecases.live_messages import first_post

_Subject = TypeVar("_Subject", threads.QueueEntry, threads.Bisection)

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

    `roots`: the live messages that show it, by channel.
    `is_new`: it begins in this slice.
    `changed`: its live messages need an edit, with this priority.
    """

    subject: LiveSubject
    roots: dict[str, int]
    is_new: bool
    changed: Priority | None = None
    is_over: bool = False


class Threads:
    """The threads of one slice of events, in order; none if no channel has them."""

    def __init__(
        self,
        transaction: Transaction,
        repository: RepositoryName,
        records: Sequence[EventRecord],
        *,
        is_used: bool,
    ) -> None:
        """Load the subjects of the events, and the queue entries that a pause made wait."""
        self.transaction, self.repository = transaction, repository
        self.is_used, self.is_backlog = is_used, len(records) > BACKLOG
        self._threads: dict[str, Thread] = {}
        self._entries: dict[int, list[threads.QueueEntry]] = defaultdict(list)
        self._bisections: list[threads.Bisection] = []
        self._changed: dict[str, threads.QueueEntry | threads.Bisection] = {}
        self._shown: dict[str, list[LiveMessage]] = defaultdict(list)
        self._moved: list[tuple[Collection[int], LiveSubject]] = []
        if is_used:
            self._load(records)

    def _load(self, records: Sequence[EventRecord]) -> None:
        numbers = {one.pull_request for one in records if one.pull_request is not None}
        if numbers:
            since = min(one.received_at for one in records) - LONGEST_QUEUE_TIME
            entries = self.transaction.queue_entries.of(self.repository, numbers, since)
            for entry in entries:
                self._entries[entry.pull_request].append(entry)
            self._load_shown(LiveKind.ENTRY, [one.key for one in entries])
        bisected = [one.received_at for one in records if one.type in threads.BISECTION_TYPES]
        if bisected:
            since = min(bisected) - threads.LONGEST_BISECTION
            self._bisections += self.transaction.bisections.since(self.repository, since)
            self._load_shown(LiveKind.BISECTION, [one.key for one in self._bisections])
        resumed = [one.received_at for one in records if one.type == PAUSE_DELETE]
        if resumed:
            self._mark_waiting(max(resumed))

    def _load_shown(self, kind: LiveKind, keys: Collection[str]) -> None:
        for one in self.transaction.live_messages.of_all(kind, self.repository, keys):
            self._shown[one.subject.key].append(one)

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
            found = threads.events_of(entry, records)
            kind_of = kinds(found)
            state = threads.state_of(found, kind_of)
            if state is not None and (
                kind_of[state.event_id] is EventKind.ENTER or is_stopped_by_pause(state)
            ):
                thread = self._thread(LiveKind.ENTRY, entry.key, is_new=False)
                self._change(thread, is_over=False)

    def place(self, record: EventRecord, kind: EventKind) -> Thread | None:
        """The event's thread, begun by its first event; None without one."""
        if not self.is_used:
            return None
        if record.type in threads.ENTRY_TYPES and record.pull_request is not None:
            return self._place(threads.QueueEntry, record, kind, self._entries[record.pull_request])
        if record.type in threads.BISECTION_TYPES:
            return self._place(threads.Bisection, record, kind, self._bisections)
        return None

    def _place(
        self, subject: type[_Subject], record: EventRecord, kind: EventKind, known: list[_Subject]
    ) -> Thread:
        found = subject.of(record, known)
        current = subject.begun(record) if found is None else found.after(record)
        thread = self._thread(current.kind, current.key, is_new=found is None)
        if found is not None:
            known.remove(found)
            if kind in threads.STATES or is_merge(record):
                self._change(thread, is_over=kind in threads.CLOSING, kind=kind)
        elif before := threads.entry_before(record, known):
            self._continue(self._thread(before.kind, before.key, is_new=False), thread)
        known.append(current)
        self._changed[current.key] = current
        return thread

    def _continue(self, before: Thread, thread: Thread) -> None:
        """Have messages of a queue entry show the next one, if people can see how it ended."""
        if before.changed is not None:
            return
        shown = self._shown[before.subject.key]
        roots = {one.channel_id: one.message_id for one in shown if one.shows_its_end}
        if not roots:
            return
        thread.roots, thread.is_new = roots, False
        self._moved.append((roots.values(), thread.subject))
        self._change(thread, is_over=False)

    def _thread(self, kind: LiveKind, key: str, *, is_new: bool) -> Thread:
        thread = self._threads.get(key)
        if thread is None:
            roots = {one.channel_id: one.message_id for one in self._shown[key]}
            subject = LiveSubject(kind, self.repository, key)
            thread = self._threads[key] = Thread(subject, roots, is_new)
        return thread

    def _change(self, thread: Thread, *, is_over: bool, kind: EventKind | None = None) -> None:
        if self.is_backlog and thread.is_new:
            return
        priority = Priority.FAILURE if kind is EventKind.FAILURE else Priority.REST
        thread.changed = min(priority, thread.changed or Priority.REST)
        thread.is_over = is_over or thread.is_over

    def notify(
        self,
        thread: Thread,
        record: EventRecord,
        kind: EventKind,
        channels: Collection[str],
        now: datetime,
    ) -> list[NewDelivery]:
        """Reply in each channel's thread, or begin that thread."""
        deliveries: list[NewDelivery] = []
        for channel_id in channels:
            root_id = thread.roots.get(channel_id)
            if root_id is not None or self.is_backlog:
                deliveries.append(event_delivery(record, channel_id, kind, now, root_id=root_id))
                continue
            subject = thread.subject
            message_id = self.transaction.live_messages.add(subject, channel_id, now=now)
            if message_id is not None:
                thread.roots[channel_id] = message_id
                post = first_post(subject, message_id, channel_id, now, subject.key, kind)
                deliveries.append(post)
        return deliveries

    def finish(self, now: datetime) -> None:
        """Store the queue entries and bisections, and have their live messages edited."""
        changes = [self._changed[key] for key in sorted(self._changed)]
        entries = [one for one in changes if isinstance(one, threads.QueueEntry)]
        self.transaction.queue_entries.save(entries)
        self.transaction.bisections.save(
            [one for one in changes if isinstance(one, threads.Bisection)]
        )
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
class PauseInForce:
    """Since when the queue is paused, and the channels with a card that counts arrivals."""

    paused_at: datetime
    channels: AbstractSet[str]


@dataclass(frozen=True, slots=True)
class Subscribers:
    """Events whose meaning can no longer change, with that meaning, and who gets them.

    `kinds`: by event id.
    `batches`: by event id, the batch of merges that share one post.
    `seen`: the known pull requests, by number, if anybody's choice depends on their authors.
    `preceding`: events that complete leaves lacking their reason.
    `removals`: the acts of this bot that caused leaves, by event id; its channel has a post.
    `pause`: the one in force, if any.
    """

    records: Sequence[EventRecord]
    kinds: Mapping[int, EventKind]
    batches: Mapping[int, str]
    seen: Mapping[int, PullRequestRecord]
    preceding: Sequence[EventRecord]
    removals: Mapping[int, AuditRecord]
    subscriptions: Sequence[Subscription]
    threads: Threads
    pause: PauseInForce | None
    next_digest: NextDigest
    now: datetime
    _found: dict[tuple[str, EventKind, str | None, str | None], Sequence[Subscription]] = field(
        default_factory=dict
    )

    def channels(self, record: EventRecord) -> Collection[str]:
        return dict.fromkeys(one.channel_id for one in self._matching(record))

    def _matching(self, record: EventRecord) -> Sequence[Subscription]:
        """The subscriptions that match; the same for many events."""
        known = self.seen.get(record.pull_request) if record.pull_request is not None else None
        author, kind = known.author if known is not None else None, self.kinds[record.event_id]
        key = (record.type, kind, record.base_ref, author)
        if key not in self._found:
            topic, type_, branch = topic_of(kind), record.type, record.base_ref
            self._found[key] = [
                one
                for one in self.subscriptions
                if one.wants(topic=topic, event_type=type_, branch=branch, author=author)
            ]
        return self._found[key]

    def route(self, record: EventRecord) -> Sequence[NewDelivery]:
        """The deliveries of an event that is not about a pause."""
        kind, subscriptions = self.kinds[record.event_id], self._matching(record)
        act = self.removals.get(record.event_id)
        if act is not None:
            subscriptions = [one for one in subscriptions if one.channel_id != act.channel_id]
        thread = self.threads.place(record, kind)
        if thread is None or not subscriptions:
            return self._posts(record, kind, subscriptions)
        pause, wanted = self.pause, subscriptions
        is_arrival = kind is EventKind.ENTER
        if pause is not None and is_arrival and record.received_at >= pause.paused_at:
            # A pause card counts the arrival instead; a feed gets its posts all the same.
            counted = pause.channels - thread.roots.keys()
            wanted = [
                one
                for one in subscriptions
                if one.channel_id not in counted or one.style is not Style.THREAD
            ]
        channels = {one.channel_id for one in wanted if one.style is Style.THREAD}
        if record.event_id in self.batches:
            # Without a thread the batch gets one post, and no thread per pull request.
            channels &= thread.roots.keys()
        in_threads = self.threads.notify(thread, record, kind, sorted(channels), self.now)
        others = [one for one in wanted if one.channel_id not in channels]
        return in_threads + self._posts(record, kind, others)

    def _posts(
        self, record: EventRecord, kind: EventKind, subscriptions: Sequence[Subscription]
    ) -> list[NewDelivery]:
        """One per channel; if any of its subscriptions is immediate, there is no digest."""
        waits: dict[str, datetime | None] = {}
        for one in subscriptions:
            if one.digest is None or one.style is not Style.DIGEST or kind is EventKind.FAILURE:
                waits[one.channel_id] = None
            else:
                waits.setdefault(one.channel_id, self.next_digest(one.digest, self.now))
        return [
            event_delivery(record, channel_id, kind, self.now, digest_at=digest_at)
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
