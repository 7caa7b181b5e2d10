"""Whichever way somebody asks, a kill leaves nobody without an answer."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.bot_process import ProcessTester
from tests.support.bot_tester import ALICE, BOB, MERGE_QUEUE
from tests.support.shown import Blocks, Shown, ShownView
from tests.support.waiting import until

pytestmark = pytest.mark.e2e

PAUSE = "/merge-queue/pause"

StartProcess = Callable[..., Awaitable[ProcessTester]]
Ask = Callable[[ProcessTester, Blocks | None], Awaitable[None]]
Open = Callable[[ProcessTester], Awaitable[Blocks | None]]


@pytest.fixture
async def start_process(tmp_path: Path) -> AsyncIterator[StartProcess]:
    async with AsyncExitStack() as stack:

        async def start(policy: str = "") -> ProcessTester:
            settings = tmp_path / "mqbot.toml"
            settings.write_text(policy)
            tester = ProcessTester(
                f"sqlite:///{tmp_path / 'bot.sqlite3'}",
                folder=tmp_path,
                channels=f"acme/site={MERGE_QUEUE}:pause",
                environment={"MQBOT_POLL_SECONDS": "60", "MQBOT_CONFIG": str(settings)},
            )
            return await stack.enter_async_context(tester)

        yield start


async def form(bot: ProcessTester) -> Blocks | None:
    await bot.type("/mq pause")
    return await bot.modal("0 queued")


async def submit(bot: ProcessTester, shown: Blocks | None) -> None:
    assert isinstance(shown, ShownView)
    await bot.submit(shown, reason="CI is down")


async def card(bot: ProcessTester) -> Blocks | None:
    await bot.type("/mq pause 45m CI is down")
    shown = await bot.wait_for_post("is paused")
    return await bot.wait_for_change(shown, "0 queued")


async def resume(bot: ProcessTester, shown: Blocks | None) -> None:
    assert shown is not None
    await bot.click(shown, "Resume queue")


async def choose_end(bot: ProcessTester, shown: Blocks | None) -> None:
    assert shown is not None
    await bot.choose(shown, "1 h more", menu="Extend…")


async def type_end(bot: ProcessTester, _shown: Blocks | None) -> None:
    await bot.type("/mq extend 2h")


@dataclass(frozen=True)
class Way:
    """One way to ask, where the process dies, and what the person reads after the restart."""

    opens: Open
    ask: Ask
    method: str
    path: str
    told: str
    labels: tuple[str, ...] = ()


WAYS = {
    "form, before": Way(form, submit, "GET", PAUSE, "no queue was changed", ("Try again",)),
    "form, after": Way(form, submit, "PUT", PAUSE, "while pausing acme/site: acme/site is paused"),
    "button, before": Way(card, resume, "GET", PAUSE, "no queue was changed", ("Try again",)),
    "button, after": Way(
        card, resume, "DELETE", PAUSE, "while resuming acme/site: acme/site is not paused any more"
    ),
    "menu": Way(card, choose_end, "GET", PAUSE, "no queue was changed", ("Try again",)),
    "extend": Way(card, type_end, "GET", PAUSE, "no queue was changed", ("Try again",)),
}


async def restarted(bot: ProcessTester) -> None:
    """Killed and started again, once its leases are over."""
    await bot.kill_bot()
    await bot.start_bot()


@pytest.mark.parametrize("name", WAYS)
async def test_what_a_kill_cut_off_is_told_however_it_was_asked_for(
    start_process: StartProcess, name: str
) -> None:
    way = WAYS[name]
    bot = await start_process()
    shown = await way.opens(bot)
    death = bot.kill_when_service_has_answered(way.method, way.path)
    await way.ask(bot, shown)
    await until(death.is_set, "the process killed while it carries it out")
    await restarted(bot)
    answer = await bot.wait_for_direct_message("I was restarted")
    assert way.told in answer
    assert tuple(answer.labels) == way.labels
    if way.labels:
        await bot.click(answer, way.labels[0])
        await until(lambda: _is_repeated(bot, name, shown), "the same request, by the button")
    await bot.next_poll()
    bot.posts()
    bot.replies()
    bot.replies(channel=answer.channel)
    bot.direct_messages(by=ALICE)


def _is_repeated(bot: ProcessTester, name: str, shown: Blocks | None) -> bool:
    if name.startswith("form"):
        return bot.pause_reason() is not None
    if name.startswith("button"):
        return bot.pause_reason() is None
    assert isinstance(shown, Shown)
    return any("changed the end" in reply for reply in bot.thread(shown))


async def test_a_first_person_whose_answer_a_kill_cut_off_reads_that_a_second_has_to_confirm(
    start_process: StartProcess,
) -> None:
    bot = await start_process('[MQBOT_POLICY."acme/site"]\nsecond_person = true\n')
    shown = await card(bot)
    assert shown is not None
    death = bot.kill_when_slack_has_posted()
    await bot.click(shown, "Resume queue", by=BOB)
    await until(death.is_set, "the process killed as it asks for a second person")
    await restarted(bot)
    answer = await bot.wait_for_direct_message("I was restarted", by=BOB)
    assert "acme/site is still paused. A second person has to confirm" in answer
    assert answer.labels == []
    await bot.stop_bot()
    bot.posts()
    bot.replies(by=BOB)
    bot.direct_messages(by=BOB)
    bot.direct_messages(by=ALICE)
