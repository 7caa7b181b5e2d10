"""What a poll stores is posted once, whatever fails on the way."""

import asyncio

from typing_extensions import override

from bot.domain.deliveries import Delivery, DeliveryState
from bot.domain.message import Message, Thread
from bot.domain.subscriptions import Style
from bot.scheduler import Job
from tests.support.desk import Desk, World
from tests.support.make import CHANNEL
from tests.support.poster import RecordingPoster

ENTER = "action.queue.enter"
AFTER_THE_CLAIM = 31


def texts(world: World, channel_id: str = CHANNEL) -> list[str]:
    return [one.message.text for one in world.poster.history if one.channel_id == channel_id]


def deliveries(world: World) -> list[Delivery]:
    return list(world.database.contents.deliveries.values())


async def reading(world: World, *channels: str) -> Desk:
    """A process that has looked at the log once, and posts."""
    desk = Desk(world)
    await desk.subscribe(*(channels or (CHANNEL,)), topics=("enter",), style=Style.FEED)
    await desk.turns(1)
    world.clock.advance(11)
    await desk.post()
    return desk


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
