"""A bisection as the hosted service sends it: its pull requests stand in the pieces alone."""

import pytest

from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.support.bot_tester import BotTester
from tests.support.waiting import until

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]

SITE = "acme/site"


async def bisecting(start_bot: StartBot) -> tuple[BotTester, list[int]]:
    """A bot, and the pull requests of a batch whose bisection stands still."""
    bot = await start_bot(
        repositories={SITE: "bisecting"}, dialect="live", speed=20.0, waits_for_begin=False
    )
    queues = bot.merge_queue.repository(SITE)

    def pieces_run() -> bool:
        batches = queues.line("main").batches
        return any(part.is_running for batch in batches[:1] for part in batch.sub_batches or ())

    await until(pieces_run, "pieces that run")
    bot.stand_still()
    return bot, [member.number for member in queues.line("main").batches[0].members]


async def test_a_pull_request_under_bisection_is_known_everywhere(start_bot: StartBot) -> None:
    bot, numbers = await bisecting(start_bot)
    for number in (numbers[0], numbers[-1]):
        assert "*In a batch*" in await bot.ask(f"/mq why {number}")
        assert f"*Remove from the queue of {SITE}?* #{number}" in await bot.ask(
            f"/mq remove {number} {SITE}"
        )
    shown = await bot.ask("/mq status")
    assert "bisecting" in shown
    assert all(f"#{number} " in shown for number in numbers[:5])


async def test_a_pause_that_stops_a_bisection_asks_first(start_bot: StartBot) -> None:
    bot, _ = await bisecting(start_bot)
    asked = await bot.ask("/mq pause CI runners are down")
    assert "1 bisection stops" in asked
    assert bot.pause_reason() is None
