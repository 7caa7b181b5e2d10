"""From events to the posts and threads of the channels that subscribed to them.

Each thread is about one queue entry or one bisection.
"""

import logging
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import NamedTuple, TypeVar

from bot.acts.record import AuditRecord
from bot.channels.subscription import NextDigest, Style, Subscription, Topic, subscribed_channels
from bot.feed import threads
from bot.feed.rows import Bisections, QueueEntries
from bot.feed.topics import topic_of
from bot.kernel.repository import RepositoryName
from bot.log.classification import EventKind, is_merge, kinds
from bot.log.preceding import LONGEST_QUEUE_TIME, with_preceding_events
from bot.log.rows import Events
from bot.merge_queue.event_records import EventRecord, PullRequestRecord
from bot.posts.delivery import NewDelivery, Subject, SubjectKind, delivery_id, summary_id
from bot.posts.enqueueing import first_post
from bot.posts.live_message import LiveKind, LiveMessage, LiveSubject, Priority
from bot.posts.live_messages import LiveMessages
from bot.removals.removed_here import with_removals_here
from bot.store.transaction import Transaction
from bot.storms.counting import StormCount

logger = logging.getLogger(__name__)

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
    return NewDelivery(
        delivery_id(channel_id, subject, str(record.event_id)),
        channel_id,
        subject,
        now,
        kind=kind,
        root_id=root_id,
        digest_at=digest_at,
    )


@dataclass(slots=True, eq=False)
class SubjectChanges:
    """A slice's changes to one subject."""

    subject: LiveSubject
    roots: dict[str, int]  #: the live messages that show it, by channel
    is_new: bool  #: it begins in this slice
    changed: Priority | None = None  #: its live messages need an edit, with this priority
    is_over: bool = False


class Threads:
    """The threads of one slice of events, in order; none if no channel has them."""

    def __init__(
        self,
        transaction: Transaction,
        repository: RepositoryName,
        records: Sequence[EventRecord],
        subscriptions: Sequence[Subscription],
    ) -> None:
        """Load the subjects of the events."""
        self.transaction = transaction
        self.repository = repository
        with_threads = [
            subscription for subscription in subscriptions if subscription.style is Style.THREAD
        ]
        self.is_used = bool(with_threads)
        self.is_backlog = len(records) > BACKLOG
        self.channels_with_failures = subscribed_channels(with_threads, Topic.FAILURE)
        self._threads: dict[str, SubjectChanges] = {}
        self._entries: dict[int, list[threads.QueueEntry]] = defaultdict(list)
        self._bisections: list[threads.Bisection] = []
        self._changed: dict[str, threads.QueueEntry | threads.Bisection] = {}
        self._shown: dict[str, list[LiveMessage]] = defaultdict(list)
        self._moved: list[tuple[Collection[int], LiveSubject]] = []
        self._broadcast: set[tuple[str, str]] = set()
        if self.is_used:
            self._load(records)

    def _load(self, records: Sequence[EventRecord]) -> None:
        numbers = {record.pull_request for record in records if record.pull_request is not None}
        if numbers:
            since = min(record.received_at for record in records) - LONGEST_QUEUE_TIME
            entries = QueueEntries(self.transaction).of(self.repository, numbers, since)
            for entry in entries:
                self._entries[entry.pull_request].append(entry)
            self._load_shown(LiveKind.ENTRY, [known.key for known in entries])
        bisected = [
            record.received_at for record in records if record.type in threads.BISECTION_TYPES
        ]
        if bisected:
            since = min(bisected) - threads.LONGEST_BISECTION
            self._bisections += Bisections(self.transaction).since(self.repository, since)
            self._load_shown(LiveKind.BISECTION, [bisection.key for bisection in self._bisections])

    def _load_shown(self, kind: LiveKind, keys: Collection[str]) -> None:
        for message in LiveMessages(self.transaction).of_all(kind, self.repository, keys):
            self._shown[message.subject.key].append(message)

    def thread_of(self, record: EventRecord, kind: EventKind) -> SubjectChanges | None:
        """The event's thread, begun by its first event; None without one."""
        if not self.is_used:
            return None
        if record.type in threads.ENTRY_TYPES and record.pull_request is not None:
            return self._of_subject(
                threads.QueueEntry, record, kind, self._entries[record.pull_request]
            )
        if record.type in threads.BISECTION_TYPES:
            return self._of_subject(threads.Bisection, record, kind, self._bisections)
        return None

    def _of_subject(
        self, subject: type[_Subject], record: EventRecord, kind: EventKind, known: list[_Subject]
    ) -> SubjectChanges:
        found = subject.of(record, known)
        current = subject.begun(record) if found is None else found.after(record)
        thread = self._thread(current.kind, current.key, is_new=found is None)
        if found is not None:
            known.remove(found)
            if kind in threads.STATES or is_merge(record):
                self._change(thread, is_over=kind in threads.CLOSING, kind=kind)
        elif isinstance(current, threads.QueueEntry):
            before = threads.entry_before(record, self._entries[current.pull_request])
            if before is not None:
                self._continue(before, thread)
        known.append(current)
        self._changed[current.key] = current
        return thread

    def _continue(self, ended: threads.QueueEntry, thread: SubjectChanges) -> None:
        """Have messages of a queue entry show the next one, if people learned how it ended."""
        roots = self._roots_after(ended)
        if not roots:
            return
        thread.roots = roots
        thread.is_new = False
        self._moved.append((roots.values(), thread.subject))
        self._change(thread, is_over=False)

    def _roots_after(self, ended: threads.QueueEntry) -> dict[str, int]:
        """By channel, the messages that need not show this end any more.

        They show it, or a reply that is also in the channel says so of a failure.
        """
        before = self._thread(ended.kind, ended.key, is_new=False)
        shown = {message.channel_id: message for message in self._shown[ended.key]}
        found: dict[str, int] = {}
        for channel_id, root_id in before.roots.items():
            has_reply = (ended.key, channel_id) in self._broadcast
            if has_reply and (channel_id not in shown or shown[channel_id].is_first):
                found[channel_id] = root_id
        if before.changed is not None:
            return found
        for message in shown.values():
            if message.shows_its_end:
                found[message.channel_id] = message.message_id
        with_failures = [
            message
            for message in shown.values()
            if message.channel_id not in found
            and message.is_posted
            and message.channel_id in self.channels_with_failures
        ]
        if with_failures and self._has_failed(ended):
            found |= {message.channel_id: message.message_id for message in with_failures}
        return found

    def _has_failed(self, ended: threads.QueueEntry) -> bool:
        """Whether it ended with a failure that was posted with an earlier slice."""
        numbers = {ended.pull_request}
        records = Events(self.transaction).of_pull_requests(
            self.repository, numbers, since=ended.began_at
        )
        found = threads.events_of(ended, records)
        around = with_removals_here(self.transaction, self.repository, found, found)
        kind_of = kinds(found, around)
        state = threads.state_of(found, kind_of)
        return state is not None and kind_of[state.event_id] is EventKind.FAILURE

    def _thread(self, kind: LiveKind, key: str, *, is_new: bool) -> SubjectChanges:
        thread = self._threads.get(key)
        if thread is None:
            roots = {message.channel_id: message.message_id for message in self._shown[key]}
            subject = LiveSubject(kind, self.repository, key)
            thread = self._threads[key] = SubjectChanges(subject, roots, is_new)
        return thread

    def _change(
        self, thread: SubjectChanges, *, is_over: bool, kind: EventKind | None = None
    ) -> None:
        if self.is_backlog and thread.is_new:
            return
        priority = Priority.FAILURE if kind is EventKind.FAILURE else Priority.REST
        thread.changed = min(priority, thread.changed or Priority.REST)
        thread.is_over = is_over or thread.is_over

    def notify(
        self,
        thread: SubjectChanges,
        record: EventRecord,
        kind: EventKind,
        channels: Collection[str],
        now: datetime,
    ) -> list[NewDelivery]:
        """Reply in each channel's thread, or begin that thread."""
        subject = thread.subject
        deliveries: list[NewDelivery] = []
        for channel_id in channels:
            root_id = thread.roots.get(channel_id)
            if root_id is not None and kind is EventKind.FAILURE:
                self._broadcast.add((subject.key, channel_id))
            if root_id is not None or self.is_backlog:
                deliveries.append(event_delivery(record, channel_id, kind, now, root_id=root_id))
                continue
            message_id = LiveMessages(self.transaction).add(subject, channel_id, now=now)
            if message_id is not None:
                thread.roots[channel_id] = message_id
                post = first_post(subject, message_id, channel_id, now, subject.key, kind)
                deliveries.append(post)
        return deliveries

    def finish(self, edit_at: datetime) -> None:
        """Store the queue entries and bisections, and have their live messages edited."""
        changes = [self._changed[key] for key in sorted(self._changed)]
        entries = [change for change in changes if isinstance(change, threads.QueueEntry)]
        bisections = [change for change in changes if isinstance(change, threads.Bisection)]
        QueueEntries(self.transaction).save(entries)
        Bisections(self.transaction).save(bisections)
        for message_ids, subject in self._moved:
            LiveMessages(self.transaction).move(message_ids, subject)
        changed = [thread for thread in self._threads.values() if thread.changed is not None]
        changed.sort(key=lambda thread: (thread.subject.kind, thread.subject.key))
        for thread in changed:
            LiveMessages(self.transaction).mark(
                thread.subject,
                due_at=edit_at,
                closed=thread.is_over,
                priority=thread.changed,
            )


@dataclass(frozen=True, slots=True)
class PauseInForce:
    """The events during a pause, by their ids, and the channels whose card counts arrivals."""

    event_ids: AbstractSet[int]
    channels: AbstractSet[str]


class _Traits(NamedTuple):
    """All that decides which subscriptions an event matches."""

    event_type: str
    kind: EventKind
    branch: str | None
    author: str | None


@dataclass(frozen=True, slots=True)
class ClassifiedEvents:
    """A slice of the log whose meaning can no longer change, with that meaning."""

    records: Sequence[EventRecord]
    kinds: Mapping[int, EventKind]  #: by event id
    batches: Mapping[int, str]  #: by event id, the batch of merges that share one post
    preceding: Sequence[EventRecord]  #: events that complete leaves lacking their reason
    #: the acts of this bot that caused leaves, by event id; its channel has a post
    removals: Mapping[int, AuditRecord]
    #: the known pull requests, by number, if anybody's choice depends on their authors
    seen: Mapping[int, PullRequestRecord]

    def completed(self, record: EventRecord) -> EventRecord:
        """The event with the reason that it lacks, if an earlier one has it."""
        return with_preceding_events(record, self.preceding)


@dataclass(frozen=True, slots=True)
class Subscribers:
    """Who gets the events of a slice."""

    events: ClassifiedEvents
    subscriptions: Sequence[Subscription]
    threads: Threads
    storm: StormCount | None  #: None in a backlog
    pause: PauseInForce | None  #: the one in force, if any
    next_digest: NextDigest
    now: datetime
    _found: dict["_Traits", Sequence[Subscription]] = field(default_factory=dict)

    def channels(self, record: EventRecord) -> Collection[str]:
        return dict.fromkeys(subscription.channel_id for subscription in self._matching(record))

    def _matching(self, record: EventRecord) -> Sequence[Subscription]:
        """The subscriptions that match; the same for many events."""
        known = self.events.seen.get(record.pull_request or 0)
        author = known.author if known is not None else None
        kind = self.events.kinds[record.event_id]
        traits = _Traits(record.type, kind, record.base_ref, author)
        if traits not in self._found:
            self._found[traits] = [
                subscription
                for subscription in self.subscriptions
                if subscription.wants(
                    topic=topic_of(kind),
                    event_type=traits.event_type,
                    branch=traits.branch,
                    author=author,
                )
            ]
        return self._found[traits]

    def route(self, record: EventRecord) -> Sequence[NewDelivery]:
        """The deliveries of an event that is not about a pause."""
        kind = self.events.kinds[record.event_id]
        subscriptions = self._matching(record)
        act = self.events.removals.get(record.event_id)
        if act is not None:
            subscriptions = [
                subscription
                for subscription in subscriptions
                if subscription.channel_id != act.where.channel_id
            ]
        if not subscriptions:
            fields = {"repository": record.repository, "pull_request": record.pull_request}
            extra = {"action": "nobody_subscribed", "event_type": record.type, **fields}
            logger.debug("nobody is subscribed to an event", extra=extra)
        thread = self.threads.thread_of(record, kind)
        of_storm: list[NewDelivery] = []
        if self._is_of_storm(record, kind):
            of_storm = self._first_posts_of_storm(record, kind, subscriptions)
            subscriptions = self._not_counted_in_storm(record, kind, thread, subscriptions)
        if thread is None or not subscriptions:
            return [*of_storm, *self._posts(record, kind, subscriptions)]
        wanted = self._not_counted_by_card(record, kind, thread, subscriptions)
        channels = {
            subscription.channel_id for subscription in wanted if subscription.style is Style.THREAD
        }
        if record.event_id in self.events.batches:
            # Without a thread the batch gets one post, and no thread per pull request.
            channels &= thread.roots.keys()
        in_threads = self.threads.notify(thread, record, kind, sorted(channels), self.now)
        others = [
            subscription for subscription in wanted if subscription.channel_id not in channels
        ]
        return [*of_storm, *in_threads, *self._posts(record, kind, others)]

    def _is_of_storm(self, record: EventRecord, kind: EventKind) -> bool:
        if self.storm is None:
            return False
        return self.storm.of(record.base_ref).see(self.events.completed(record), kind)

    def _first_posts_of_storm(
        self, record: EventRecord, kind: EventKind, subscriptions: Sequence[Subscription]
    ) -> list[NewDelivery]:
        if self.storm is None or kind is not EventKind.FAILURE:
            return []
        channels = _besides_feeds(subscriptions)
        return self.storm.of(record.base_ref).begin_messages(channels)

    def _not_counted_in_storm(
        self,
        record: EventRecord,
        kind: EventKind,
        thread: SubjectChanges | None,
        subscriptions: Sequence[Subscription],
    ) -> Sequence[Subscription]:
        """Those whose channel has no message about the storm, which counts the event."""
        if self.storm is None:
            return subscriptions
        channels = _besides_feeds(subscriptions)
        counted = set(self.storm.of(record.base_ref).showing(channels))
        if kind is EventKind.ENTER and thread is not None:
            # A message that is there already is edited.
            counted -= thread.roots.keys()
        return [
            subscription for subscription in subscriptions if subscription.channel_id not in counted
        ]

    def _not_counted_by_card(
        self,
        record: EventRecord,
        kind: EventKind,
        thread: SubjectChanges,
        subscriptions: Sequence[Subscription],
    ) -> Sequence[Subscription]:
        """Those without a pause card that counts the arrival; a feed gets its posts all the same.

        A channel with a thread for it already gets a reply there.
        """
        pause = self.pause
        if pause is None or kind is not EventKind.ENTER or record.event_id not in pause.event_ids:
            return subscriptions
        counted = pause.channels - thread.roots.keys()
        return [
            subscription
            for subscription in subscriptions
            if subscription.channel_id not in counted or subscription.style is not Style.THREAD
        ]

    def _posts(
        self, record: EventRecord, kind: EventKind, subscriptions: Sequence[Subscription]
    ) -> list[NewDelivery]:
        """One per channel; if any of its subscriptions is immediate, there is no digest."""
        digest_times: dict[str, datetime | None] = {}
        for subscription in subscriptions:
            channel_id = subscription.channel_id
            is_digest = subscription.style is Style.DIGEST and kind is not EventKind.FAILURE
            if subscription.digest is None or not is_digest:
                digest_times[channel_id] = None
            elif channel_id not in digest_times:
                digest_times[channel_id] = self.next_digest(subscription.digest, self.now)
        return [
            event_delivery(record, channel_id, kind, self.now, digest_at=digest_at)
            for channel_id, digest_at in digest_times.items()
        ]

    def in_one_post(self, deliveries: Sequence[NewDelivery]) -> Sequence[NewDelivery]:
        """Combine the merges of a batch into the first one's post in each channel."""
        together: dict[tuple[str, str], list[NewDelivery]] = defaultdict(list)
        for delivery in deliveries:
            batch_id = self.events.batches.get(delivery.subject.subject_id)
            is_post = delivery.root_id is None and delivery.digest_at is None
            if batch_id is not None and is_post and delivery.subject.kind is SubjectKind.EVENT:
                together[delivery.channel_id, batch_id].append(delivery)
        changed: dict[str, NewDelivery] = {}
        for first, *others in together.values():
            if not others:
                continue
            combined_id = summary_id(first.delivery_id, others[-1].delivery_id)
            changed[first.delivery_id] = replace(
                first, delivery_id=combined_id, summarizes=len(others)
            )
            for other in others:
                changed[other.delivery_id] = replace(other, summarized_by=combined_id)
        return [changed.get(delivery.delivery_id, delivery) for delivery in deliveries]


def _besides_feeds(subscriptions: Sequence[Subscription]) -> Collection[str]:
    """The channels in which not each event has a post of its own."""
    channels = {subscription.channel_id for subscription in subscriptions}
    feeds = {each.channel_id for each in subscriptions if each.style is Style.FEED}
    return channels - feeds
