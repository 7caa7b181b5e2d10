"""What a person sees who asks for the status."""

import pytest

from tests.e2e.conftest import StartBot
from tests.support.bot_tester import BOB, MERGE_QUEUE, BotTester

pytestmark = pytest.mark.e2e


async def test_the_bare_command_shows_the_queue_to_the_caller_alone(bot: BotTester) -> None:
    answer = await bot.ask("/mq")
    assert answer.words.startswith(":arrow_forward: *acme/site* is running, the queue is empty")
    assert answer.labels == ["Pause queue…", "Refresh", "Share in channel"]
    assert bot.replies(by=BOB) == []
    assert bot.posts() == []
