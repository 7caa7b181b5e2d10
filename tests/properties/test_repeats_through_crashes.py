"""A crash between any two steps: equal verdicts are counted once each, in one message."""

import pytest

from bot.channels.subscription import Style
from bot.slack.errors import PostInDoubt
from tests.support.desk import Desk, World
from tests.support.disturbances import Disturbance
from tests.support.make import CHANNEL
from tests.support.poster import Posted

THREADS = "C0THREADS"
STEPS = range(1, 180)
TRIED = pytest.mark.steps(STEPS, 12)
SETTLED_SECONDS = 150
"""Longer than leases, claims and the waits before a lost answer is looked for."""

NUMBER = 41
CONFLICT = {"dequeue_code": "CONFLICT_WITH_BASE_BRANCH", "merged": False}
FAILED = {"dequeue_code": "CHECKS_FAILED", "merged": False}
TURNS = (14, 0, 1, 3, 14)
"""How long after each verdict the next one comes: before the post, beside it, after it."""


async def live(struck: Disturbance, desk_turns: tuple[int, ...] = TURNS) -> tuple[World, bool]:
    """A pull request leaves five times for a conflict, then once for its checks."""
    world = World()
    desk = Desk(world)
    await desk.subscribe(CHANNEL, topics=("failure",), style=Style.FEED)
    await desk.subscribe(THREADS, topics=("enter", "failure"), style=Style.THREAD)
    await desk.turns(2)
    world.log("action.queue.enter", NUMBER)
    await desk.turns(14)
    desk.steps.arm(struck)
    for turns in desk_turns:
        world.log("action.queue.leave", NUMBER, **CONFLICT)
        await desk.turns_unless_struck(turns)
    world.log("action.queue.leave", NUMBER, **FAILED)
    await desk.turns_unless_struck(20)
    was_struck = desk.steps.disturbance is None
    desk.steps.arm(None)
    await Desk(world, "another").settles(SETTLED_SECONDS)
    return world, was_struck


def left(world: World, channel: str) -> list[Posted]:
    posts = [
        subscription for subscription in world.poster.history if subscription.channel_id == channel
    ]
    return [post for post in posts if post.message.text.startswith("Left the queue")]


def assert_counted_once(world: World) -> None:
    deliveries = world.database.contents.deliveries.values()
    assert all(delivery.progress.state.is_settled for delivery in deliveries)
    for channel in (CHANNEL, THREADS):
        # The first message of a thread shows its state.
        posts = [one for one in left(world, channel) if channel == CHANNEL or one.thread]
        texts = [post.message.text for post in posts]
        assert len(posts) == 2, (channel, texts)
        assert "\n5 times since " in texts[0], (channel, texts)
        assert "conflicts" in texts[0]
        assert "times" not in texts[1]
        assert "its checks failed" in texts[1]


@TRIED
async def test_no_verdict_is_lost_or_counted_twice_after_any_crash(at: int) -> None:
    world, _ = await live(Disturbance("crash", at))
    assert_counted_once(world)


@pytest.mark.parametrize("place", ["edit", "edited", "post", "posted"])
@pytest.mark.parametrize("at", [1, 3, 20, 60])
async def test_a_crash_around_a_request_counts_nothing_twice(place: str, at: int) -> None:
    world, _ = await live(Disturbance("crash", at, place=place))
    assert_counted_once(world)


@TRIED
async def test_a_brief_database_failure_does_not_change_the_result(at: int) -> None:
    world, _ = await live(Disturbance("store fails", at))
    assert_counted_once(world)


@pytest.mark.parametrize(
    "turns", [(0, 0, 0, 0, 0), (1, 1, 1, 1, 1), (2, 2, 0, 2, 2), (5, 0, 5, 0, 5)]
)
async def test_however_fast_they_come(turns: tuple[int, ...]) -> None:
    world, _ = await live(Disturbance("crash", 10_000), turns)
    assert_counted_once(world)


@pytest.mark.parametrize("is_there", [True, False])
async def test_verdicts_that_come_while_the_post_is_in_doubt_are_counted(is_there: bool) -> None:  # noqa: FBT001 - drawn
    world = World()
    desk = Desk(world)
    await desk.subscribe(CHANNEL, topics=("failure",), style=Style.FEED)
    await desk.turns(2)
    world.poster.fail_next(PostInDoubt("TimeoutError"), after=is_there, channel_id=CHANNEL)
    for turns in TURNS:
        world.log("action.queue.leave", NUMBER, **CONFLICT)
        await desk.turns(turns)
    await desk.settles(SETTLED_SECONDS)
    (post,) = left(world, CHANNEL)
    assert "\n5 times since " in post.message.text


async def test_crash_steps_cover_the_whole_run() -> None:
    """The step numbers above cover the whole run."""
    _, was_struck = await live(Disturbance("crash", STEPS[-1] - 20))
    assert was_struck
