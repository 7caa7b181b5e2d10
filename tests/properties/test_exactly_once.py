"""Walks 3 and 4 tell every event once and in order, whatever happens between any two steps."""

import asyncio
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)
from typing_extensions import override

from bot.domain.deliveries import Delivery
from bot.domain.errors import (
    BotError,
    InvalidRequest,
    MergeQueueUnavailable,
    PostError,
    PostInDoubt,
    PostPostponed,
    PostRefused,
    Refusal,
)
from bot.domain.events import QueueEvent
from bot.domain.repository import RepositoryName
from bot.usecases.poll_due_repositories import PollDueRepositories
from bot.usecases.poll_event_log import PollEventLog
from bot.usecases.post_deliveries import PostDeliveries
from tests.support.clock import FakeClock
from tests.support.disturbances import (
    Crash,
    Disturbance,
    DisturbedMergeQueue,
    DisturbedPoster,
    DisturbedStore,
    Kind,
    Steps,
)
from tests.support.make import API, SITE, make_event, make_subscription
from tests.support.merge_queue import FakeMergeQueue
from tests.support.poster import Posted, RecordingPoster
from tests.support.store import InMemoryDatabase, InMemoryStore

SUBSCRIPTIONS = {
    ("C0ONE", SITE): ("enter", "merge", "failure"),
    ("C0ONE", API): ("merge",),
    ("C0TWO", SITE): ("failure",),
    ("C0TWO", API): ("enter", "merge"),
}
CHANNELS = ("C0ONE", "C0TWO")
INTERVAL = timedelta(seconds=10)
OVERLAP = timedelta(seconds=120)
LATEST_SECONDS = 60
LONG_SECONDS = 95.0
SHORT_SECONDS = 8.0
CALM_ROUNDS = 400

WORDS = {
    "enter": ("action.queue.enter", {}, "Queued"),
    "merge": ("action.queue.merged", {}, "Merged"),
    "failure": (
        "action.queue.leave",
        {"merged": False, "dequeue_code": "CHECKS_FAILED"},
        "Left the queue",
    ),
    "nothing": ("action.queue.leave", {"merged": True, "dequeue_code": "PR_MERGED"}, ""),
}
_POST = re.compile(r"(Queued|Merged|Left the queue) #(\d+)\b")

POST_FAILURES = (
    (PostInDoubt("TimeoutError"), True),
    (PostInDoubt("http_500"), False),
    (PostPostponed("ratelimited", retry_after=3, workspace_wide=True), False),
    (PostPostponed("not_connected"), False),
    (PostRefused("is_archived", Refusal.CHANNEL), False),
)


@dataclass
class Process:
    """One bot on the shared database, the shared service and the shared workspace."""

    name: str
    world: "World"
    steps: Steps = field(default_factory=Steps)

    def __post_init__(self) -> None:
        world, steps = self.world, self.steps
        store = DisturbedStore(InMemoryStore(world.database), steps)
        self.polls = PollDueRepositories(
            poll=PollEventLog(
                store,
                DisturbedMergeQueue(world.service, steps),
                world.clock,
                _nobody,
                overlap=OVERLAP,
            ),
            store=store,
            clock=world.clock,
            repositories=(SITE, API),
            interval=INTERVAL,
            holder=self.name,
        )
        self.posts = PostDeliveries(
            store=store,
            poster=DisturbedPoster(world.poster, steps),
            clock=world.clock,
            nudge=_nobody,
            holder=self.name,
            jitter=lambda: 0.5,
        )

    async def turn(self) -> None:
        """A tick of the schedule: polls and posts side by side, as in the runtime."""
        await asyncio.gather(self._poll(), self._post())

    async def _poll(self) -> None:
        with suppress(BotError, Crash):
            await self.polls.run()
        await self.polls.drain()

    async def _post(self) -> None:
        before = asyncio.all_tasks()
        try:
            await self.posts.run()
        except (BotError, Crash):
            # The other channels' tasks end by themselves, the next step of a dead process.
            mine = {task for task in asyncio.all_tasks() - before if "poll" not in task.get_name()}
            await asyncio.gather(*mine, return_exceptions=True)


def _nobody(after: float = 0.0) -> None:
    del after


@dataclass
class World:
    """What outlives every process."""

    clock: FakeClock = field(default_factory=FakeClock)
    database: InMemoryDatabase = field(default_factory=InMemoryDatabase)
    poster: RecordingPoster = field(default_factory=RecordingPoster)

    def __post_init__(self) -> None:
        self.service = FakeMergeQueue((SITE, API), clock=self.clock, page_size=4)
        self.begun_at = self.clock.now()
        self.events: list[tuple[RepositoryName, QueueEvent, str]] = []
        self._last_id = 0

    def emit(self, repository: RepositoryName, kind: str, late: float) -> None:
        self._last_id += 1
        type_, metadata, word = WORDS[kind]
        event = make_event(
            self._last_id,
            type_,
            received_at=max(self.clock.now() - timedelta(seconds=late), self.begun_at),
            pull_request=1000 + self._last_id,
            metadata=metadata,
        )
        self.service.log(repository, event)
        self.events.append((repository, event, word))

    def expected(self, channel: str) -> list[tuple[RepositoryName, QueueEvent, str]]:
        """The events a channel has to hear of, in the order in which they were written."""
        words = {
            repository: {WORDS[topic][2] for topic in topics}
            for (one, repository), topics in SUBSCRIPTIONS.items()
            if one == channel
        }
        return [each for each in self.events if each[2] in words.get(each[0], set())]

    def told(self, channel: str) -> list[tuple[int, str]]:
        """What the channel was told, as places of posts: pull request and word."""
        return [
            pair
            for post in self.poster.history
            if post.channel_id == channel
            for pair in self._told_by(post)
        ]

    def place(self, channel: str) -> dict[int, int]:
        """At which post of the channel each pull request was told first."""
        places: dict[int, int] = {}
        posts = [one for one in self.poster.history if one.channel_id == channel]
        for number, post in enumerate(posts):
            for pull_request, _ in self._told_by(post):
                places.setdefault(pull_request, number)
        return places

    def _told_by(self, post: Posted) -> Iterator[tuple[int, str]]:
        if post.message.told == 1:
            match = _POST.match(post.message.text)
            assert match is not None, post.message.text
            yield int(match[2]), match[1]
            return
        contents = self.database.contents
        rows: list[Delivery] = [
            one
            for one in contents.deliveries.values()
            if post.delivery_id in (one.delivery_id, contents.told_by.get(one.delivery_id))
        ]
        assert len(rows) == post.message.told, "a summary says how much it tells"
        for row in rows:
            _, event, word = self.events[row.subject.subject_id - 1]
            assert event.pull_request is not None
            yield event.pull_request, word


class ExactlyOnce(RuleBasedStateMachine):
    """Two processes at most, and everything that may happen to them."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.loop.set_exception_handler(_only_crashes)
        self.world = World()
        self.processes: list[Process] = []
        self._names = 0

    def _start(self) -> Process:
        self._names += 1
        return Process(f"process {self._names}", self.world)

    def _run(self, process: Process) -> None:
        self.loop.run_until_complete(process.turn())
        if process.steps.is_dead:
            self.processes[self.processes.index(process)] = self._start()

    @initialize()
    def begin(self) -> None:
        self.processes = [self._start()]
        self.loop.run_until_complete(self._subscribe())
        self._run(self.processes[0])
        self.world.clock.advance(1)

    async def _subscribe(self) -> None:
        async with InMemoryStore(self.world.database).begin() as transaction:
            for (channel, repository), topics in SUBSCRIPTIONS.items():
                await transaction.subscriptions.save(
                    make_subscription(*topics, channel_id=channel, repository=repository)
                )

    @rule(
        repository=st.sampled_from([SITE, API]),
        kind=st.sampled_from(sorted(WORDS)),
        late=st.one_of(st.just(0), st.integers(1, LATEST_SECONDS)),
        count=st.sampled_from([1, 1, 2, 5, 45]),
    )
    def something_happens(
        self, repository: RepositoryName, kind: str, late: int, count: int
    ) -> None:
        for _ in range(count):
            self.world.clock.advance(0.1)
            self.world.emit(repository, kind, late)

    @rule(seconds=st.sampled_from([0.3, 1.0, 1.0, 3.0, 11.0, 20.0, 61.0, 100.0]))
    def time_passes(self, seconds: float) -> None:
        self.world.clock.advance(seconds)

    @rule(which=st.integers(0, 1), times=st.integers(1, 8))
    def turns(self, which: int, times: int) -> None:
        for _ in range(times):
            self._run(self.processes[which % len(self.processes)])
            self.world.clock.advance(1)

    @rule(
        which=st.integers(0, 1),
        kind=st.sampled_from(["crash", "crash", "store fails"]),
        at=st.integers(1, 60),
        then=st.sampled_from([0.0, 61.0]),
    )
    def a_turn_goes_wrong(self, which: int, kind: Kind, at: int, then: float) -> None:
        """Afterwards what the dead process had claimed may become free."""
        process = self.processes[which % len(self.processes)]
        process.steps.arm(Disturbance(kind, at))
        self._run(process)
        process.steps.arm(None)
        self.world.clock.advance(then)

    @rule(which=st.integers(0, 1), at=st.integers(1, 60), is_long=st.booleans())
    def a_turn_freezes(self, which: int, at: int, is_long: bool) -> None:  # noqa: FBT001 - drawn
        """Meanwhile the other process, if there is one, goes on."""
        process = self.processes[which % len(self.processes)]
        others = [one for one in self.processes if one is not process]

        async def meanwhile() -> None:
            for _ in range(5):
                self.world.clock.advance((LONG_SECONDS if is_long else SHORT_SECONDS) / 5)
                for other in others:
                    await other.turn()

        process.steps.arm(Disturbance("freeze", at, meanwhile, short=not is_long))
        self._run(process)
        process.steps.arm(None)

    @precondition(lambda self: len(self.processes) == 1)
    @rule()
    def a_second_process_starts(self) -> None:
        self.processes.append(self._start())

    @precondition(lambda self: len(self.processes) == 2)
    @rule()
    def both_at_once(self) -> None:
        async def both() -> None:
            await asyncio.gather(*(one.turn() for one in self.processes))

        self.loop.run_until_complete(both())

    @rule(failure=st.sampled_from(POST_FAILURES), channel=st.sampled_from([None, *CHANNELS]))
    def slack_will_fail(self, failure: tuple[PostError, bool], channel: str | None) -> None:
        error, after = failure
        self.world.poster.fail_next(error, after=after, channel_id=channel)

    @rule(looks=st.integers(0, 2))
    def history_shows_late(self, looks: int) -> None:
        self.world.poster.shows_late = looks

    @rule()
    def history_will_fail(self) -> None:
        self.world.poster.fail_next(PostPostponed("ratelimited", retry_after=2), method="find")

    @rule(
        error=st.sampled_from(
            [
                MergeQueueUnavailable("no answer in time", arrived=True),
                InvalidRequest(422, "the cursor is not known"),
            ]
        )
    )
    def the_service_will_fail(self, error: MergeQueueUnavailable | InvalidRequest) -> None:
        self.world.service.fail_next(error, method="event_page")

    @invariant()
    def nothing_was_told_twice(self) -> None:
        for channel in CHANNELS:
            twice = [one for one, times in Counter(self.world.told(channel)).items() if times > 1]
            assert not twice, f"{channel} was told twice of {twice}"

    @invariant()
    def what_was_told_is_in_order(self) -> None:
        for channel in CHANNELS:
            places = self.world.place(channel)
            lines: dict[RepositoryName, list[QueueEvent]] = defaultdict(list)
            for repository, event, _ in self.world.expected(channel):
                if event.pull_request in places:
                    lines[repository].append(event)
            for line in lines.values():
                _assert_in_order(line, places, channel)

    @override
    def teardown(self) -> None:
        try:
            if self.processes:
                self._calm_down()
                self.nothing_was_told_twice()
                self.what_was_told_is_in_order()
                self._assert_everything_was_told()
        finally:
            self.loop.close()

    def _calm_down(self) -> None:
        """No more disturbances: time passes until nothing is left."""
        self.world.poster.shows_late = 0
        # The retries of a channel that Slack refused come minutes apart.
        for seconds in [2] * 30 + [20] * CALM_ROUNDS:
            for process in list(self.processes):
                self._run(process)
            self.world.clock.advance(seconds)
            if seconds != 2 and self._all_told():
                break

    def _all_told(self) -> bool:
        return all(
            len(self.world.told(channel)) >= len(self.world.expected(channel))
            for channel in CHANNELS
        )

    def _assert_everything_was_told(self) -> None:
        for channel in CHANNELS:
            expected = {
                (event.pull_request, word) for _, event, word in self.world.expected(channel)
            }
            told = set(self.world.told(channel))
            assert told == expected, f"{channel}: lost {expected - told}, made up {told - expected}"
        left = [
            one
            for one in self.world.database.contents.deliveries.values()
            if not one.state.is_settled
        ]
        assert not left


def _assert_in_order(line: list[QueueEvent], places: dict[int, int], channel: str) -> None:
    """An event written after another, with a later place in the log, is told after it."""
    for index, later in enumerate(line):
        for earlier in line[:index]:
            if (earlier.received_at, earlier.id) < (later.received_at, later.id):
                assert places[earlier.pull_request or 0] <= places[later.pull_request or 0], (
                    f"{channel}: #{later.pull_request} was told before #{earlier.pull_request}"
                )


def _only_crashes(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """A crashed task is never asked for its outcome: its process is dead."""
    if not isinstance(context.get("exception"), Crash):
        loop.default_exception_handler(context)


ExactlyOnce.TestCase.settings = settings(
    max_examples=60,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
TestExactlyOnce = ExactlyOnce.TestCase


def test_a_summary_does_not_overtake_what_is_in_doubt() -> None:
    """A process dies with ten posts claimed; then more than a summary's worth arrives."""
    story = ExactlyOnce()
    story.begin()
    story.something_happens(SITE, "enter", 0, 20)
    story.time_passes(11)
    story.turns(0, 1)
    story.processes[0].steps.arm(Disturbance("crash", 1, place="post"))
    story.turns(0, 1)
    story.something_happens(SITE, "enter", 0, 45)
    story.time_passes(61)
    story.turns(0, 100)
    story.teardown()
