"""A pause that looks over and is not, any number of times: what channels read is corrected."""

from random import Random

import pytest

from tests.support.desk import Desk, World
from tests.support.make import ALICE, BOB, CAROL, CHANNEL, SITE

OTHER = "C0OTHER"
QUIET_TURNS = 14
TURN_SECONDS = 15
"""Longer than the time between two readings of a queue that counts as running."""

STEPS = 12


def last_post(world: World, channel_id: str) -> str:
    return world.shown(channel_id)[-1]


def is_said_to_be_paused(message: str) -> bool:
    said = ("is still paused", "changed why acme/site is paused", "Pause reason changed")
    return message.startswith("acme/site is paused") or any(words in message for words in said)


def assert_true(world: World) -> None:
    """Each channel's last message, its one open card and the record say what is true."""
    pause = world.service.pauses.get(SITE)
    open_records = [known for known in world.pauses() if known.is_open]
    for channel in (CHANNEL, OTHER):
        messages = world.shown(channel)
        open_cards = [message for message in messages if message.startswith("acme/site is paused")]
        if pause is None:
            assert not open_records
            assert open_cards == [], messages
            assert not messages or messages[-1].startswith("acme/site has resumed"), messages
        else:
            (record,) = open_records
            assert record.line.stored_reason == pause.reason
            assert record.line.paused_at == pause.paused_at
            (card,) = open_cards
            assert record.line.reason in card
            assert is_said_to_be_paused(messages[-1]), messages


async def passes(desk: Desk) -> None:
    await desk.turns(QUIET_TURNS, seconds=TURN_SECONDS)
    await desk.turns(3)


async def is_quiet(desk: Desk) -> None:
    desk.world.hides_pause = False
    await passes(desk)
    assert_true(desk.world)


@pytest.mark.parametrize("times", [1, 2, 3, 12])
@pytest.mark.parametrize("is_silent", [True, False])
async def test_each_false_end_is_corrected_however_often_it_comes(
    times: int, *, is_silent: bool
) -> None:
    desk = Desk(World(is_silent=is_silent))
    await desk.subscribe(CHANNEL, OTHER)
    await desk.turns(2)
    await desk.pause()
    await desk.turns(5)
    for count in range(1, times + 1):
        desk.world.hides_pause = True
        await passes(desk)
        assert last_post(desk.world, CHANNEL).startswith("acme/site has resumed")
        await is_quiet(desk)
        corrections = [one for one in desk.world.shown(CHANNEL) if "still paused" in one]
        assert len(corrections) == count
    await desk.resume(BOB)
    await is_quiet(desk)
    # One card from the beginning to the end.
    (card,) = [
        text for text in desk.world.shown(CHANNEL) if text.startswith("acme/site was paused")
    ]
    assert "Resumed by bob" in card


async def test_people_who_were_told_of_a_false_end_are_told_that_it_was_wrong() -> None:
    """Whoever paused, and whoever waits for the end, which is still to come."""
    desk = Desk(World(is_silent=True))
    await desk.turns(2)
    await desk.pause()
    await desk.turns(5)
    await desk.ask_for_notification(CAROL)
    for count in (1, 2):
        desk.world.hides_pause = True
        await passes(desk)
        desk.world.hides_pause = False
        await passes(desk)
        for person in (ALICE, CAROL):
            messages = desk.world.shown(person.user_id)
            assert len(messages) == 2 * count, messages
            assert "is still paused" in messages[-1]
    await desk.resume(BOB)
    await passes(desk)
    assert "bob resumed acme/site" in last_post(desk.world, ALICE.user_id)
    assert "bob resumed acme/site" in last_post(desk.world, CAROL.user_id)


async def test_a_pause_after_an_end_that_nobody_saw_changes_the_pause_that_channels_read() -> None:
    desk = Desk(World(is_silent=True))
    await desk.subscribe(CHANNEL, OTHER)
    await desk.turns(2)
    desk.world.service.paused_by("carol", "Night")
    await passes(desk)
    desk.world.service.resumed_by("dave")
    await desk.pause("Deploying", BOB)
    await passes(desk)

    assert_true(desk.world)
    assert "changed why acme/site is paused" in last_post(desk.world, CHANNEL)


@pytest.mark.steps(range(200), 25)
async def test_after_any_sequence_of_true_and_false_readings_channels_read_what_is_true(
    at: int,
) -> None:
    random = Random(at)
    world = World(is_silent=random.random() < 0.5)
    desk = Desk(world)
    await desk.subscribe(CHANNEL, OTHER)
    await desk.turns(2)
    for number in range(STEPS):
        what = random.choice(("hide", "hide", "show", "show", "pause", "resume", "elsewhere"))
        world.hides_pause = what == "hide" or (what != "show" and world.hides_pause)
        if what == "pause" and SITE not in world.service.pauses:
            world.hides_pause = False
            await desk.pause(f"reason {number}", random.choice((ALICE, BOB)))
        elif what == "resume" and SITE in world.service.pauses and not world.hides_pause:
            await desk.resume(random.choice((ALICE, BOB)))
        elif what == "elsewhere" and random.random() < 0.5:
            world.service.resumed_by("dave")
        elif what == "elsewhere":
            world.service.paused_by("carol", f"reason {number}")
        await desk.turns(random.randint(1, 8), seconds=random.choice((1, 5, 15)))
        if random.random() < 0.4:
            await is_quiet(desk)
    await is_quiet(desk)
