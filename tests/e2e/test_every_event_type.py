"""Each event type of a service, sent with only its type, is read and posted."""

from collections.abc import Iterable, Sequence

import aiohttp
import pytest

from bot.sandbox.merge_queue.simulation.vocabulary import event_types
from tests.e2e.conftest import StartBot
from tests.support.bot_tester import GENERAL, MERGE_QUEUE, RELEASES, REPOSITORY, BotTester
from tests.support.shown import Shown
from tests.support.waiting import until

pytestmark = pytest.mark.e2e

CHANNELS = (MERGE_QUEUE, RELEASES, GENERAL)
"""Each gets a third of the types, because a channel gets one post a second."""

NO_BURST = 12
"""So many at once are posted one by one."""


async def send(bot: BotTester, event_type: str) -> None:
    """Through the control API, as another process does."""
    url = f"{bot.merge_queue.control_url}/repositories/{REPOSITORY}/events"
    async with aiohttp.ClientSession() as http, http.post(url, json={"type": event_type}) as answer:
        assert answer.status == 200


async def posted(bot: BotTester, count: int) -> list[Shown]:
    """All posts, once there are so many."""

    def posts() -> list[Shown]:
        return [post for channel in CHANNELS for post in bot.posts(channel)]

    await until(lambda: len(posts()) == count, f"{count} posts")
    return posts()


def in_order(types: Iterable[str]) -> Sequence[str]:
    """A pause is changed before it ends: of one that never was, nothing is said."""
    return sorted(types, key=lambda name: (name == "queue.pause.delete", name))


@pytest.mark.parametrize(("dialect", "count"), [("document", 47), ("live", 46)])
@pytest.mark.parametrize("mode", ["socket"])
async def test_every_type_is_read_in_full_and_posted(
    start_bot: StartBot, dialect: str, count: int
) -> None:
    """The service refuses those of the other vintage, which the bot asks for as well."""
    every = in_order(event_types("github", live=dialect == "live"))
    third = len(every) // 3 + 1
    thirds = [",".join(every[place * third :][:third]) for place in range(3)]
    feeds = [
        f"acme/site={channel}:{types},style:feed"
        for channel, types in zip(CHANNELS, thirds, strict=True)
    ]
    bot = await start_bot(channels=";".join(feeds), dialect=dialect)
    for sent, event_type in enumerate(every):
        if sent % NO_BURST == 0:
            await posted(bot, sent)
        await send(bot, event_type)
    # The change of a pause has no post of its own: the pause's card says it.
    shown = await posted(bot, count - 1)

    assert len(every) == count
    assert any("was paused · CI is still down" in post for post in shown)
    assert "events_unreadable" not in bot.logged_actions()
