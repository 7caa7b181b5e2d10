"""No event is skipped, for any order, lateness within the overlap, page size and interruption."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import accumulate

from hypothesis import given, settings, strategies as st

from bot.feed.walk import (
    FIRST_WALK_SLICE,
    LONGEST_SLICE,
    SHORTEST_SLICE,
    finish_walk,
    newest_of,
    next_walk,
    turn_page,
)
from bot.log.position import Position, Walk, first_position
from bot.merge_queue.errors import MergeQueueUnavailable
from bot.merge_queue.window import CLOCK_ALLOWANCE, ServiceTime
from tests.support.clock import NOON
from tests.support.make import SITE
from tests.support.merge_queue import Call
from tests.support.reading import Reading

OVERLAP = timedelta(seconds=120)
HOUR = 3600.0
GAPS = (0.0, 1.0, 10.0, 100.0, 900.0, 2 * HOUR, 30 * HOUR)
"""Seconds, up to an outage that one window does not span."""

ORDERS: dict[str, Callable[["Logged"], float]] = {
    "newest first": lambda event: -event.received_at,
    "oldest first": lambda event: event.received_at,
    "by id": lambda event: event.event_id,
    "scattered": lambda event: event.event_id * 7919 % 101,
}


@dataclass(frozen=True)
class Logged:
    """An event; times are seconds in the service's clock. It shows at `visible_at`."""

    event_id: int
    received_at: float
    visible_at: float


@dataclass(frozen=True)
class Step:
    """A poll after `gap` seconds that reads some or all pages; the cursor may be refused."""

    gap: float
    pages: int | None
    forget_cursor: bool
    between_pages: float
    length: timedelta = FIRST_WALK_SLICE


@dataclass
class World:
    """The service's log, both clocks, and the reader under test."""

    order: str
    page_size: int
    ahead: float
    """Seconds by which the service's clock is ahead of what we know of it."""
    events: Sequence[Logged]
    now: float = 0.0
    """Ours, in seconds since NOON."""
    position: Position = field(init=False)
    read: set[int] = field(default_factory=set)
    fetched: int = 0

    def __post_init__(self) -> None:
        self.position = first_position(SITE, NOON + timedelta(seconds=self.ahead))

    def poll_log(self, step: Step) -> None:
        self.now += step.gap
        time = ServiceTime(NOON + timedelta(seconds=self.now))
        begun = time if self.position.walk is None else None
        walk = next_walk(self.position, time, OVERLAP, step.length)
        if step.forget_cursor:
            walk = replace(walk, cursor=None)
        left = step.pages
        while left is None or left > 0:
            page, cursor = self.page(walk)
            self.read.update(event.event_id for event in page)
            self.fetched += len(page)
            served_at = NOON + timedelta(seconds=self.now + self.ahead)
            times = [NOON + timedelta(seconds=event.received_at) for event in page]
            newest_at = newest_of(times, served_at)
            if cursor is None:
                self.position = finish_walk(self.position, walk, newest_at, begun)
                return
            walk = turn_page(walk, newest_at, cursor)
            self.position = replace(self.position, walk=walk)
            left = None if left is None else left - 1
            self.now += step.between_pages

    def catch_up(self) -> None:
        """Everything shows by now and nothing interrupts: look until all has been read."""
        calm = Step(1.0, None, forget_cursor=False, between_pages=0.0, length=LONGEST_SLICE)
        self.now += 6 * HOUR
        for _ in range(100):
            self.poll_log(calm)
            if self.next_window_ends_late():
                break
        assert self.next_window_ends_late()
        self.poll_log(calm)

    def next_window_ends_late(self) -> bool:
        now = NOON + timedelta(seconds=self.now)
        walk = next_walk(self.position, ServiceTime(now), OVERLAP)
        return self.position.walk is None and walk.window.received_to > now

    def page(self, walk: Walk) -> tuple[list[Logged], str | None]:
        """The cursor names the last event shown; what appears before it is never shown."""
        start = (walk.window.received_from - NOON).total_seconds()
        end = (walk.window.received_to - NOON).total_seconds()
        key = ORDERS[self.order]
        shown = sorted(
            (key(event), event.event_id, event)
            for event in self.events
            if start <= event.received_at <= end and event.visible_at <= self.now + self.ahead
        )
        if walk.cursor is not None:
            place, event_id = map(float, walk.cursor.split())
            shown = [text for text in shown if text[:2] > (place, event_id)]
        page = shown[: self.page_size]
        more = len(shown) > len(page)
        return [one[2] for one in page], f"{page[-1][0]} {page[-1][1]}" if more else None


@st.composite
def worlds(draw: st.DrawFn) -> tuple[World, list[Step]]:
    order = draw(st.sampled_from(sorted(ORDERS)))
    steps = draw(
        st.lists(
            st.builds(
                Step,
                gap=st.sampled_from(GAPS),
                pages=st.sampled_from((None, 1, 2)),
                forget_cursor=st.sampled_from((False, False, True)),
                between_pages=st.sampled_from((0.0, 1.0, 60.0)),
                length=st.sampled_from((SHORTEST_SLICE, FIRST_WALK_SLICE, LONGEST_SLICE)),
            ),
            min_size=1,
            max_size=6,
        )
    )
    looks = list(accumulate((step.gap for step in steps), initial=0.0))
    ahead = draw(st.sampled_from((0.0, 5.0, 100.0, 0.9 * HOUR, -60.0, -0.9 * HOUR)))
    if order != "newest first":
        # What is behind is taken off the overlap: see `finish_walk`.
        ahead = max(ahead, -OVERLAP.total_seconds() / 2)
    late = OVERLAP.total_seconds() + (min(ahead, 0.0) if order != "newest first" else 0.0)
    # Most events come around the looks and in the hour after them.
    moments = draw(
        st.lists(
            st.tuples(
                st.sampled_from(looks),
                st.sampled_from((-90.0, -1.0, 0.0, 1.0, 30.0, 300.0, 0.6 * HOUR, 5 * HOUR)),
                st.sampled_from((0.0, late / 2, late)),
            ),
            max_size=15,
        )
    )
    events = [
        Logged(
            number,
            ahead + max(poll_log + after, 0.0),
            ahead + max(poll_log + after, 0.0) + lateness,
        )
        for number, (poll_log, after, lateness) in enumerate(moments)
    ]
    return World(order, draw(st.integers(1, 3)), ahead, events), steps


@given(worlds())
def test_no_event_is_skipped(drawn: tuple[World, list[Step]]) -> None:
    world, steps = drawn
    for step in steps:
        world.poll_log(step)
    world.catch_up()

    assert world.read == {event.event_id for event in world.events}


@given(worlds())
def test_the_watermark_never_goes_back_or_passes_the_services_clock(
    drawn: tuple[World, list[Step]],
) -> None:
    world, steps = drawn
    for step in steps:
        before = world.position.watermark
        world.poll_log(step)
        services_now = NOON + timedelta(seconds=world.now + world.ahead)

        assert world.position.watermark >= before
        assert world.position.watermark <= max(services_now, before)
        assert world.position.origin == NOON + timedelta(seconds=world.ahead)


@given(worlds())
def test_a_quiet_log_is_not_read_from_far_back(drawn: tuple[World, list[Step]]) -> None:
    """Once all is read, a poll reads only the overlap."""
    world, steps = drawn
    for step in steps:
        world.poll_log(step)
    world.catch_up()
    newest = max((event.received_at for event in world.events), default=world.ahead)

    walk = next_walk(world.position, ServiceTime(NOON + timedelta(seconds=world.now)), OVERLAP)

    assert walk.window.received_from >= NOON + timedelta(seconds=newest) - OVERLAP
    assert walk.window.received_to <= (
        max(NOON + timedelta(seconds=world.now), world.position.watermark) + CLOCK_ALLOWANCE
    )


@settings(deadline=None)
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("burst"), st.integers(1, 60)),
            st.tuples(st.just("late"), st.integers(1, 118)),
            st.tuples(st.just("ahead"), st.integers(1, 400)),
            st.tuples(st.just("wait"), st.sampled_from([1, 7, 60, 130, 4000])),
            st.tuples(st.just("polls"), st.integers(1, 30)),
            st.tuples(st.just("cut off"), st.integers(1, 8)),
            st.tuples(st.just("restart"), st.just(1)),
        ),
        max_size=14,
    )
)
async def test_rarely_reading_a_burst_skips_nothing(steps: list[tuple[str, int]]) -> None:
    """Each event within the overlap is reported once, also with wrong times and interruptions."""
    bot = Reading()
    bot.merge_queue.page_size = 2
    await bot.start("enter")
    begun_at = bot.clock.now()
    for what, size in steps:
        await happens(bot, what, size, begun_at)
    for _ in range(2 * int(OVERLAP.total_seconds())):
        await bot.poll()

    reported = [event_id for _, event_id in bot.reported()]
    assert sorted(reported) == sorted(event.event_id for event in bot.merge_queue.logs[SITE])


async def happens(bot: Reading, what: str, size: int, begun_at: datetime) -> None:
    now = bot.clock.now()
    if what == "burst":
        for number in range(size):
            bot.tell(number=number, seconds=0.01)
    elif what in {"late", "ahead"}:
        after = timedelta(seconds=size if what == "ahead" else -size)
        bot.tell(received_at=max(begun_at, now + after))
    elif what == "polls":
        for _ in range(size):
            await bot.poll()
    elif what == "cut off":
        await cut_off(bot, pages=size)
    elif what == "restart":
        await bot.restart()
    else:
        bot.clock.advance(size)


async def cut_off(bot: Reading, *, pages: int) -> None:
    """A poll that gets so many pages and then no answer."""
    left = pages

    async def answers_until_cut_off(call: Call) -> None:
        nonlocal left
        if call.method != "event_page":
            return
        if not left:
            raise MergeQueueUnavailable("down")
        left -= 1

    bot.merge_queue.before_answer = answers_until_cut_off
    try:
        await bot.poll()
    except MergeQueueUnavailable:
        pass
    finally:
        bot.merge_queue.before_answer = None
