"""Many requests at once: all are acknowledged first, then all are answered."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest
from slack_bolt.async_app import AsyncAck
from typing_extensions import override

from bot import runtime
from bot.messages.errors import BUSY, TOO_FAST
from bot.sandbox.merge_queue.faults import Fault
from bot.slack import app as slack_app
from bot.slack.background import MOST_AT_ONCE, Inbox
from bot.slack.handlers.dispatch import Dispatch
from tests.e2e.conftest import StartBot
from tests.support.bot_tester import ALICE, BOB, MERGE_QUEUE, BotTester
from tests.support.shown import Shown
from tests.support.waiting import until

pytestmark = pytest.mark.e2e

HOW_MANY = 64


class HeldInbox(Inbox):
    """The bot's own inbox, which starts nothing until it is drained."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, most_at_once: int = MOST_AT_ONCE) -> None:
        super().__init__(most_at_once)
        self._is_drained = asyncio.Event()
        monkeypatch.setattr(runtime, "Inbox", lambda: self)

    @override
    async def _run(self, work: Coroutine[Any, Any, None]) -> None:
        await self._is_drained.wait()
        await super()._run(work)

    @override
    async def drain(self, seconds: float) -> int:
        self._is_drained.set()
        left = await super().drain(seconds)
        self._is_drained.clear()
        return left


@pytest.fixture
def inbox(monkeypatch: pytest.MonkeyPatch) -> Inbox:
    return HeldInbox(monkeypatch)


async def _all_type(bot: BotTester, count: int) -> None:
    await asyncio.gather(
        *(bot.type("/mq help", by=(ALICE, BOB)[number % 2]) for number in range(count))
    )


def _replies(bot: BotTester) -> list[Shown]:
    return [*bot.replies(by=ALICE), *bot.replies(by=BOB)]


async def test_all_requests_are_acknowledged_before_any_is_answered(
    inbox: Inbox, start_bot: StartBot
) -> None:
    bot = await start_bot()
    await _all_type(bot, HOW_MANY)
    assert (len(inbox), _replies(bot)) == (HOW_MANY, [])
    assert await inbox.drain(30) == 0
    assert len(_replies(bot)) == HOW_MANY


async def test_a_click_is_acknowledged_before_it_is_handled(
    inbox: Inbox, start_bot: StartBot
) -> None:
    bot = await start_bot()
    await bot.type("/mq status")
    await inbox.drain(30)
    (status,) = bot.replies()
    await bot.click(status, "Refresh")
    assert len(inbox) == 1
    bot.pause_elsewhere("deploying")
    await inbox.drain(30)
    assert "deploying" in (bot.now(status) or status)


async def test_form_errors_appear_at_their_field(inbox: Inbox, start_bot: StartBot) -> None:
    bot = await start_bot()
    await bot.type("/mq pause")
    await inbox.drain(30)
    form = await bot.modal()
    await _all_type(bot, 20)
    refused = await bot.submit(form, reason=" ")
    assert refused["response_action"] == "errors"
    assert (len(inbox), _replies(bot)) == (20, [])
    await inbox.drain(30)
    assert len(_replies(bot)) == 20


async def test_acknowledged_requests_are_answered_when_the_bot_stops(
    inbox: Inbox, start_bot: StartBot
) -> None:
    bot = await start_bot()
    await _all_type(bot, 20)
    await bot.stop_bot()
    assert (len(inbox), len(_replies(bot))) == (0, 20)


async def test_people_without_an_answer_are_notified_when_the_bot_stops(
    monkeypatch: pytest.MonkeyPatch, start_bot: StartBot
) -> None:
    monkeypatch.setattr(runtime, "DRAIN_SECONDS", 0.2)
    bot = await start_bot()
    asked = Fault("slow", path="/status", times=None, seconds=30)
    bot.merge_queue.faults.arm(asked)
    await bot.type("/mq status")
    await until(lambda: asked.hits, "the service asked")
    await bot.stop_bot()
    (notice,) = bot.replies()
    assert "I'm restarting" in notice
    assert "Try again" in notice.labels
    bot.fix_service()


async def test_everybody_gets_an_answer_when_too_many_requests_come(
    monkeypatch: pytest.MonkeyPatch, start_bot: StartBot
) -> None:
    """People beyond the capacity are notified; the others are answered."""
    inbox = HeldInbox(monkeypatch, 2)
    bot = await start_bot()
    await asyncio.gather(bot.type("/mq help"), bot.type("/mq help"))
    answer = await bot.slack.people.command(BOB, MERGE_QUEUE, "/mq help")
    assert answer["ack_text"] == BUSY
    await inbox.drain(30)
    assert [len(bot.replies(by=who)) for who in (ALICE, BOB)] == [2, 1]
    await bot.type("/mq help", by=BOB)
    await inbox.drain(30)
    assert len(bot.replies(by=BOB)) == 2


async def test_the_person_is_notified_when_a_handler_fails(
    monkeypatch: pytest.MonkeyPatch, start_bot: StartBot
) -> None:
    bot = await start_bot(expected_errors={"defect"})
    status = await bot.ask("/mq status")

    async def fail(_self: object, ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        raise LookupError(body["user"] if "user" in body else body["user_id"])

    monkeypatch.setattr(Dispatch, "on_typed", fail)
    monkeypatch.setattr(Dispatch, "on_action", fail)
    await bot.stop_bot()
    await bot.start_bot()
    failed = await bot.ask("/mq status")
    assert "Something went wrong on my side" in failed
    await bot.click(status, "Refresh", by=ALICE)
    await bot.wait_for_reply("Something went wrong on my side")


async def test_one_person_cannot_block_others(start_bot: StartBot) -> None:
    bot = await start_bot()
    typed = (bot.slack.people.command(ALICE, MERGE_QUEUE, "/mq help") for _ in range(200))
    answers = await asyncio.gather(*typed)
    refused = [one for one in answers if one.get("ack_text") == TOO_FAST]
    assert len(refused) >= 100
    await bot.ask("/mq help", by=BOB)
    taken = len(answers) - len(refused)
    await until(lambda: sum(TOO_FAST not in one for one in bot.replies()) == taken, "the answers")
    assert len(bot.calls("response_url")) <= taken + 1


async def test_a_person_who_clicks_too_fast_is_warned_once(
    monkeypatch: pytest.MonkeyPatch, start_bot: StartBot
) -> None:
    bot = await start_bot()
    status = await bot.ask("/mq status")
    monkeypatch.setattr(slack_app, "BURST", 0)
    monkeypatch.setattr(slack_app, "WARNED_AGAIN_SECONDS", 3600.0)
    reads = len(bot.requests("/merge-queue/pause"))
    for _ in range(3):
        await bot.click(status, "Refresh")
    await bot.wait_for_reply(TOO_FAST[:30])
    monkeypatch.setattr(slack_app, "BURST", 40)
    await bot.ask("/mq help")
    assert len(bot.requests("/merge-queue/pause")) == reads
