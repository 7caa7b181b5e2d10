"""What one of several processes learns, all of them keep: limits, paces, who reads a channel."""

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bot.blocks.explain import TOO_FAST
from bot.slack.app import PersonalPace
from bot.slack.web_api.clients import SYNC_SECONDS
from tests.e2e.test_mentions import mention, say
from tests.support.bot_tester import ALICE, BOB, MERGE_QUEUE
from tests.support.several_processes import SeveralProcesses
from tests.support.shown import Shown
from tests.support.waiting import until

pytestmark = [pytest.mark.postgres, pytest.mark.timeout(240)]

Start = Callable[..., SeveralProcesses]

BURST = PersonalPace().burst

WAIT_SECONDS = 600
"""Longer than the test takes on any machine."""


@pytest.fixture
def processes(postgres_url: str, tmp_path: Path) -> Start:
    """Two that answer and one that polls."""
    environment = {"SLACK_APP_TOKEN": ""}
    return partial(
        SeveralProcesses,
        postgres_url,
        folder=tmp_path,
        mode="http",
        webs=2,
        workers=1,
        environment=environment,
    )


async def test_a_form_is_not_opened_while_slack_is_known_to_refuse_it(
    processes: Start,
) -> None:
    bot = processes(expected_refusals={"views.open rate_limit"})
    async with bot:
        bot.break_slack("rate_limit", "views.open", retry_after=WAIT_SECONDS)
        await bot.ask("/mq pause", by=ALICE)
        met = [one for one in bot.running("web") if _logged(one.log(), "slack_limited")]
        (other,) = [one for one in bot.running("web") if one not in met]
        await until(lambda: _logged(other.log(), "slack_limit_shared"), "the other to hear of it")
        # The load balancer gives them to both in turn.
        for _ in range(2):
            await bot.ask("/mq pause", by=BOB)
        assert len(bot.calls("views.open")) == 1


def _logged(records: list[dict[str, Any]], action: str) -> bool:
    return any(record.get("action") == action for record in records)


async def test_a_person_who_sends_too_much_is_slowed_down_by_all_processes(
    processes: Start,
) -> None:
    """The load balancer gives each process half of a flood, which neither would take for one."""
    bot = processes()

    def refused() -> int:
        return sum(TOO_FAST in shown for shown in bot.replies(by=BOB))

    async with bot:
        for burst in range(2):
            await asyncio.gather(*(bot.type("/mq help", by=BOB) for _ in range(BURST)))
            if burst == 0:
                assert refused() == 0
                # Both have heard of it by then.
                await asyncio.sleep(3 * SYNC_SECONDS)
        await until(lambda: refused() > BURST / 2, "most of the second burst to be refused")
        await until(lambda: len(bot.replies(by=BOB)) == 2 * BURST, "an answer to each")


async def test_buttons_go_from_a_newly_shared_channel_in_every_process(
    processes: Start,
) -> None:
    bot = processes(channels=f"acme/site={MERGE_QUEUE}:pause")

    def labels(shown: Shown) -> list[str]:
        now = bot.now(shown)
        return now.labels if now is not None else []

    async with bot:
        card = await bot.pause("now CI runners are down")
        assert "Resume queue" in labels(card)

        bot.slack.arrangement.change_channel(MERGE_QUEUE, {"is_ext_shared": True})
        await until(lambda: labels(card) == [], "a card without buttons")
        for process in bot.processes:
            await process.logged("channel_sharing_changed")
        # The load balancer gives them to both in turn.
        for _ in range(4):
            asked = say(bot, "what is up?")
            mention(bot, "status", beneath=asked)
            answer = await bot.wait_in_thread(asked, "acme/site")
            assert answer.labels == []

        bot.slack.arrangement.change_channel(MERGE_QUEUE, {"is_ext_shared": False})
        await until(lambda: "Resume queue" in labels(card), "its buttons again")
