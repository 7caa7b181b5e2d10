"""What a poll stores is posted once, in order, wherever a process dies or its clock leaps."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from typing_extensions import override

from bot.domain.deliveries import Delivery, DeliveryState
from bot.domain.errors import BotError, PostInDoubt
from bot.domain.event_records import EventRecord
from bot.domain.message import Message, Thread
from bot.domain.subscriptions import Style
from bot.messages.events import event_posts
from bot.scheduler import Job
from bot.usecases.polling.poll_state import Poll
from bot.usecases.polling.queue_reading import QueueReading
from tests.support.desk import Desk, World
from tests.support.disturbances import Crash, Disturbance
from tests.support.make import CHANNEL, SITE
from tests.support.poster import RecordingPoster

ENTER = "action.queue.enter"
AFTER_THE_CLAIM = 31


def texts(world: World, channel_id: str = CHANNEL) -> list[str]:
    return [one.message.text for one in world.poster.history if one.channel_id == channel_id]


def deliveries(world: World) -> list[Delivery]:
    return list(world.database.contents.deliveries.values())


async def reading(
    world: World, *channels: str, style: Style = Style.FEED, desk: Desk | None = None
) -> Desk:
    """A process that has looked at the log once, and posts."""
    desk = desk or Desk(world)
    await desk.subscribe(*(channels or (CHANNEL,)), topics=("enter",), style=style)
    await desk.turns(1)
    world.clock.advance(11)
    await desk.post()
    return desk


async def read_again(desk: Desk) -> None:
    """Before the interval is over."""
    (schedule,) = desk.polls.schedules.values()
    assert schedule.lease is not None
    assert schedule.state is not None
    log = desk.polls.log
    queue = QueueReading(SITE, log.merge_queue, log.clock, log.concurrency)
    await log.run(Poll(schedule.lease, schedule.state, queue))


@pytest.mark.parametrize("style", [Style.FEED, Style.THREAD])
async def test_a_polled_event_is_posted(style: Style) -> None:
    world = World()
    desk = await reading(world, style=style)
    world.log(ENTER, 7)
    await desk.poll()
    await desk.post()
    (text,) = texts(world)
    assert text.startswith("Queued #7")
    (one,) = deliveries(world)
    assert (one.state, one.attempts) == (DeliveryState.DELIVERED, 1)


async def test_an_event_that_cannot_be_rendered_blocks_neither_log_nor_channels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    desk = await reading(world, CHANNEL, "C0OTHER")
    real = event_posts.event

    def broken(record: EventRecord, *given: Any, **named: Any) -> Message:
        if record.pull_request == 7:
            raise KeyError("a defect")
        return real(record, *given, **named)

    monkeypatch.setattr(event_posts, "event", broken)
    world.log(ENTER, 7)
    world.log(ENTER, 8)

    await desk.turns(10)

    for channel in (CHANNEL, "C0OTHER"):
        plain, after = texts(world, channel)
        assert plain.startswith(f"{SITE}: enter.")
        assert after.startswith("Queued #8")


@pytest.mark.parametrize(
    "place", ["polling committed", "posting begin", "posting committed", "post", "posted"]
)
@pytest.mark.parametrize("style", [Style.FEED, Style.THREAD])
async def test_an_event_is_reported_once_after_any_crash(place: str, style: Style) -> None:
    world = World()
    desk = await reading(world, CHANNEL, "C0OTHER", style=style)
    world.log(ENTER, 7)
    # The tick of the schedule has a transaction of its own before that of the poll.
    at = 2 if place == "polling committed" else 1
    desk.steps.arm(Disturbance("crash", at, place=place))
    with suppress(Crash):
        await desk.poll()
        await desk.post()
    assert desk.steps.is_dead
    heir = Desk(world, "another")
    world.clock.advance(AFTER_THE_CLAIM + 20)
    await heir.turns_unless_struck(30)
    assert len(texts(world)) == len(texts(world, "C0OTHER")) == 1
    assert all(one.state is DeliveryState.DELIVERED for one in deliveries(world))


async def test_another_process_posts_under_its_own_lease() -> None:
    world = World()
    posting = Desk(world, "posting")
    await posting.post()
    polling = await reading(world, desk=Desk(world, "polling"))
    world.log(ENTER, 7)
    await polling.poll()
    assert [one.state for one in deliveries(world)] == [DeliveryState.PENDING]
    await posting.post()
    assert len(texts(world)) == 1


async def test_a_delivery_waits_for_the_one_before_it() -> None:
    world = World()
    desk = await reading(world)
    world.poster.fail_next(PostInDoubt("TimeoutError"), after=False)
    world.log(ENTER, 7)
    await desk.poll()
    await desk.post()
    world.log(ENTER, 8)
    world.clock.advance(11)
    await desk.poll()
    first, second = deliveries(world)
    assert (first.state, second.state) == (DeliveryState.IN_DOUBT, DeliveryState.PENDING)
    await desk.turns(60)
    assert [text.split()[1] for text in texts(world)] == ["#7", "#8"]


async def test_a_backlog_is_left_to_a_summary() -> None:
    world = World()
    desk = await reading(world)
    for number in range(40):
        world.log(ENTER, number + 1)
    await desk.poll()
    await desk.post()
    assert len(texts(world)) == 1


async def test_an_outcome_that_cannot_be_stored_is_found_by_a_lookup() -> None:
    world = World()
    desk = await reading(world)
    world.log(ENTER, 7)
    await desk.poll()
    # The claim has a transaction of its own before that of the outcome.
    desk.steps.arm(Disturbance("store fails", 2, place="posting begin"))
    with suppress(BotError):
        await desk.post()
    assert len(texts(world)) == 1
    assert [one.state for one in deliveries(world)] == [DeliveryState.SENDING]
    await desk.turns(AFTER_THE_CLAIM + 5)
    assert len(texts(world)) == 1
    assert [one.state for one in deliveries(world)] == [DeliveryState.DELIVERED]


class HeldPoster(RecordingPoster):
    """Slack takes its time with the first post."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.answers = asyncio.Event(), asyncio.Event()

    @override
    async def post(
        self, channel_id: str, message: Message, delivery_id: str, thread: Thread | None = None
    ) -> str:
        if not self.asked.is_set():
            self.asked.set()
            await self.answers.wait()
        return await super().post(channel_id, message, delivery_id, thread)


async def test_a_post_in_progress_is_not_repeated_when_the_clock_jumps() -> None:
    """Its claim has ended by then, as after a night of sleep, and no history shows it yet."""
    poster = HeldPoster()
    world = World(poster=poster)
    desk = await reading(world)
    world.log(ENTER, 7)
    await desk.poll()
    job = Job("post deliveries", desk.posts.run)
    job.wake()
    await poster.asked.wait()
    world.clock.advance(AFTER_THE_CLAIM)
    for _ in range(5):
        job.wake()
        await asyncio.sleep(0)
        world.clock.advance(1)
    poster.answers.set()
    await job.drain()
    await desk.turns(10)

    assert len(texts(world)) == 1
    assert [one.state for one in deliveries(world)] == [DeliveryState.DELIVERED]
