"""Two processes of the bot: a limit of Slack's that one of them meets is kept by the other."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.support.bot_tester import ALICE, BOB
from tests.support.several_processes import SeveralProcesses
from tests.support.waiting import until

WAIT_SECONDS = 20


@pytest.mark.postgres
@pytest.mark.timeout(240)
async def test_a_form_is_not_opened_while_slack_is_known_to_refuse_it(
    postgres_url: str, tmp_path: Path
) -> None:
    bot = SeveralProcesses(
        postgres_url,
        folder=tmp_path,
        mode="http",
        webs=2,
        workers=1,
        environment={"SLACK_APP_TOKEN": ""},
        expected_refusals={"views.open rate_limit"},
    )
    async with bot:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        bot.break_slack("rate_limit", "views.open", retry_after=WAIT_SECONDS)
        await bot.ask("/mq pause", by=ALICE)
        met = [one for one in bot.running("web") if _logged(one.log(), "slack_limited")]
        (other,) = [one for one in bot.running("web") if one not in met]
        await until(lambda: _logged(other.log(), "slack_limit_shared"), "the other to hear of it")
        # The load balancer gives them to both in turn.
        for _ in range(2):
            await bot.ask("/mq pause", by=BOB)
        assert len(bot.calls("views.open")) == 1

        await until(lambda: loop.time() > begun + WAIT_SECONDS + 1, "the time Slack asked for", 60)
        await bot.type("/mq pause", by=BOB)
        await until(lambda: bot.open_modals(by=BOB), "the form")
        assert len(bot.calls("views.open")) == 2


def _logged(records: list[dict[str, Any]], action: str) -> bool:
    return any(one.get("action") == action for one in records)
