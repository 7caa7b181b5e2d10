"""The events of a chaos run and their expected posts, determined without the bot's code."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random

from bot.sandbox.merge_queue.controls import NewPullRequest, SentEvent
from bot.sandbox.merge_queue.server import MergeQueueSandbox
from bot.sandbox.merge_queue.simulation.event_log import Event
from tests.chaos import freezes, rules

EMITTED = ("acme/site", "acme/api", "acme/docs")
SIMULATED = "acme/shop"
REPOSITORIES = (*EMITTED, SIMULATED)
MERGE_QUEUE = "C0MERGEQ"
RELEASES = "C0RELEASE"
GENERAL = "C0GENERAL"

QUEUED = "Queued"
MERGED = "Merged"
LEFT = "Left the queue"
REMOVED = "Removed from the queue"
WORD_OF_TOPIC = {"enter": QUEUED, "merge": MERGED, "failure": LEFT}

SUBSCRIPTIONS = {
    (MERGE_QUEUE, "acme/site"): ("enter", "merge", "failure"),
    (MERGE_QUEUE, "acme/api"): ("merge", "failure"),
    (RELEASES, "acme/api"): ("merge",),
    (RELEASES, "acme/docs"): ("merge",),
    (RELEASES, "acme/shop"): ("enter", "merge", "failure"),
    (GENERAL, "acme/docs"): ("enter", "failure"),
    (GENERAL, "acme/shop"): ("merge",),
    (GENERAL, "acme/site"): ("failure",),
}

THREADS = frozenset({(MERGE_QUEUE, "acme/site"), (RELEASES, "acme/shop"), (GENERAL, "acme/docs")})
"""The channel with threads; the others are feeds, with a post for each event."""

LATEST = timedelta(seconds=90)
"""How late an event may appear: within the bot's overlap of two minutes."""

_EMITTED_CODES = ("CHECKS_FAILED", "CHECKS_TIMEOUT", "CONFLICT_WITH_BASE_BRANCH")
_FAILED = {
    *_EMITTED_CODES,
    "BATCH_MAX_FAILURE_RESOLUTION_ATTEMPTS",
    "DROPPED_BY_BISECTION_ELIMINATION",
}
_BURST = 130


def channels_setting() -> str:
    """The subscriptions, as MQBOT_CHANNELS takes them."""
    return ";".join(
        f"{repository}={channel}:{','.join([*topics, *_freeze(channel, repository)])}"
        f",style:{_style(channel, repository)}"
        for (channel, repository), topics in SUBSCRIPTIONS.items()
    )


def _freeze(channel: str, repository: str) -> Sequence[str]:
    return ["freeze"] if repository == freezes.REPOSITORY and channel in freezes.CHANNELS else []


def _style(channel: str, repository: str) -> str:
    return "thread" if (channel, repository) in THREADS else "feed"


def word_for(event: Event) -> str | None:
    """The word of the post that an event deserves, None when nobody is to hear of it.

    Only what the local service writes is judged; anything else is a mistake of this run.
    """
    if event.type == "action.queue.enter":
        return QUEUED
    if event.type == "action.queue.merged":
        return MERGED
    if event.type != "action.queue.leave" or event.metadata.get("merged"):
        return None
    code = event.metadata.get("dequeue_code")
    if code == "PR_MANUALLY_DEQUEUED":
        return None
    assert code in _FAILED, f"this run does not know what becomes of {code}"
    return LEFT


def states(service: MergeQueueSandbox) -> dict[tuple[str, int], str]:
    """The word for how each pull request is after its last event, by repository and number."""
    found: dict[tuple[str, int], str] = {}
    for repository in REPOSITORIES:
        in_order = sorted(
            service.events(repository), key=lambda record: (record.received_at, record.id)
        )
        for event in in_order:
            is_removal = event.metadata.get("dequeue_code") == "PR_MANUALLY_DEQUEUED"
            word = REMOVED if is_removal else word_for(event)
            if word is not None and event.pull_request is not None:
                found[repository, event.pull_request] = word
    return found


Key = tuple[str, str, int, str]
"""A post's channel, repository, pull request and word."""


@dataclass(frozen=True, slots=True)
class Expected:
    """An event expected in a channel, and when it was written into the log."""

    channel: str
    repository: str
    event_id: int
    received_at: int
    written_at: float
    number: int
    word: str

    @property
    def key(self) -> Key:
        return self.channel, self.repository, self.number, self.word


@dataclass
class Traffic:
    """Writes entries, merges, failures, and events without subscribers; some appear late.

    Nothing is written into the time before `begun_at`: that is history to the bot.
    """

    service: MergeQueueSandbox
    random: Random
    begun_at: datetime
    _next_number: int = 1000
    _queued: dict[str, list[int]] = field(default_factory=lambda: {name: [] for name in EMITTED})
    _written_at: dict[int, float] = field(default_factory=dict)
    _last_at: dict[int, datetime] = field(default_factory=dict)
    _sound: int = 0
    _broken: int = 0
    late: int = 0

    def __post_init__(self) -> None:
        self.freezes = freezes.Freezes(self.service, self.random)

    def one(self) -> None:
        """Let one more event happen in one of the repositories."""
        repository = self.random.choice(REPOSITORIES)
        if self.random.random() < 0.1:
            self.freezes.one()
            rules.fail(self.service, self._number())
        elif repository == SIMULATED:
            self._simulate()
        elif not self._queued[repository] or self.random.random() < 0.4:
            self._enter(repository)
        else:
            self._end(repository)

    def burst(self) -> None:
        """Write more than a page of events of a type that is requested but never posted."""
        repository = self.random.choice(EMITTED)
        for _ in range(_BURST):
            self._emit(repository, "action.queue.leave", self._number(), merged=True)

    def expected(self) -> list[Expected]:
        """The expected events of the channels, from the service's own log and the subscriptions."""
        found = []
        for (channel, repository), topics in SUBSCRIPTIONS.items():
            words = {WORD_OF_TOPIC[topic] for topic in topics}
            for event in self.service.events(repository):
                word = word_for(event)
                if word not in words or event.pull_request is None:
                    continue
                at = self._written_at.get(event.id, event.received_at / 1e6)
                found.append(
                    Expected(
                        channel,
                        repository,
                        event.id,
                        event.received_at,
                        at,
                        event.pull_request,
                        word,
                    )
                )
        return found

    def _enter(self, repository: str) -> None:
        number = self._number()
        self._emit(repository, "action.queue.enter", number)
        self._queued[repository].append(number)

    def _end(self, repository: str) -> None:
        queued = self._queued[repository]
        number = queued.pop(self.random.randrange(len(queued)))
        outcome = self.random.choices(["merge", "failure", "dequeue"], weights=[5, 3, 1])[0]
        if outcome == "merge":
            self._emit(
                repository, "action.queue.leave", number, merged=True, dequeue_code="PR_MERGED"
            )
            self._emit(repository, "action.queue.merged", number)
        elif outcome == "failure":
            code = self.random.choice(_EMITTED_CODES)
            self._emit(repository, "action.queue.leave", number, merged=False, dequeue_code=code)
        else:
            code = "PR_MANUALLY_DEQUEUED"
            self._emit(repository, "action.queue.leave", number, merged=False, dequeue_code=code)

    def _simulate(self) -> None:
        # If most failed, one message would count them in place of their posts.
        is_rare = self._sound >= 3 * (self._broken + 1)
        is_broken = is_rare and self.random.random() < 0.5
        self._broken += is_broken
        self._sound += not is_broken
        broken = "unit tests" if is_broken else None
        self.service.enqueue(SIMULATED, NewPullRequest(broken_check=broken))

    def _emit(self, repository: str, type_: str, number: int, **metadata: object) -> None:
        received_at = None
        # One in twenty shows late: its place in the log is behind what was read already, though
        # never before what happened to the same pull request.
        if self.random.random() < 0.05:
            earliest = self._last_at.get(number, self.begun_at) + timedelta(milliseconds=1)
            received_at = max(datetime.now(UTC) - LATEST * self.random.random(), earliest)
            self.late += 1
        event = SentEvent(type_, metadata, number, "main", received_at=received_at)
        self._written_at[self.service.emit(repository, event)] = time.time()
        self._last_at[number] = received_at or datetime.now(UTC)

    def _number(self) -> int:
        self._next_number += 1
        return self._next_number
