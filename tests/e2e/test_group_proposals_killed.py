"""A kill while a person approves what a machine proposes for a group: each queue once, and told."""

from dataclasses import dataclass

import pytest

from tests.e2e.test_freezes_by_people import frozen
from tests.e2e.test_machines_propose_groups import states
from tests.e2e.test_proposals_killed import StartProcess, ask, start_process
from tests.support.bot_process import ProcessTester
from tests.support.bot_tester import BOB, CAROL, MERGE_QUEUE
from tests.support.shown import Blocks, Shown
from tests.support.waiting import until

pytestmark = pytest.mark.e2e

__all__ = ["start_process"]

SITE = "acme/site"
API = "acme/api"
BOTH = (SITE, API)
PAUSE = "/merge-queue/pause"
FREEZE = "/scheduled_freeze"
OPEN = {SITE: "open", API: "open"}
DONE = {SITE: "confirmed", API: "confirmed"}
SITE_DONE = {SITE: "confirmed", API: "open"}
AN_HOUR = 3600.0


@dataclass(frozen=True)
class Kill:
    """When the process dies, and what is done by then."""

    method: str
    path: str
    done: int
    times: int = 1


BEFORE = Kill("GET", PAUSE, done=0)
BETWEEN = Kill("PUT", f"{SITE}{PAUSE}", done=1)
AFTER = Kill("PUT", PAUSE, done=2, times=2)
KILLS = {"before": BEFORE, "between": BETWEEN, "after": AFTER}
STATES = {0: OPEN, 1: SITE_DONE, 2: DONE}


async def start(start_process: StartProcess) -> ProcessTester:
    return await start_process(
        policy='[MQBOT_POLICY."@release".approval.ai-agent]\n',
        channels=";".join(f"{name}={MERGE_QUEUE}:pause,freeze" for name in BOTH),
        environment={"MQBOT_GROUPS": f"release={SITE},{API}"},
        repositories=dict.fromkeys(BOTH, "quiet"),
    )


async def propose(bot: ProcessTester, what: str = "pause", **asked: str) -> tuple[str, Shown]:
    """The address of the outcome, and the one request in the channel."""
    wanted = {"target": "@release", "reason": "releasing", **asked}
    status, answer = await ask(bot, "POST", f"/api/v1/{what}", wanted)
    assert (status, states(answer)) == (202, OPEN)
    return answer["outcome"], await bot.wait_for_post("ai-agent proposes to")


async def approve_until(bot: ProcessTester, kill: Kill, shown: Blocks) -> None:
    """Approve as Bob, and start the bot again once the kill has struck."""
    if kill.done == 1:
        # The second queue waits until then.
        bot.break_service("slow", path=f"/{API}/", seconds=AN_HOUR)
    death = bot.kill_when_service_has_answered(kill.method, kill.path, times=kill.times)
    await bot.click(shown, "Approve", by=BOB)
    await until(death.is_set, "the process killed while it carries out what Bob approved")
    bot.fix_service()
    await bot.restart_bot()


async def became(bot: ProcessTester, address: str, wanted: dict[str, str]) -> None:
    """Whether the outcome by id is true for each repository."""
    status, outcome = await ask(bot, "GET", address)
    assert states(outcome) == wanted
    assert status == (200 if wanted == DONE else 202)


def is_paused_once(bot: ProcessTester) -> None:
    for name in BOTH:
        assert [event.type for event in bot.events(name)] == ["queue.pause.create"]
        sent = bot.requests(f"{name}{PAUSE}")
        assert sum(line.startswith("PUT") for line in sent) == 1


@pytest.mark.parametrize("name", KILLS)
async def test_after_a_kill_what_is_left_of_a_group_is_tried_again(
    start_process: StartProcess, name: str
) -> None:
    kill = KILLS[name]
    bot = await start(start_process)
    address, request = await propose(bot)
    await approve_until(bot, kill, request)
    if kill.done:
        await bot.wait_for_post(f"*@release: {kill.done} of 2 queues paused*")
    if kill is not AFTER:
        left = 2 - kill.done
        told = f"@release: {kill.done} of 2 queues paused"
        notice = await bot.wait_for_direct_message(told, by=BOB)
        assert notice.labels == ["Retry the rest"]
        await became(bot, address, STATES[kill.done])
        await bot.click(notice, "Retry the rest", by=BOB)
        await bot.wait_for_post(f"@release: {left} of {left} queue")
        await bot.wait_for_direct_message(f"@release: {left} of {left} queue", by=BOB)
    await is_settled(bot, address, request)


async def is_settled(bot: ProcessTester, address: str, request: Shown) -> None:
    settled = await bot.wait_for_change(request, "*bob approved it.*")
    assert settled.labels == []
    await became(bot, address, DONE)
    await bot.click(request, "Approve", by=CAROL)
    # The one who approved may still be waiting for the answer.
    assert "approved this" in await bot.wait_for_reply(by=CAROL)
    is_paused_once(bot)


async def test_after_a_kill_what_is_left_of_a_group_is_approved_by_another_person(
    start_process: StartProcess,
) -> None:
    bot = await start(start_process)
    address, request = await propose(bot)
    await approve_until(bot, BETWEEN, request)
    notice = await bot.wait_for_direct_message("@release: 1 of 2 queues paused", by=BOB)
    await bot.wait_for_post("*@release: 1 of 2 queues paused*")
    left = await bot.wait_for_change(request, "Done: acme/site")
    assert left.labels == ["Approve", "Refuse"]
    await bot.click(left, "Approve", by=CAROL)
    await bot.wait_for_post("*@release: 1 of 1 queue paused*")
    settled = await bot.wait_for_change(request, "approved it.*")
    assert settled.labels == []
    await became(bot, address, DONE)
    assert [bot.pause_reason(name) for name in BOTH] == [
        "releasing (by bob via Slack)",
        "releasing (by carol via Slack)",
    ]
    await bot.click(notice, "Retry the rest", by=BOB)
    assert "approved this" in await bot.wait_for_reply(by=BOB, channel=notice.channel)
    is_paused_once(bot)


async def test_after_a_kill_on_the_home_tab_the_approver_reads_what_is_left(
    start_process: StartProcess,
) -> None:
    bot = await start(start_process)
    address, request = await propose(bot)
    await bot.open_home(by=BOB)
    home = await bot.home("*Waits for you*", by=BOB)
    await approve_until(bot, BETWEEN, home)
    notice = await bot.wait_for_direct_message("@release: 1 of 2 queues paused", by=BOB)
    await bot.wait_for_post("*@release: 1 of 2 queues paused*")
    await became(bot, address, SITE_DONE)
    await bot.click(notice, "Retry the rest", by=BOB)
    await bot.wait_for_post("*@release: 1 of 1 queue paused*")
    await bot.wait_for_direct_message("@release: 1 of 1 queue paused", by=BOB)
    await is_settled(bot, address, request)


async def test_after_a_kill_each_queue_of_a_group_is_frozen_once(
    start_process: StartProcess,
) -> None:
    bot = await start(start_process)
    address, request = await propose(bot, "freeze", end="2h")
    await approve_until(bot, Kill("POST", f"{SITE}{FREEZE}", done=1), request)
    notice = await bot.wait_for_direct_message("@release: 1 of 2 queues frozen", by=BOB)
    await bot.wait_for_post("@release: 1 of 2 queues frozen")
    await became(bot, address, SITE_DONE)
    await bot.click(notice, "Retry the rest", by=BOB)
    await bot.wait_for_post("@release: 1 of 1 queue frozen")
    await bot.wait_for_direct_message("@release: 1 of 1 queue frozen", by=BOB)
    await bot.wait_for_change(request, "*bob approved it.*")
    await became(bot, address, DONE)
    assert [len(frozen(bot, name)) for name in BOTH] == [1, 1]
    # The request, and a card of each part: none of each queue.
    await polled_twice(bot)
    assert len(bot.posts()) == 3


async def polled_twice(bot: ProcessTester) -> None:
    """The events that the first poll reads are stored before the second one."""
    for name in (*BOTH, *BOTH):
        await bot.next_poll(name)


async def test_a_group_whose_freezing_was_killed_at_its_end_has_one_card_until_it_ends(
    start_process: StartProcess,
) -> None:
    bot = await start(start_process)
    death = bot.kill_when_service_has_answered("POST", FREEZE, times=2)
    await bot.type("/mq freeze now @release 2h cutting 4.2")
    await until(death.is_set, "the process killed once both queues are frozen")
    await bot.restart_bot()

    card = await bot.wait_for_post("@release: ")
    card = await bot.wait_for_change(card, "*2 frozen:* acme/site, acme/api")
    assert ":snowflake: *@release: 2 of 2 queues frozen* · cutting 4.2" in card
    await polled_twice(bot)
    assert len(bot.posts()) == 1

    await bot.type("/mq unfreeze @release 4.2 is out", by=BOB)
    await bot.wait_in_thread(card, "@release: 2 of 2 queues unfrozen")
    await bot.wait_for_change(card, "*@release was frozen*")
    await polled_twice(bot)
    assert len(bot.posts()) == 2
