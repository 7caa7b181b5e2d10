"""Many requests at once: all are acknowledged first, then all are answered."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from typing import Any

import pytest
from typing_extensions import override

from bot.acts.reason import REASON_LIMIT
from bot.acts.record import ActResult
from bot.blocks.explain import BUSY, TOO_FAST
from bot.desk.background import BACKGROUND_TASKS, Inbox
from bot.sandbox.merge_queue.faults import Fault
from bot.slack.app import PersonalPace
from tests.e2e.conftest import StartBot
from tests.e2e.test_who_may_act import acts
from tests.support.bot_tester import ALICE, BOB, HURRIED, MERGE_QUEUE, BotTester
from tests.support.shown import Shown
from tests.support.waiting import until

pytestmark = pytest.mark.e2e

HOW_MANY = 64


class HeldInbox(Inbox):
    """The bot's own inbox, which starts nothing until it is drained."""

    def __init__(self, most_at_once: int = BACKGROUND_TASKS) -> None:
        super().__init__(most_at_once)
        self._is_drained = asyncio.Event()

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


class FailingInbox(Inbox):
    """Fails the next listener, after it has acknowledged; then it is the bot's own."""

    fails_next = False

    @override
    def hand_over(self, work: Coroutine[Any, Any, None]) -> None:
        if self.fails_next:
            self.fails_next = False
            work.close()
            raise LookupError("a defect")
        super().hand_over(work)


@pytest.fixture
def inbox() -> Inbox:
    return HeldInbox()


def admitted(requests: int) -> PersonalPace:
    """Everybody's requests beyond these are too fast, however long the test takes."""
    return PersonalPace(requests, each_seconds=3600.0, warned_again_seconds=3600.0)


UNHURRIED = replace(HURRIED, drain=60.0)
"""A busy machine has the time to answer all before the bot stops."""


async def start_held(start_bot: StartBot, inbox: Inbox) -> BotTester:
    """In a channel that it has joined already, of which no event has to be worked on."""
    channels = f"acme/site={MERGE_QUEUE}:freeze"
    return await start_bot(channels=channels, open_inbox=lambda: inbox, every=UNHURRIED)


async def _all_type(bot: BotTester, count: int) -> None:
    await asyncio.gather(
        *(bot.type("/mq help", by=(ALICE, BOB)[number % 2]) for number in range(count))
    )


def _replies(bot: BotTester) -> list[Shown]:
    return [*bot.replies(by=ALICE), *bot.replies(by=BOB)]


async def test_all_requests_are_acknowledged_before_any_is_answered(
    inbox: Inbox, start_bot: StartBot
) -> None:
    bot = await start_held(start_bot, inbox)
    await _all_type(bot, HOW_MANY)
    assert (len(inbox), _replies(bot)) == (HOW_MANY, [])
    assert await inbox.drain(30) == 0
    assert len(_replies(bot)) == HOW_MANY


async def test_a_click_is_acknowledged_before_it_is_handled(
    inbox: Inbox, start_bot: StartBot
) -> None:
    bot = await start_held(start_bot, inbox)
    await bot.type("/mq status")
    await inbox.drain(30)
    (status,) = bot.replies()
    await bot.click(status, "Refresh")
    assert len(inbox) == 1
    bot.pause_elsewhere("deploying")
    await inbox.drain(30)
    assert "deploying" in (bot.now(status) or status)


async def test_form_errors_appear_at_their_field(inbox: Inbox, start_bot: StartBot) -> None:
    bot = await start_held(start_bot, inbox)
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
    bot = await start_held(start_bot, inbox)
    await _all_type(bot, 20)
    await bot.stop_bot()
    assert (len(inbox), len(_replies(bot))) == (0, 20)


async def test_people_without_an_answer_are_notified_when_the_bot_stops(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(every=replace(HURRIED, drain=0.2))
    asked = Fault("slow", path="/status", times=None, seconds=30)
    bot.merge_queue.faults.arm(asked)
    await bot.type("/mq status")
    await until(lambda: asked.hits, "the service asked")
    await bot.stop_bot()
    (notice,) = bot.replies()
    assert "I'm restarting" in notice
    assert "Try again" in notice.labels
    bot.fix_service()


async def test_everybody_gets_an_answer_when_too_many_requests_come(start_bot: StartBot) -> None:
    """People beyond the capacity are notified; the others are answered."""
    inbox = HeldInbox(2)
    bot = await start_held(start_bot, inbox)
    await asyncio.gather(bot.type("/mq help"), bot.type("/mq help"))
    answer = await bot.slack.people.command(BOB, MERGE_QUEUE, "/mq help")
    assert answer["ack_text"] == BUSY
    await inbox.drain(30)
    assert [len(bot.replies(by=who)) for who in (ALICE, BOB)] == [2, 1]
    await bot.type("/mq help", by=BOB)
    await inbox.drain(30)
    assert len(bot.replies(by=BOB)) == 2


async def test_the_person_is_notified_when_a_handler_fails(start_bot: StartBot) -> None:
    inbox = FailingInbox()
    bot = await start_bot(open_inbox=lambda: inbox, expected_errors={"defect"})
    status = await bot.ask("/mq status")
    inbox.fails_next = True
    failed = await bot.ask("/mq status")
    assert "Something went wrong on my side" in failed
    inbox.fails_next = True
    await bot.click(status, "Refresh", by=ALICE)
    await bot.wait_for_reply("Something went wrong on my side")


async def test_one_person_cannot_block_others(start_bot: StartBot) -> None:
    bot = await start_bot()
    typed = (bot.slack.people.command(ALICE, MERGE_QUEUE, "/mq help") for _ in range(200))
    answers = await asyncio.gather(*typed)
    refused = [answer for answer in answers if answer.get("ack_text") == TOO_FAST]
    assert len(refused) >= 100
    await bot.ask("/mq help", by=BOB)
    taken = len(answers) - len(refused)
    await until(
        lambda: sum(TOO_FAST not in reply for reply in bot.replies()) == taken, "the answers"
    )
    assert len(bot.calls("response_url")) <= taken + 1


async def by_command(bot: BotTester) -> None:
    answer = await bot.slack.people.command(ALICE, MERGE_QUEUE, "/mq pause now CI is down")
    assert answer["ack_text"] == TOO_FAST


async def by_mention(bot: BotTester) -> None:
    bot.slack.people.message(ALICE, MERGE_QUEUE, "@merge-queue pause now CI is down")


async def by_direct_message(bot: BotTester) -> None:
    installation = bot.slack.installation
    direct = installation.workspace.direct_channel(installation.bot_user_id, ALICE)
    bot.slack.people.message(ALICE, direct.id, "pause now CI is down")


async def by_home_tab(bot: BotTester) -> None:
    await bot.open_home()


@pytest.mark.parametrize("ask", [by_command, by_mention, by_direct_message, by_home_tab])
async def test_one_budget_counts_whatever_the_way_in(
    start_bot: StartBot, ask: Callable[[BotTester], Awaitable[None]]
) -> None:
    bot = await start_bot(pace=admitted(1))
    await bot.ask("/mq help")
    for _ in range(3):
        await ask(bot)
    await until(lambda: "person_too_fast" in bot.log.actions(), "a warning in the log")
    if ask is by_command:
        assert len(bot.replies()) == 1 + 3
    else:
        await bot.wait_for_direct_message(TOO_FAST[:30])
    assert bot.log.actions().count("person_too_fast") == 1
    assert bot.pause_reason() is None
    await bot.ask("/mq help", by=BOB)


async def test_a_form_sent_too_fast_stays_open(start_bot: StartBot) -> None:
    bot = await start_bot(pace=admitted(2))
    status = await bot.ask("/mq status")
    await bot.click(status, "Pause queue…")
    form = await bot.modal("0 queued")
    for _ in range(3):
        answer = await bot.submit(form, reason="CI is down")
        assert answer["errors"] == {"reason": TOO_FAST}
    assert bot.pause_reason() is None


async def test_refused_mentions_leave_one_short_row(start_bot: StartBot) -> None:
    """Of a member who may not pause; of people outside nothing at all is stored."""
    two = {"acme/site": "quiet", "acme/api": "quiet"}
    bot = await start_bot(environment={"MQBOT_WHO_MAY_PAUSE": BOB}, repositories=two)
    for number in range(8):
        text = f"pause now all {number} " + "x" * 3900
        bot.slack.people.message(ALICE, MERGE_QUEUE, f"@merge-queue {text}")
        await bot.wait_for_reply("Only bob can pause a queue.")
    refused = [act for act in await acts(bot) if act.result is ActResult.REFUSED]
    assert sum(one.times for one in refused) == 8
    assert len(refused) <= 2
    assert all(len(one.reason or "") <= REASON_LIMIT for one in refused)
    assert "refused, " in await bot.ask("/mq audit")


async def test_a_person_who_clicks_too_fast_is_warned_once(start_bot: StartBot) -> None:
    bot = await start_bot(pace=admitted(1))
    status = await bot.ask("/mq status")
    reads = len(bot.requests("/merge-queue/pause"))
    for _ in range(3):
        await bot.click(status, "Refresh")
    await bot.wait_for_reply(TOO_FAST[:30])
    await bot.ask("/mq help", by=BOB)
    assert len(bot.requests("/merge-queue/pause")) == reads
