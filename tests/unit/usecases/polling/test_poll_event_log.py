"""Reading the event log, page by page and poll by poll."""

from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from typing_extensions import override

from bot.feed.requested_types import STAMPED_APART
from bot.feed.route_events import ROUTED_AT_ONCE
from bot.feed.walk import IDLE_PAGES
from bot.kernel.errors import InvalidRequest, MergeQueueError, MergeQueueRefused
from bot.kernel.metrics import LogProblem, Metrics
from bot.log.rows import Events
from bot.log.types import FREEZE_TYPES
from bot.merge_queue.errors import (
    CredentialRefused,
    EventTypesRefused,
    MergeQueueProtocolError,
    MergeQueueUnavailable,
    ResourceNotFound,
    StateConflict,
)
from bot.merge_queue.event_records import EventPage, EventRecord
from bot.store.errors import LeaseLost, StoreUnavailable
from tests.support.clock import NOON, FakeClock
from tests.support.make import SITE, make_batch, make_event, make_queued, make_status
from tests.support.merge_queue import Call, FakeMergeQueue
from tests.support.metrics import counted
from tests.support.reading import Reading
from tests.support.store import GivingUpStore
from tests.support.transactions import begin

ENTER = "action.queue.enter"
MERGED = "action.queue.merged"


def newest_page_of(bot: Reading) -> EventPage:
    until = bot.clock.now() + timedelta(hours=1)
    logged = [log for log in bot.merge_queue.logs[SITE] if NOON <= log.received_at <= until]
    return bot.merge_queue._page(logged, None, bot.merge_queue.page_size)


def events(*ids: int) -> list[tuple[str, int]]:
    return [("event", event_id) for event_id in ids]


@pytest.mark.parametrize(
    ("served_at", "origin"),
    [
        (NOON - timedelta(minutes=7), NOON - timedelta(minutes=7)),
        (None, NOON + timedelta(seconds=2)),
        # As much as a clock may be wrong by.
        (NOON + timedelta(days=400), NOON + timedelta(days=1, seconds=2)),
    ],
)
async def test_the_first_poll_shows_no_history_and_begins_at_the_services_own_time(
    served_at: datetime | None, origin: datetime
) -> None:
    bot = Reading()
    bot.tell()
    await bot.subscribe("enter")
    page = EventPage((), None, served_at)
    bot.merge_queue.script(SITE, page, page, page)

    await bot.poll()

    assert bot.reported() == []
    assert bot.position().origin == bot.position().watermark == origin


async def test_with_a_backfill_the_recent_past_is_reported() -> None:
    bot = Reading(backfill=timedelta(minutes=5))
    await bot.subscribe("enter")
    bot.tell(seconds=0, received_at=NOON - timedelta(minutes=10))
    recent = bot.tell(seconds=0, received_at=NOON - timedelta(minutes=4))
    await bot.poll()
    await bot.poll()

    assert bot.reported() == events(recent.event_id)


async def test_only_subscribed_types_are_requested_and_pauses_and_freezes_always() -> None:
    bot = await Reading().start("enter")

    await bot.poll()

    (call, *_) = reversed(bot.merge_queue.called("event_page"))
    assert set(call.types) == {
        ENTER,
        "queue.pause.create",
        "queue.pause.delete",
        "queue.pause.update",
        *FREEZE_TYPES,
    }


async def test_a_new_subscription_gets_events_from_then_on() -> None:
    bot = await Reading().start("enter")
    for number in range(90):
        bot.tell(MERGED, number, seconds=59)
        await bot.poll()
    await bot.subscribe("merge", channel_id="C2")
    await bot.poll()
    first = bot.tell(MERGED, 100)
    await bot.poll()

    before = bot.reported("C2")[:-1]
    after = bot.reported("C2")[-1]
    assert after == ("event", first.event_id)
    # What may have happened since, by clocks that are a little apart.
    assert len(before) <= STAMPED_APART / timedelta(minutes=1)
    assert bot.reported() == []


async def test_earlier_subscribers_get_late_events_after_another_channel_subscribes() -> None:
    bot = await Reading().start("enter")
    await bot.poll()
    bot.clock.advance(3000)
    late = bot.tell(received_at=bot.clock.now() - timedelta(minutes=40))
    await bot.subscribe("merge", channel_id="C2")
    await bot.poll()

    assert bot.reported() == events(late.event_id)


@pytest.mark.parametrize("ahead", [timedelta(hours=3), timedelta(), timedelta(hours=-3)])
async def test_a_new_subscription_loses_nothing_with_any_service_clock(ahead: timedelta) -> None:
    bot = Reading()
    service = bot.merge_queue.clock = FakeClock(bot.clock.now() + ahead)
    await bot.start("enter")
    for clock in (bot.clock, service):
        clock.advance(600)
    await bot.poll()
    await bot.subscribe("merge", channel_id="C2")
    reported = bot.tell(MERGED, received_at=service.now() - STAMPED_APART + timedelta(seconds=5))
    await bot.poll()

    assert bot.reported("C2") == events(reported.event_id)


async def test_a_new_subscription_loses_nothing_when_the_clock_is_set_back() -> None:
    """Ours, which was wrong, as between the end of a process and the start of the next."""
    bot = Reading()
    service = bot.merge_queue.clock = FakeClock(bot.clock.now() - timedelta(hours=1))
    await bot.start("enter")
    await bot.poll()
    bot.clock.advance(-3600)
    await bot.restart()
    await bot.subscribe("merge", channel_id="C2")
    reported = bot.tell(MERGED, received_at=service.now())
    await bot.poll()

    assert bot.reported("C2") == events(reported.event_id)


async def test_an_unchanged_log_costs_one_request_and_no_transaction() -> None:
    bot = await Reading().start("enter")
    bot.tell()
    await bot.poll()
    lease = await bot.lease()
    requests = len(bot.merge_queue.calls)
    transactions = bot.store.transactions

    await bot.poll(lease=lease)

    assert len(bot.merge_queue.calls) == requests + 1
    assert bot.store.transactions == transactions


async def test_a_walk_goes_on_after_an_outage_and_is_reported_once_it_is_whole_in_order() -> None:
    bot = await odd_reading()
    reported = [bot.tell(number=number).event_id for number in range(5)]
    newest_page = newest_page_of(bot)
    down = MergeQueueUnavailable("down")
    bot.merge_queue.script(SITE, newest_page, down, down)

    for _ in range(2):
        with pytest.raises(MergeQueueUnavailable):
            await bot.poll()
        assert bot.reported() == []
        assert bot.position().walk is not None

    await bot.poll()
    asked = [call.cursor for call in bot.merge_queue.called("event_page")][-2:]
    assert newest_page.next_cursor == asked[0]
    assert bot.reported() == events(*reported)
    assert bot.wakes == 1
    assert not bot.problems


async def test_a_walk_is_stored_a_slice_at_a_time_and_posted_once_it_is_whole() -> None:
    bot = await Reading().start("enter")
    pages = ROUTED_AT_ONCE // bot.merge_queue.page_size
    reported = [
        bot.tell(number=number, seconds=0).event_id for number in range(5 * ROUTED_AT_ONCE // 2)
    ]
    stored: list[int] = []

    async def look(call: Call) -> None:
        if call.method == "event_page":
            stored.append(len(bot.store.database.contents.routed))
            assert bot.reported() == []

    bot.merge_queue.before_answer = look
    await bot.poll()

    assert stored == [0] * pages + [ROUTED_AT_ONCE] * pages + [2 * ROUTED_AT_ONCE] * (pages // 2)
    assert bot.reported() == events(*reported)


async def test_pages_that_could_not_be_stored_are_stored_with_the_next_poll() -> None:
    bot = await Reading().start("enter")
    bot.merge_queue.page_size = 2
    reported = [bot.tell(number=number).event_id for number in range(5)]
    bot.merge_queue.script(SITE, newest_page_of(bot), MergeQueueUnavailable("down"))
    bot.store.unavailable = "the disk is full"
    with pytest.raises(StoreUnavailable):
        await bot.poll()

    bot.store.unavailable = None
    await bot.poll()

    assert bot.reported() == events(*reported)


async def test_a_service_that_refuses_its_own_cursors_is_not_asked_endlessly() -> None:
    bot = await Reading().start("enter")
    reported = [bot.tell(number=number).event_id for number in range(2)]
    first_page = EventPage(tuple(bot.merge_queue.logs[SITE]), "page-2")
    refused = InvalidRequest(422, "no such cursor")
    bot.merge_queue.script(SITE, first_page, refused, first_page, refused)

    with pytest.raises(MergeQueueProtocolError, match="cursor"):
        await bot.poll()

    bot.merge_queue.assert_all_used()
    await bot.poll()
    assert bot.reported() == events(*reported)


async def test_a_refused_type_filter_is_not_sent_again_and_a_second_refusal_is_an_error() -> None:
    bot = await Reading().start("enter")
    bot.merge_queue.script(SITE, InvalidRequest(422, "unknown type"))
    reported = bot.tell()

    await bot.poll()
    bot.merge_queue.script(SITE, InvalidRequest(422, "another reason"))
    with pytest.raises(InvalidRequest):
        await bot.poll()

    assert [call.types for call in bot.merge_queue.called("event_page")][-2:] == [(), ()]
    assert bot.reported() == events(reported.event_id)


def refusing(*types: str) -> EventTypesRefused:
    refused = EventTypesRefused(422, "Input should be 'action.queue.leave'")
    refused.types = frozenset(types)
    return refused


async def test_a_refused_type_costs_only_itself_and_is_asked_for_again_after_a_day() -> None:
    bot = await Reading().start("enter")
    bot.merge_queue.script(SITE, refusing("queue.pause.update"))
    reported = bot.tell()

    await bot.poll()

    def asked() -> set[str]:
        return set(bot.merge_queue.called("event_page")[-1].types)

    rest = {ENTER, "queue.pause.create", "queue.pause.delete", *FREEZE_TYPES}
    assert asked() == rest
    assert bot.reported() == events(reported.event_id)
    await bot.subscribe("merge", channel_id="C2")
    await bot.poll()
    assert "queue.pause.update" not in asked()
    assert MERGED in asked()
    bot.clock.advance(timedelta(days=1).total_seconds())
    await bot.poll()
    assert "queue.pause.update" in asked()


async def test_types_refused_one_after_the_other_cost_only_themselves() -> None:
    bot = await Reading().start("enter")
    gone = ["queue.pause.create", "queue.pause.delete", "queue.pause.update"]
    bot.merge_queue.script(SITE, *(refusing(name, "never.asked") for name in gone))

    await bot.poll()

    assert set(bot.merge_queue.called("event_page")[-1].types) == {ENTER, *FREEZE_TYPES}


async def test_a_filter_refused_without_a_name_is_sent_again_after_a_day() -> None:
    bot = await Reading().start("enter")
    bot.merge_queue.script(SITE, InvalidRequest(422, "no"))
    await bot.poll()
    bot.clock.advance(timedelta(days=1).total_seconds())
    await bot.poll()

    assert ENTER in bot.merge_queue.called("event_page")[-1].types


async def test_a_cursor_and_the_type_filter_may_both_be_refused() -> None:
    bot = await Reading().start("enter")
    reported = bot.tell()
    bot.merge_queue.script(
        SITE,
        EventPage((), "page-2"),
        InvalidRequest(422, "old cursor"),
        InvalidRequest(422, "unknown type"),
    )

    await bot.poll()

    assert bot.reported() == events(reported.event_id)


async def test_a_lease_that_expired_during_a_poll_writes_nothing() -> None:
    bot = await Reading().start("enter")
    lease = await bot.lease()
    bot.tell(seconds=61)

    with pytest.raises(LeaseLost):
        await bot.poll(lease=lease)

    assert not bot.store.database.contents.events


async def test_titles_are_read_only_when_a_pull_request_enters_or_if_that_failed_later() -> None:
    bot = await Reading().start("enter", "merge")
    bot.merge_queue.statuses[SITE] = make_status(
        make_batch(make_queued(41, title="In a batch")), waiting=[make_queued(42, title="Waiting")]
    )
    read_at_first = len(bot.merge_queue.called("status"))
    entered = bot.tell(number=42)
    bot.merge_queue.fail_next(MergeQueueUnavailable("down"), method="status")
    await bot.poll()
    assert bot.reported() == events(entered.event_id)
    for number in (41, 43):
        bot.tell(MERGED, number=number)
        await bot.poll()

    assert len(bot.merge_queue.called("status")) == read_at_first + 2
    kept = bot.store.database.contents.pull_requests
    assert {number: pull_request.title for (_, number), pull_request in kept.items()} == {
        41: "In a batch",
        42: "Waiting",
    }


async def test_titles_are_read_after_a_long_walk_that_began_with_an_entry() -> None:
    bot = await odd_reading()
    await bot.subscribe("merge", channel_id="C2")
    bot.merge_queue.statuses[SITE] = make_status(waiting=[make_queued(42, title="Waiting")])
    for type_ in (MERGED, MERGED, ENTER, ENTER):
        bot.tell(type_, number=42)

    await bot.poll()

    assert bot.store.database.contents.pull_requests[SITE, 42].title == "Waiting"


async def test_a_backlog_is_processed_even_if_no_part_fits_in_one_poll() -> None:
    bot = await Reading().start("enter")
    bot.merge_queue.page_size = 2
    reported = [bot.tell(number=number, seconds=600).event_id for number in range(30)]
    bot.clock.advance(5 * 3600)

    async def limit(call: Call) -> None:
        # An hour of the backlog is three pages.
        if len(bot.merge_queue.called(call.method)) >= 2:
            raise MergeQueueUnavailable("too many requests", retry_after=30)

    bot.merge_queue.before_answer = limit
    for _ in range(20):
        bot.merge_queue.calls.clear()
        with suppress(MergeQueueUnavailable):
            await bot.poll()

    assert bot.reported() == events(*reported)


async def test_a_start_position_with_an_unconfirmed_commit_is_kept() -> None:
    bot = await Reading().start("enter")
    bot.state.reading.position = None
    reported = bot.tell()

    await bot.poll()
    await bot.poll()

    assert bot.reported() == events(reported.event_id)


async def test_silent_leaves_wait_for_a_deciding_event_and_hold_later_ones() -> None:
    bot = await Reading().start("merge", "failure", "enter")
    await bot.poll()
    before = bot.tell(number=40)
    leave = bot.tell("action.queue.leave")
    after = bot.tell(number=42)
    await bot.poll()
    assert bot.reported() == events(before.event_id)
    assert [event.event_id for event in await stored_unrouted(bot)] == [
        leave.event_id,
        after.event_id,
    ]

    merged = bot.tell(MERGED)
    await bot.poll()
    assert bot.reported() == events(before.event_id, after.event_id, merged.event_id)
    assert await stored_unrouted(bot) == []
    assert leave.event_id not in [event_id for _, event_id in bot.reported()]


async def test_a_repeated_transaction_posts_once_and_without_delay() -> None:
    bot = await Reading(store=GivingUpStore()).start("failure", "enter")
    entered = bot.tell(number=40)
    leave = bot.tell("action.queue.leave")
    await bot.poll()
    bot.clock.advance(60)
    await bot.poll()

    assert bot.reported() == events(entered.event_id, leave.event_id)
    assert await stored_unrouted(bot) == []


async def test_a_clock_set_back_does_not_extend_the_wait_of_a_silent_leave() -> None:
    bot = await Reading().start("failure")
    leave = bot.tell("action.queue.leave")
    await bot.poll()
    bot.clock.advance(-3600)
    await bot.poll()
    assert bot.reported() == []

    bot.clock.advance(60)
    await bot.poll()
    assert bot.reported() == events(leave.event_id)


async def stored_unrouted(bot: Reading) -> Sequence[EventRecord]:
    with begin(bot.store) as transaction:
        return Events(transaction).unrouted(SITE)


@dataclass
class OddMergeQueue(FakeMergeQueue):
    """Dates each of the next answers so far ahead of the service's clock."""

    ahead: deque[timedelta] = field(default_factory=deque)

    @override
    async def event_page(self, *asked: Any, **more: Any) -> EventPage:
        page = await super().event_page(*asked, **more)
        if self.ahead and page.served_at is not None:
            page = replace(page, served_at=page.served_at + self.ahead.popleft())
        return page


@dataclass
class OddReading(Reading):
    """Reading from an odd service, with what was counted of it."""

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        self.service = self.merge_queue = OddMergeQueue(clock=self.clock, page_size=2)
        self.metrics = Metrics()
        events = replace(self.use_case.events, metrics=self.metrics)
        self.use_case = replace(self.use_case, events=events)

    @property
    def problems(self) -> dict[LogProblem, float]:
        found = counted(self.metrics.log_problems)
        return {LogProblem(problem): count for (problem,), count in found.items()}


async def odd_reading() -> OddReading:
    bot = OddReading()
    await bot.start("enter")
    return bot


REFUSALS = [
    MergeQueueRefused(410, "gone"),
    CredentialRefused(403, "no"),
    StateConflict(409, "conflict"),
    InvalidRequest(422, "cursor"),
    ResourceNotFound(404, "old"),
    MergeQueueUnavailable("500 Internal Server Error", status=500),
    MergeQueueProtocolError("not an event log"),
]


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("meanwhile", ["goes on", "starts anew"])
async def test_a_cursor_refused_for_ever_blocks_nothing(
    refusal: MergeQueueError, meanwhile: str
) -> None:
    bot = await odd_reading()
    reported = [bot.tell(number=number).event_id for number in range(5)]
    bot.merge_queue.script(SITE, newest_page_of(bot), MergeQueueUnavailable("down"))
    with pytest.raises(MergeQueueUnavailable):
        await bot.poll()

    async def refuse_cursors(call: Call) -> None:
        if call.cursor is not None:
            raise refusal

    bot.merge_queue.before_answer = refuse_cursors
    reported += [bot.tell(number=number).event_id for number in range(5, 12)]
    if meanwhile == "starts anew":
        await bot.restart()

    for _ in range(4):
        with suppress(MergeQueueError):
            await bot.poll()

    assert bot.reported() == events(*reported)
    assert bot.position().walk is None
    assert bot.problems[LogProblem.CURSOR_REFUSED]


async def test_links_that_lead_to_the_same_events_are_not_followed_forever() -> None:
    bot = await odd_reading()
    event = make_event(1, received_at=bot.clock.advance(1))
    pages = IDLE_PAGES + 200
    bot.merge_queue.script(
        SITE,
        *(EventPage((event,), f"more-{number}", bot.clock.now()) for number in range(pages)),
    )

    await bot.poll()

    assert len(bot.merge_queue.pages[SITE]) == pages - IDLE_PAGES - 1
    assert bot.reported() == events(1)
    assert bot.problems == {LogProblem.ENDLESS: 1}


@pytest.mark.parametrize("ahead", [timedelta(days=1), timedelta(days=-1), timedelta(hours=2)])
async def test_one_response_with_a_wrong_date_hides_nothing(ahead: timedelta) -> None:
    bot = await odd_reading()
    bot.service.ahead.append(ahead)
    await bot.poll()
    reported = []
    for number in range(8):
        reported.append(bot.tell(number=number).event_id)
        if number == 4:
            await bot.restart()
        await bot.poll()

    assert bot.reported() == events(*reported)
    assert bot.problems == {LogProblem.WRONG_TIME: 1}
    assert not bot.service.ahead


async def test_a_wrong_date_in_the_first_response_hides_nothing() -> None:
    bot = OddReading()
    bot.service.ahead.append(timedelta(days=1))
    await bot.start("enter")
    reported = bot.tell()
    await bot.poll()

    assert bot.reported() == events(reported.event_id)


async def test_our_clock_a_day_ahead_for_a_while_hides_nothing() -> None:
    bot = Reading()
    service = bot.merge_queue.clock = FakeClock(bot.clock.now())
    await bot.start("enter")
    reported = []
    for number in range(12):
        if number in {4, 8}:
            bot.clock.advance(24 * 3600 if number == 4 else -24 * 3600)
            await bot.restart()
        service.advance(1)
        reported.append(bot.tell(number=number, received_at=service.now()).event_id)
        await bot.poll()

    assert bot.reported() == events(*reported)


@pytest.mark.parametrize("hours", [1.5, 2.02, 3.5, 26])
async def test_the_first_poll_after_idle_hours_reads_up_to_now(hours: float) -> None:
    bot = await Reading().start("enter")
    await bot.poll()
    reported = bot.tell(seconds=hours * 3600)

    await bot.poll()

    assert bot.reported() == events(reported.event_id)


async def test_an_event_that_appears_an_hour_late_in_a_quiet_log_is_posted() -> None:
    bot = await Reading().start("enter")
    first = bot.tell(number=1)
    for _ in range(60):
        bot.clock.advance(60)
        await bot.poll()
    late = bot.tell(number=2, received_at=first.received_at - timedelta(seconds=1))
    await bot.poll()

    assert bot.reported() == events(first.event_id, late.event_id)


async def test_events_with_the_same_id_are_noticed_in_one_page_and_after_a_restart() -> None:
    bot = await odd_reading()
    at = bot.clock.advance(1)
    first, second, same = (
        make_event(number, received_at=at, pull_request=pull_request)
        for number, pull_request in ((7, 41), (7, 42), (8, 43))
    )
    bot.merge_queue.script(SITE, EventPage((first, second), None, bot.clock.now()))
    await bot.poll()
    assert bot.problems == {LogProblem.DUPLICATE_ID: 1}

    bot = await odd_reading()
    bot.merge_queue.log(SITE, first, same)
    await bot.poll()
    bot.merge_queue.logs[SITE] = [second, same]
    await bot.restart()
    await bot.poll()
    assert bot.problems == {LogProblem.DUPLICATE_ID: 1}
