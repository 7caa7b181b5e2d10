"""Which of a repository's subscriptions hear an event."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from bot.domain.classification import EventKind, topic_of
from bot.domain.event_records import EventRecord, PullRequestRecord
from bot.domain.subscriptions import Style, Subscription


@dataclass(frozen=True, slots=True)
class Hearers:
    """The subscriptions that want an event.

    `in_threads` are the channels, sorted, that are told in threads; `others` are the subscriptions
    of all other channels.
    """

    subscriptions: Sequence[Subscription]
    in_threads: Sequence[str]
    others: Sequence[Subscription]

    @classmethod
    def of(cls, subscriptions: Sequence[Subscription], channels: Collection[str]) -> "Hearers":
        """With threads in no other channels than these."""
        in_threads = {
            one.channel_id
            for one in subscriptions
            if one.style is Style.THREAD and one.channel_id in channels
        }
        others = [one for one in subscriptions if one.channel_id not in in_threads]
        return cls(subscriptions, sorted(in_threads), others)

    def with_threads_in(self, channels: Collection[str]) -> "Hearers":
        return Hearers.of(self.subscriptions, channels)


@dataclass(frozen=True, slots=True)
class Hearing:
    """Finds who hears each of many events; those that are alike are heard by the same.

    `seen`: the pull requests of the events, as far as they are known.
    """

    subscriptions: Sequence[Subscription]
    seen: Mapping[int, PullRequestRecord]
    _found: dict[tuple[str, EventKind, str | None, str | None], Hearers] = field(
        default_factory=dict
    )

    def of(self, record: EventRecord, kind: EventKind) -> Hearers:
        known = self.seen.get(record.pull_request) if record.pull_request is not None else None
        author = known.author if known is not None else None
        alike = (record.type, kind, record.base_ref, author)
        found = self._found.get(alike)
        if found is None:
            found = self._found[alike] = self._find(*alike)
        return found

    def _find(
        self, event_type: str, kind: EventKind, branch: str | None, author: str | None
    ) -> Hearers:
        topic = topic_of(kind)
        wanting = [
            one
            for one in self.subscriptions
            if one.wants(topic=topic, event_type=event_type, branch=branch, author=author)
        ]
        return Hearers.of(wanting, {one.channel_id for one in wanting})
