"""A service of another vintage refuses event types: only those are missing."""

import pytest

from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.support.bot_tester import MERGE_QUEUE

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]

EVERYTHING = f"acme/site={MERGE_QUEUE}:everything,command,ci,style:feed"


async def test_other_types_are_posted_and_one_request_is_refused(start_bot: StartBot) -> None:
    bot = await start_bot(dialect="live", channels=EVERYTHING)
    bot.emit("command.queue", 41, metadata={"author": {"login": "ana"}, "comment_id": 1})
    await bot.wait_for_post("*Queueing requested* #41")
    await bot.next_poll()
    refused = [request for request in bot.merge_queue.requests if request.status == 422]
    assert len(refused) == 1


async def test_the_log_is_shown_without_types_that_the_service_does_not_know(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(dialect="live", channels="")
    bot.emit("command.queue", 41, metadata={"author": {"login": "ana"}, "comment_id": 1})
    shown = await bot.ask("/mq log type:command.requeue,ci_issue.created,command.queue")
    assert "*Queueing requested* #41" in shown
    refused = await bot.ask("/mq log type:command.requeue")
    assert "rejected this" in refused
