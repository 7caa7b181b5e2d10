"""A crash between any two steps of a queue entry: one first message, each reply once, in order."""

import pytest

from bot.channels.subscription import Style
from bot.posts.delivery import DeliveryState
from tests.support.desk import Desk, World
from tests.support.disturbances import Disturbance
from tests.support.make import CHANNEL
from tests.support.poster import Posted

OTHER = "C0OTHER"
STEPS = range(1, 160)
TRIED = pytest.mark.steps(STEPS, 12)
SETTLED_SECONDS = 150
"""Longer than leases, claims and the waits before a lost answer is looked for."""

NUMBER = 41
Q = {"queue_name": "default", "branch": "main", "session_id": "s-1"}


async def live(struck: Disturbance) -> tuple[World, bool]:
    """A pull request enters, its checks start, it merges; whether the process was struck.

    The last edit of the first message reports the merge.
    """
    world = World()
    desk = Desk(world)
    topics = ("enter", "checks", "merge")
    await desk.subscribe(CHANNEL, topics=topics, style=Style.THREAD)
    await desk.subscribe(OTHER, topics=("enter",), style=Style.THREAD)
    await desk.turns(2)
    desk.steps.arm(struck)
    for type_ in ("enter", "checks_start", "merged"):
        world.log(f"action.queue.{type_}", NUMBER, **Q)
        await desk.turns_unless_struck(14)
    was_struck = desk.steps.disturbance is None
    desk.steps.arm(None)
    await Desk(world, "another").settles(SETTLED_SECONDS)
    return world, was_struck


def posted(world: World, channel: str) -> list[Posted]:
    return [
        subscription for subscription in world.poster.history if subscription.channel_id == channel
    ]


def assert_posted_once(world: World) -> None:
    deliveries = world.database.contents.deliveries.values()
    assert all(delivery.progress.state.is_settled for delivery in deliveries)
    by_edit = [
        delivery for delivery in deliveries if delivery.progress.state is DeliveryState.SUMMARIZED
    ]
    ids = [delivery.delivery_id for delivery in world.poster.history]
    assert len(ids) == len(set(ids)) == len(deliveries) - len(by_edit)
    root, *replies = posted(world, CHANNEL)
    assert root.thread is None
    assert root.message.text.startswith(f"Merged #{NUMBER}")
    assert [reply.message.text.split(" #")[0] for reply in replies] == ["Checks started"]
    assert [(message.kind, message.progress.message_ts) for message in by_edit] == [
        ("merge", root.ts)
    ]
    assert {reply.thread.ts for reply in replies if reply.thread is not None} == {root.ts}
    assert not any(reply.thread is None or reply.thread.broadcast for reply in replies)
    (alone,) = posted(world, OTHER)
    assert alone.message.text.startswith(f"Merged #{NUMBER}")
    cards = world.database.contents.live_messages.values()
    assert all(card.closed and card.wanted == card.shown for card in cards)


@TRIED
async def test_each_event_is_reported_once_in_its_thread_after_any_crash(at: int) -> None:
    world, _ = await live(Disturbance("crash", at))
    assert_posted_once(world)


@pytest.mark.parametrize("place", ["edit", "edited", "post", "posted"])
@pytest.mark.parametrize("at", [1, 40, 80])
async def test_a_crash_around_a_request_reports_nothing_twice(place: str, at: int) -> None:
    world, _ = await live(Disturbance("crash", at, place=place))
    assert_posted_once(world)


@TRIED
async def test_a_brief_database_failure_does_not_change_the_result(at: int) -> None:
    world, _ = await live(Disturbance("store fails", at))
    assert_posted_once(world)


async def test_crash_steps_cover_the_whole_run() -> None:
    """The step numbers above cover the whole run."""
    _, was_struck = await live(Disturbance("crash", STEPS[-1] - 20))
    assert was_struck


LEFT = {"dequeue_code": "PR_DEQUEUED", "session_id": "s-1"}


async def left_and_back(turns_between: int) -> list[Posted]:
    world = World()
    desk = Desk(world)
    await desk.subscribe(CHANNEL, topics=("enter",), style=Style.THREAD)
    await desk.turns(2)
    world.log("action.queue.enter", NUMBER, **Q)
    await desk.turns(14)
    world.log("action.queue.leave", NUMBER, **LEFT)
    await desk.turns(turns_between)
    world.log("action.queue.enter", NUMBER, **(Q | {"session_id": "s-2"}))
    await desk.settles(SETTLED_SECONDS)
    return posted(world, CHANNEL)


async def test_a_requeued_pull_request_continues_in_its_thread() -> None:
    root, reply = await left_and_back(14)
    assert root.message.text.startswith(f"Queued #{NUMBER}")
    assert reply.thread is not None
    assert reply.thread.ts == root.ts


async def test_a_pull_request_requeued_before_its_message_says_it_left_gets_another() -> None:
    first, second = await left_and_back(0)
    assert first.message.text.startswith(f"Left the queue #{NUMBER}")
    assert second.thread is None
    assert second.message.text.startswith(f"Queued #{NUMBER}")


@pytest.mark.parametrize("code", ["message_not_found", "edit_window_closed"])
async def test_a_merge_is_posted_if_the_first_message_can_not_be_edited(code: str) -> None:
    world = World()
    desk = Desk(world)
    await desk.subscribe(CHANNEL, topics=("enter", "merge"), style=Style.THREAD)
    await desk.turns(2)
    world.log("action.queue.enter", NUMBER, **Q)
    await desk.turns(14)
    (root,) = posted(world, CHANNEL)
    world.poster.locked[root.ts] = code
    world.log("action.queue.merged", NUMBER, **Q)
    await desk.settles(SETTLED_SECONDS)
    *_, last = posted(world, CHANNEL)
    assert last.thread is None
    assert last.message.text.startswith(f"Merged #{NUMBER}")
