"""A kill while a machine proposes, or while a person approves: nothing silent, nothing twice."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

import aiohttp
import pytest

from tests.support.bot_process import ProcessTester
from tests.support.bot_tester import ALICE, BOB, CAROL, MERGE_QUEUE
from tests.support.databases import sqlite_copy
from tests.support.shown import Shown
from tests.support.waiting import until

pytestmark = pytest.mark.e2e

TOKEN = "d" * 24
PAUSE = "/merge-queue/pause"
ASKED = {"target": "acme/site", "reason": "deploying"}

SITE_ALONE = '[MQBOT_POLICY."acme/site".approval.ai-agent]\n'

StartProcess = Callable[..., Awaitable[ProcessTester]]


@pytest.fixture
async def start_process(tmp_path: Path, sqlite_template: Path) -> AsyncIterator[StartProcess]:
    async with AsyncExitStack() as stack:

        async def start(
            policy: str = SITE_ALONE,
            channels: str = f"acme/site={MERGE_QUEUE}:pause",
            environment: Mapping[str, str] = MappingProxyType({}),
            **options: object,
        ) -> ProcessTester:
            settings = tmp_path / "mqbot.toml"
            settings.write_text(policy)
            common = {
                "MQBOT_POLL_SECONDS": "60",
                "MQBOT_CONFIG": str(settings),
                "MQBOT_MACHINE_TOKENS": f"ai-agent={TOKEN}",
                "MQBOT_HEALTH_PORT": "0",
            }
            # The options are ProcessTester's own, which checks them.
            tester = ProcessTester(
                sqlite_copy(sqlite_template, tmp_path),
                folder=tmp_path,
                channels=channels,
                environment={**common, **environment},
                **options,  # type: ignore[arg-type]
            )
            return await stack.enter_async_context(tester)

        yield start


async def ask(bot: ProcessTester, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    opened = [record for record in bot.log_records() if record.get("action") == "health_open"]
    url = f"http://127.0.0.1:{opened[-1]['port']}{path}"
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.request(method, url, json=body) as got,
    ):
        return got.status, await got.json()


async def propose(bot: ProcessTester) -> tuple[str, Shown]:
    status, answer = await ask(bot, "POST", "/api/v1/pause", ASKED)
    assert status == 202
    return answer["outcome"], await bot.wait_for_post("ai-agent proposes to pause acme/site")


def pauses_sent(bot: ProcessTester) -> int:
    return sum(line.startswith("PUT") for line in bot.requests(PAUSE))


async def is_confirmed(bot: ProcessTester, address: str, request: Shown) -> None:
    status, outcome = await ask(bot, "GET", address)
    assert (status, outcome["done"], outcome["proposal"]["by"]) == (200, True, "bob")
    settled = await bot.wait_for_change(request, "*bob approved it.*")
    assert settled.labels == []
    await bot.click(request, "Approve", by=CAROL)
    assert "bob already approved this." in await bot.wait_for_reply(by=CAROL)
    assert pauses_sent(bot) == 1
    await bot.next_poll()
    bot.posts()
    bot.replies(by=BOB)
    bot.direct_messages(by=BOB)
    bot.direct_messages(by=ALICE)


async def test_a_kill_before_the_request_lets_the_person_try_again(
    start_process: StartProcess,
) -> None:
    bot = await start_process()
    address, request = await propose(bot)
    death = bot.kill_when_service_has_answered("GET", PAUSE)
    await bot.click(request, "Approve", by=BOB)
    await until(death.is_set, "the process killed before it pauses")
    await bot.restart_bot()
    assert (await ask(bot, "GET", address))[0] == 202
    answer = await bot.wait_for_direct_message("no queue was changed", by=BOB)
    assert answer.labels == ["Try again"]
    await bot.click(answer, "Try again", by=BOB)
    await bot.wait_for_post("*acme/site is paused*")
    bot.replies(by=BOB, channel=answer.channel)
    await is_confirmed(bot, address, request)


async def test_a_kill_after_the_request_pauses_once_and_tells_both(
    start_process: StartProcess,
) -> None:
    bot = await start_process()
    address, request = await propose(bot)
    death = bot.kill_when_service_has_answered("PUT", PAUSE)
    await bot.click(request, "Approve", by=BOB)
    await until(death.is_set, "the process killed after it has paused")
    await bot.restart_bot()
    told = await bot.wait_for_direct_message("while pausing acme/site", by=BOB)
    assert "acme/site is paused" in told
    await is_confirmed(bot, address, request)


async def test_a_proposal_that_a_kill_cut_off_is_made_once(start_process: StartProcess) -> None:
    bot = await start_process()
    death = bot.kill_when_slack_has_posted()
    # Its answer may be lost with the process.
    with suppress(aiohttp.ClientError):
        await ask(bot, "POST", "/api/v1/pause", ASKED)
    await until(death.is_set, "the process killed as it posts the proposal")
    await bot.restart_bot()
    status, again = await ask(bot, "POST", "/api/v1/pause", ASKED)
    assert status == 202
    request = await bot.wait_for_post("ai-agent proposes to pause acme/site")
    assert len(bot.posts()) == 1
    await bot.click(request, "Refuse", by=BOB)
    await bot.wait_for_change(request, "*bob refused it*")
    status, outcome = await ask(bot, "GET", again["outcome"])
    assert (status, outcome["proposal"]["state"]) == (200, "refused")
    assert pauses_sent(bot) == 0
