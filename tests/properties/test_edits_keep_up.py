"""Fifty edits a minute keep a repository's threads up to date at 200 merges an hour."""

from collections import deque
from datetime import timedelta
from random import Random

from sqlalchemy import select

from bot.channels.subscription import Style
from bot.posts.tables import live_messages
from tests.support.desk import Desk, World
from tests.support.make import CHANNEL

OTHER = "C0OTHER"
GRANTED_A_MINUTE = 50
"""Of chat.update in a workspace (https://docs.slack.dev/apis/web-api/rate-limits)."""

MERGES_AN_HOUR = 200
SECONDS = 900
LATEST = timedelta(seconds=60)

TOPICS = ("enter", "checks", "merge", "failure")

STAY: tuple[tuple[int, str, dict[str, object]], ...] = (
    (0, "enter", {}),
    (20, "checks_start", {}),
    (80, "checks_end", {"aborted": False}),
    (82, "leave", {"merged": True, "dequeue_code": "PR_MERGED"}),
    (82, "merged", {}),
)
"""The events of each pull request, by seconds since it entered."""


def happening(random: Random) -> dict[int, list[tuple[str, int, dict[str, object]]]]:
    found: dict[int, list[tuple[str, int, dict[str, object]]]] = {}
    count = MERGES_AN_HOUR * SECONDS // 3600
    for number in range(1, count + 1):
        began = random.randrange(SECONDS - 100)
        for after, what, details in STAY:
            stay = {"session_id": f"s-{number}", **details}
            found.setdefault(began + after, []).append((what, number, stay))
    return found


def late(world: World) -> list[int]:
    """The live messages that have waited for their edit for too long."""
    kept = live_messages.c
    overdue = select(kept.message_id).where(
        kept.wanted > kept.shown, kept.due_at < world.clock.now() - LATEST
    )
    with world.database.engine.connect() as connection:
        return list(connection.execute(overdue).scalars())


async def test_two_channels_stay_up_to_date_within_slacks_edit_limits() -> None:
    world = World()
    desk = Desk(world)
    await desk.subscribe(CHANNEL, OTHER, topics=TOPICS, style=Style.THREAD)
    await desk.turns(2)
    plan = happening(Random(7))
    edits_before: deque[int] = deque(maxlen=60)
    for second in range(SECONDS + int(LATEST.total_seconds())):
        for what, number, details in plan.get(second, ()):
            world.log(f"action.queue.{what}", number, **details)
        await desk.turns(1)
        edits = len(world.poster.called("update"))
        edits_before.append(edits)
        assert edits - edits_before[0] <= GRANTED_A_MINUTE, second
        assert late(world) == [], second

    cards = world.database.contents.live_messages
    assert len(cards) == 2 * MERGES_AN_HOUR * SECONDS // 3600
    assert all(card.closed and card.wanted == card.shown for card in cards.values())
    assert all(
        post.message.text.startswith("Merged") for post in world.poster.history if not post.thread
    )


async def test_an_ended_pause_is_edited_before_500_other_messages() -> None:
    world = World()
    desk = Desk(world)
    channels = [f"C0BUSY{number:02}" for number in range(25)]
    await desk.subscribe(CHANNEL)
    await desk.subscribe(*channels, topics=("enter", "merge"), style=Style.THREAD)
    await desk.turns(2)
    for number in range(1, 24):
        world.log("action.queue.enter", number, session_id=f"s-{number}")
    await desk.turns(120)
    await desk.pause()
    await desk.turns(5)
    for number in range(1, 24):
        world.log("action.queue.merged", number, session_id=f"s-{number}")
    await desk.turns(20)
    ended_at = world.clock.now()
    shown = world.database.contents.live_messages.values()
    waiting = [
        message for message in shown if message.message_ts and message.wanted > message.shown
    ]
    # All of them have waited longer: the pause is not first because it was due first.
    assert len([one for one in waiting if one.due_at < ended_at]) >= 500

    await desk.resume()
    while not world.shown()[0].startswith("acme/site was paused"):
        await desk.turns(1)

    assert world.clock.now() - ended_at <= timedelta(seconds=5)
