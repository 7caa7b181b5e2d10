"""A crash between any two steps of a pause's life leaves one record, one card and one post each."""

from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest

from bot.kernel.errors import BotError
from bot.pauses.pause import PauseEnding
from tests.support.desk import Desk, World
from tests.support.disturbances import Crash, Disturbance
from tests.support.make import ALICE, BOB, CHANNEL, SITE

OTHER = "C0OTHER"
STEPS = range(1, 121)
TRIED = pytest.mark.steps(STEPS, 12)
SETTLED_SECONDS = 90
"""Longer than leases, claims and the waits before a lost answer is looked for."""

Story = Callable[[Desk], Awaitable[None]]


async def by_command(desk: Desk) -> None:
    """Pause and resume through the bot."""
    with suppress(BotError, Crash):
        await desk.pause()
    await desk.turns_unless_struck(3)
    if not desk.steps.is_dead:
        with suppress(BotError, Crash):
            await desk.resume(BOB)
    await desk.turns_unless_struck(4)


async def by_dashboard(desk: Desk) -> None:
    """Carol pauses and dave resumes on the dashboard."""
    desk.world.service.paused_by("carol", "Night")
    await desk.turns_unless_struck(12)
    desk.world.service.resumed_by("dave")
    await desk.turns_unless_struck(12)


async def settled(world: World) -> Desk:
    """Another process takes over, and whoever wanted to lift the pause tries again."""
    desk = Desk(world, "another")
    await desk.settles(SETTLED_SECONDS)
    if SITE in world.service.pauses:
        await desk.resume(BOB)
    await desk.settles(SETTLED_SECONDS)
    return desk


async def live(story: Story, struck: Disturbance) -> tuple[World, bool]:
    """The story, with a process that is struck; whether it was."""
    desk = Desk(World())
    await desk.subscribe(CHANNEL, OTHER)
    await desk.turns(2)
    desk.steps.arm(struck)
    await story(desk)
    was_struck = desk.steps.disturbance is None
    desk.steps.arm(None)
    await settled(desk.world)
    return desk.world, was_struck


def assert_posted_once(world: World) -> None:
    (pause,) = world.pauses()
    assert pause.end is not None
    assert pause.end.how is PauseEnding.RESUMED
    cards = list(world.database.contents.live_messages.values())
    assert sorted(subscription.channel_id for subscription in cards) == [CHANNEL, OTHER]
    assert all(message.closed and message.shown == message.wanted for message in cards)
    for channel in (CHANNEL, OTHER):
        card, line = world.shown(channel)
        assert card.startswith("acme/site was paused · "), world.shown(channel)
        assert line.startswith("acme/site has resumed\nBy "), world.shown(channel)
    settled_all = all(
        delivery.progress.state.is_settled
        for delivery in world.database.contents.deliveries.values()
    )
    assert settled_all


@TRIED
async def test_a_pause_by_command_is_reported_once_after_any_crash(at: int) -> None:
    world, _ = await live(by_command, Disturbance("crash", at))
    if not world.pauses():
        # It died before calling the service: nothing happened, and nothing is posted.
        assert world.shown(CHANNEL) == world.shown(OTHER) == []
        return
    assert_posted_once(world)
    assert "By alice" in world.shown(CHANNEL)[0]


@TRIED
async def test_a_dashboard_pause_is_reported_once_after_any_crash(at: int) -> None:
    world, _ = await live(by_dashboard, Disturbance("crash", at))
    assert_posted_once(world)
    card, line = world.shown(CHANNEL)
    assert "By carol" in card
    assert "Resumed by dave" in card
    assert "By dave" in line


@pytest.mark.parametrize("place", ["edit", "edited", "post", "posted"])
@pytest.mark.parametrize("story", [by_command, by_dashboard])
@pytest.mark.parametrize("at", [1, 30, 60])
async def test_a_crash_around_a_request_reports_nothing_twice(
    story: Story, place: str, at: int
) -> None:
    world, _ = await live(story, Disturbance("crash", at, place=place))
    assert_posted_once(world)


@TRIED
async def test_a_brief_database_failure_does_not_change_the_result(at: int) -> None:
    world, _ = await live(by_dashboard, Disturbance("store fails", at))
    assert_posted_once(world)


async def test_crash_steps_cover_the_whole_run() -> None:
    """The step numbers above cover the whole run."""
    for story in (by_command, by_dashboard):
        _, was_struck = await live(story, Disturbance("crash", STEPS[-1] - 20))
        assert was_struck


@pytest.mark.steps(range(1, 60), 12)
async def test_watchers_and_the_replaced_person_are_notified_once(at: int) -> None:
    desk = Desk(World())
    await desk.turns(2)
    await desk.pause()
    await desk.turns(3)
    await desk.ask_for_notification(BOB)
    desk.steps.arm(Disturbance("crash", at))
    with suppress(BotError, Crash):
        await desk.pause("Deploying", BOB, replacing=desk.world.service.pauses[SITE])
    await desk.turns_unless_struck(3)
    desk.steps.arm(None)
    was_replaced = "Deploying" in desk.world.service.pauses[SITE].reason
    await settled(desk.world)

    (reported,) = desk.world.shown(BOB.user_id)
    assert "bob resumed acme/site" in reported
    (to_alice,) = desk.world.shown(ALICE.user_id)
    # What bob replaced is his own, and alice hears no more of it.
    assert ("bob resumed acme/site" in to_alice) is not was_replaced
