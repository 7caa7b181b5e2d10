"""Events are posted once and in order, whatever happens between any two steps."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Coroutine, Iterator
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import text
from typing_extensions import override

from bot.channels.rows import Subscriptions
from bot.kernel.errors import InvalidRequest
from bot.kernel.repository import RepositoryName
from bot.merge_queue.errors import MergeQueueUnavailable
from bot.merge_queue.event_records import EventRecord
from bot.slack.errors import PostError, PostInDoubt, PostPostponed, PostRefused, Refusal
from bot.store.engines import create_engine
from tests.support.databases import EMPTY_POSTGRES, PATIENT
from tests.support.disturbances import Crash, Disturbance, Kind
from tests.support.make import API, SITE, make_subscription
from tests.support.posting_world import CHANNELS, SUBSCRIPTIONS, WORDS, Process, World
from tests.support.store import InlineStore, SharedDatabase
from tests.support.transactions import begin

LATEST_SECONDS = 60
LONG_SECONDS = 95.0
SHORT_SECONDS = 8.0
SHOWN_SECONDS = 5.0
"""How late a post may show in the channel's history, whatever happened: what is promised rests
on that."""

CALM_ROUNDS = 400

POSTGRESQL_EXAMPLES = 10

SHOWN = st.sampled_from([0.0, 1.0, SHOWN_SECONDS])
STRUCK_WITHIN = 15
"""Turns in which a disturbance finds its step, a second apart: more than a polling interval."""

PLACES = st.sampled_from(
    [None, None, "posting committed", "polling committed", "post", "posted", "find", "answered"]
)

POST_FAILURES = (
    (PostInDoubt("ServerDisconnectedError"), True),
    (PostInDoubt("TimeoutError"), True),
    (PostInDoubt("http_500"), False),
    (PostPostponed("ratelimited", retry_after=3), False),
    (PostPostponed("not_connected"), False),
    (PostRefused("is_archived", Refusal.CHANNEL), False),
)


class ExactlyOnce(RuleBasedStateMachine):
    """Up to two processes, and everything that may happen to them."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.loop.set_exception_handler(_only_crashes)
        self.world = self.new_world()
        self.processes: list[Process] = []
        self._names = 0

    def new_world(self) -> World:
        return World()

    def _start(self) -> Process:
        self._names += 1
        return Process(f"process {self._names}", self.world)

    def _run(self, process: Process) -> None:
        self.loop.run_until_complete(process.turn())
        if process.steps.is_dead:
            self.processes[self.processes.index(process)] = self._start()

    @initialize(processes=st.integers(1, 2), seconds=SHOWN)
    def begin(self, processes: int = 1, seconds: float = 0.0) -> None:
        self.processes = [self._start() for _ in range(processes)]
        self.world.poster.shown_after = timedelta(seconds=seconds)
        self.loop.run_until_complete(self._subscribe())
        self._run(self.processes[0])
        self.world.clock.advance(1)

    async def _subscribe(self) -> None:
        with begin(InlineStore(self.world.database)) as transaction:
            for (channel, repository), topics in SUBSCRIPTIONS.items():
                Subscriptions(transaction).save(
                    make_subscription(*topics, channel_id=channel, repository=repository)
                )

    @rule(
        repository=st.sampled_from([SITE, API]),
        kind=st.sampled_from(sorted(WORDS)),
        late=st.one_of(st.just(0), st.integers(1, LATEST_SECONDS)),
        count=st.sampled_from([1, 2, 5, 12, 45]),
    )
    def something_happens(
        self, repository: RepositoryName, kind: str, late: int, count: int
    ) -> None:
        for _ in range(count):
            self.world.clock.advance(0.1)
            self.world.emit(repository, kind, late)

    @rule(seconds=st.sampled_from([0.3, 3.0, 11.0, 31.0, 100.0]))
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
        place=PLACES,
        at=st.integers(1, 12),
        then=st.sampled_from([0.0, 31.0]),
    )
    def something_goes_wrong(
        self, which: int, kind: Kind, place: str | None, at: int, then: float
    ) -> None:
        """Afterwards what a dead process had claimed may become free."""
        process = self.processes[which % len(self.processes)]
        self._disturb(process, Disturbance(kind, at, place=place))
        self.world.clock.advance(then)

    @rule(which=st.integers(0, 1), place=PLACES, at=st.integers(1, 12), is_long=st.booleans())
    def a_process_freezes(
        self,
        which: int,
        place: str | None,
        at: int,
        is_long: bool,  # noqa: FBT001 - drawn
    ) -> None:
        """Meanwhile the other process, if there is one, goes on."""
        process = self.processes[which % len(self.processes)]
        seconds = LONG_SECONDS if is_long else SHORT_SECONDS
        meanwhile = self._turns_of_others(process, seconds)
        frozen = Disturbance("freeze", at, meanwhile, short=not is_long, place=place)
        self._disturb(process, frozen)

    def _turns_of_others(
        self, process: Process, seconds: float
    ) -> Callable[[], Coroutine[Any, Any, None]]:
        others = [one for one in self.processes if one is not process]

        async def meanwhile() -> None:
            for _ in range(10):
                self.world.clock.advance(seconds / 10)
                for other in others:
                    await other.turn()

        return meanwhile

    def _disturb(self, process: Process, disturbance: Disturbance) -> None:
        """Let the process take turns until it is struck, or for a while."""
        process.steps.arm(disturbance)
        for _ in range(STRUCK_WITHIN):
            self._run(process)
            if process.steps.disturbance is None:
                return
            self.world.clock.advance(1)
        process.steps.arm(None)

    @precondition(lambda self: len(self.processes) == 1)
    @rule()
    def a_second_process_starts(self) -> None:
        self.processes.append(self._start())

    @precondition(lambda self: len(self.processes) == 2)
    @rule()
    def both_at_once(self) -> None:
        async def both() -> None:
            await asyncio.gather(*(process.turn() for process in self.processes))

        self.loop.run_until_complete(both())

    @rule(failure=st.sampled_from(POST_FAILURES), channel=st.sampled_from([None, *CHANNELS]))
    def slack_will_fail(self, failure: tuple[PostError, bool], channel: str | None) -> None:
        error, after = failure
        self.world.poster.fail_next(error, after=after, channel_id=channel)

    @rule(seconds=SHOWN)
    def history_shows_late(self, seconds: float) -> None:
        self.world.poster.shown_after = timedelta(seconds=seconds)

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
    def nothing_was_posted_twice(self) -> None:
        for channel in CHANNELS:
            twice = [
                one for one, times in Counter(self.world.reported(channel)).items() if times > 1
            ]
            assert not twice, f"{channel} was told twice of {twice}"

    @invariant()
    def posts_are_in_order(self) -> None:
        for channel in CHANNELS:
            places = self.world.place(channel)
            lines: dict[RepositoryName, list[EventRecord]] = defaultdict(list)
            for repository, event, _ in self.world.expected(channel):
                if event.pull_request in places:
                    lines[repository].append(event)
            for line in lines.values():
                self._assert_in_order(line, places, channel)

    def _assert_in_order(
        self, line: list[EventRecord], places: dict[int, int], channel: str
    ) -> None:
        """An event written later, with a later place in the log, is posted later."""
        for index, later in enumerate(line):
            for earlier in line[:index]:
                if (earlier.received_at, earlier.event_id) > (later.received_at, later.event_id):
                    continue
                if places[earlier.pull_request or 0] > places[later.pull_request or 0]:
                    assert self.world.may_be_overtaken(earlier, later), (
                        f"{channel}: #{later.pull_request} was told before #{earlier.pull_request}"
                    )

    @override
    def teardown(self) -> None:
        try:
            if self.processes:
                self._calm_down()
                self.nothing_was_posted_twice()
                self.posts_are_in_order()
                self._assert_everything_was_posted()
        finally:
            self.loop.close()

    def _calm_down(self) -> None:
        """No more disturbances: time passes until nothing is left."""
        self.world.poster.shown_after = timedelta()
        # The retries of a channel that Slack refused come minutes apart.
        for seconds in [2] * 30 + [20] * CALM_ROUNDS:
            for process in list(self.processes):
                self._run(process)
            self.world.clock.advance(seconds)
            if seconds != 2 and self._all_posted():
                break

    def _all_posted(self) -> bool:
        return not self.world.unsettled() and all(
            len(self.world.reported(channel)) >= len(self.world.expected(channel))
            for channel in CHANNELS
        )

    def _assert_everything_was_posted(self) -> None:
        for channel in CHANNELS:
            expected = {
                (event.pull_request, word) for _, event, word in self.world.expected(channel)
            }
            reported = set(self.world.reported(channel))
            assert reported == expected, (
                f"{channel}: lost {expected - reported}, made up {reported - expected}"
            )
        assert not self.world.unsettled()


def _only_crashes(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """A crashed task is never asked for its outcome: its process is dead."""
    if not isinstance(context.get("exception"), Crash):
        loop.default_exception_handler(context)


ExactlyOnce.TestCase.settings = settings(
    max_examples=settings().max_examples * 2 // 5,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
# A fixed amount of work, whatever else the machine does.
TestExactlyOnce = pytest.mark.timeout(900)(ExactlyOnce.TestCase)


@pytest.mark.postgres
def test_every_event_is_reported_once_and_in_order_on_postgresql(postgres_url: str) -> None:
    engine = create_engine(postgres_url, **PATIENT)

    class OnPostgresql(ExactlyOnce):
        @override
        def new_world(self) -> World:
            database = SharedDatabase(engine)
            database.execute(text(EMPTY_POSTGRES))
            return World(database=database)

    fewer = settings(ExactlyOnce.TestCase.settings, max_examples=POSTGRESQL_EXAMPLES)
    try:
        run_state_machine_as_test(OnPostgresql, settings=fewer)
    finally:
        engine.dispose()


@pytest.fixture
def story() -> Iterator[ExactlyOnce]:
    """A scripted run, checked at its end like every other."""
    reported = ExactlyOnce()
    yield reported
    reported.teardown()


def test_a_summary_does_not_overtake_deliveries_in_doubt(story: ExactlyOnce) -> None:
    """A process dies with ten posts claimed; then more than a summary's worth arrives."""
    story.begin()
    story.something_happens(SITE, "enter", 0, 20)
    story.time_passes(11)
    story.turns(0, 1)
    story.something_goes_wrong(0, "crash", "post", 1, 0.0)
    story.something_happens(SITE, "enter", 0, 45)
    story.time_passes(61)
    story.turns(0, 100)


def test_a_summary_is_posted_while_the_post_before_it_is_retried(story: ExactlyOnce) -> None:
    """Meanwhile a backlog has come behind it, and was summed up."""
    story.begin()
    story.something_happens(SITE, "enter", 0, 1)
    story.time_passes(11)
    story.turns(0, 1)
    story.slack_will_fail((PostInDoubt("http_500"), False), "C0ONE")
    story.turns(0, 1)
    story.something_happens(SITE, "enter", 0, 45)
    story.time_passes(11)
    story.turns(0, 100)


def test_a_process_that_slept_past_its_claim_sends_nothing(story: ExactlyOnce) -> None:
    story.begin(processes=2)
    story.something_happens(SITE, "enter", 0, 3)
    story.time_passes(11)
    story.turns(0, 1)
    story.a_process_freezes(0, "posting committed", 1, is_long=True)


def test_a_post_that_appears_late_in_history_is_not_repeated(story: ExactlyOnce) -> None:
    story.begin(seconds=SHOWN_SECONDS)
    story.something_happens(SITE, "enter", 0, 3)
    story.slack_will_fail((PostInDoubt("ServerDisconnectedError"), True), "C0ONE")
    story.time_passes(11)
    story.turns(0, 30)


@pytest.mark.parametrize("place", ["post", "posted", "posting committed"])
@pytest.mark.parametrize("at", range(1, 62, 4))
def test_a_crash_at_any_post_of_a_run_repeats_and_loses_none(
    story: ExactlyOnce, place: str, at: int
) -> None:
    story.begin()
    story.something_happens(SITE, "enter", 0, 5)
    story.time_passes(11)
    story.something_goes_wrong(0, "crash", place, at, 31.0)


def test_a_post_is_not_repeated_while_history_cannot_be_read(story: ExactlyOnce) -> None:
    story.begin()
    story.something_happens(SITE, "enter", 0, 3)
    story.time_passes(11)
    story.something_goes_wrong(0, "crash", "posted", 1, 31.0)
    for _ in range(6):
        story.history_will_fail()
    story.turns(0, 10)
