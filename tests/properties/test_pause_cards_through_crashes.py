"""A process dies between any two steps of a pause's life: one record, one card, one line each."""

from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest

from bot.domain.errors import BotError
from bot.domain.pause_records import PauseEnding
from tests.support.desk import Desk, World
from tests.support.disturbances import Crash, Disturbance
from tests.support.make import ALICE, BOB, CHANNEL, SITE

OTHER = "C0OTHER"
STEPS = range(1, 121)
TRIED = pytest.mark.steps(STEPS, 6)
SETTLED_SECONDS = 90
"""Longer than leases, claims and the waits before a lost answer is looked for."""

Story = Callable[[Desk], Awaitable[None]]


async def by_command(desk: Desk) -> None:
    """Somebody pauses and lifts through the bot."""
    with suppress(BotError, Crash):
        await desk.pause()
    await desk.turns_unless_struck(3)
    if not desk.steps.is_dead:
        with suppress(BotError, Crash):
            await desk.resume(BOB)
    await desk.turns_unless_struck(4)


async def by_dashboard(desk: Desk) -> None:
    """Carol pauses and dave lifts on the dashboard."""
    desk.world.service.paused_by("carol", "Night")
    await desk.turns_unless_struck(12)
    desk.world.service.lifted_by("dave")
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


def assert_told_once(world: World) -> None:
    (pause,) = world.pauses()
    assert pause.ending is PauseEnding.LIFTED
    cards = list(world.database.contents.live_messages.values())
    assert sorted(one.channel_id for one in cards) == [CHANNEL, OTHER]
    assert all(one.closed and one.shown == one.wanted for one in cards)
    for channel in (CHANNEL, OTHER):
        card, line = world.shown(channel)
        assert card.startswith("Was paused: acme/site, paused by "), world.shown(channel)
        assert line.startswith("Queue resumed: acme/site, by "), world.shown(channel)
    settled_all = all(one.state.is_settled for one in world.database.contents.deliveries.values())
    assert settled_all


@TRIED
async def test_a_pause_by_command_is_told_once_wherever_the_process_dies(at: int) -> None:
    world, _ = await live(by_command, Disturbance("crash", at))
    if not world.pauses():
        # It died before the service was asked: nothing happened, and nothing is told.
        assert world.shown(CHANNEL) == world.shown(OTHER) == []
        return
    assert_told_once(world)
    assert "paused by alice" in world.shown(CHANNEL)[0]


@TRIED
async def test_a_pause_on_the_dashboard_is_told_once_wherever_the_process_dies(at: int) -> None:
    world, _ = await live(by_dashboard, Disturbance("crash", at))
    assert_told_once(world)
    card, line = world.shown(CHANNEL)
    assert "paused by carol, resumed by dave" in card
    assert "by dave" in line


@pytest.mark.parametrize("place", ["edit", "edited", "post", "posted"])
@pytest.mark.parametrize("story", [by_command, by_dashboard])
@pytest.mark.parametrize("at", [1, 30, 60])
async def test_nothing_is_told_twice_when_it_dies_around_a_request(
    story: Story, place: str, at: int
) -> None:
    world, _ = await live(story, Disturbance("crash", at, place=place))
    assert_told_once(world)


@TRIED
async def test_a_database_that_fails_for_a_moment_changes_nothing_of_it(at: int) -> None:
    world, _ = await live(by_dashboard, Disturbance("store fails", at))
    assert_told_once(world)


async def test_the_steps_reach_from_the_first_to_the_last() -> None:
    """The numbers above are those of steps that are taken."""
    for story in (by_command, by_dashboard):
        _, was_struck = await live(story, Disturbance("crash", STEPS[-1] - 20))
        assert was_struck


@pytest.mark.steps(range(1, 60), 6)
async def test_who_asked_is_told_once_and_who_was_replaced_too(at: int) -> None:
    desk = Desk(World())
    await desk.turns(2)
    await desk.pause()
    await desk.turns(3)
    await desk.ask_to_be_told(BOB)
    desk.steps.arm(Disturbance("crash", at))
    with suppress(BotError, Crash):
        await desk.pause("Deploying", BOB, replacing=desk.world.service.pauses[SITE])
    await desk.turns_unless_struck(3)
    desk.steps.arm(None)
    was_replaced = "Deploying" in desk.world.service.pauses[SITE].reason
    await settled(desk.world)

    (told,) = desk.world.shown(BOB.user_id)
    assert "acme/site was resumed by bob" in told
    (to_alice,) = desk.world.shown(ALICE.user_id)
    # What bob replaced is his own, and alice hears no more of it.
    assert ("bob resumed acme/site" in to_alice) is not was_replaced
