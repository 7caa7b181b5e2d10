"""Each trouble that the local service can play is what `/mq why` says of it."""

import pytest

from bot.sandbox.merge_queue.troubles import TROUBLES
from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.support.bot_tester import MERGE_QUEUE, REPOSITORY

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]

MINUTE = 60.0
NO_ALERTS = {
    f"MQBOT_HEALTH_{name}": "0"
    for name in ("HEAD_MINUTES", "BATCH_MINUTES", "DEPTH", "FAILURES", "CAUSE_MINUTES")
} | {"MQBOT_REMINDER_MINUTES": "0"}

HEADLINES = {
    "no-answer": "*I can't see acme/site: the merge queue service has a problem*",
    "is-paused": "*acme/site is paused: CI runners are down",
    "is-frozen": "*acme/site is frozen*",
    "misconfigured": "*acme/site: the configuration is invalid*",
    "nothing-queued": "*Nothing is queued in acme/site*",
    "same-check": ": the same check fails in every batch*",
    "many-checks": ": many different checks fail*",
    "comes-back": " comes back again and again*",
    "held": " can't advance, and 1 other waits for it*",
    "never-start": " don't start*",
    "start-late": ": no check passes in any batch*",
    "hangs": " take far longer than usual*",
    "done": " are done and it isn't merged*",
    "restarted": ": merges or pushes around the queue have made checks start over 4 times*",
    "requeued": ": requeues have made checks start over 4 times*",
    "pushed": ": pushes to queued pull requests have made checks start over 4 times*",
    "merging": "*acme/site is merging normally*",
}


@pytest.mark.parametrize("name", TROUBLES)
async def test_why_says_what_the_local_service_plays(start_bot: StartBot, name: str) -> None:
    bot = await start_bot(
        repositories={REPOSITORY: "quiet"},
        speed=1.0,
        channels=f"{REPOSITORY}={MERGE_QUEUE}:health",
        environment=NO_ALERTS,
    )
    minute = 0.0
    for act in TROUBLES[name]:
        await bot.pass_time((act.minute - minute) * MINUTE)
        minute = act.minute
        act.do(bot.merge_queue, REPOSITORY)
    await bot.next_poll()
    answer = await bot.ask("/mq why")
    first_line = answer.words.split("\n")[0]
    assert HEADLINES[name] in first_line, answer.words
