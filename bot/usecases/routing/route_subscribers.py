"""From events to the posts and threads of the channels that subscribed to them."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.domain.classification import EventKind, topic_of
from bot.domain.deliveries import NewDelivery, Subject, SubjectKind, delivery_id, summary_id
from bot.domain.event_records import EventRecord, PullRequestRecord
from bot.domain.subscriptions import NextDigest, Style, Subscription
from bot.usecases.routing.route_threads import Thread, Threads


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
        subject = Subject(SubjectKind.EVENT, record.repository, record.event_id)
        waits: dict[str, datetime | None] = {}
        for one in subscriptions:
            if one.digest is None or one.style is not Style.DIGEST or kind is EventKind.FAILURE:
                waits[one.channel_id] = None
            else:
                waits.setdefault(one.channel_id, self.next_digest(one.digest, now))
        identity = str(record.event_id)
        return [
            NewDelivery(
                delivery_id(channel_id, subject, identity),
                channel_id,
                subject,
                now,
                kind=kind,
                digest_at=digest_at,
            )
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
