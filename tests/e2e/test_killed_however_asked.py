"""Whichever way somebody asks, a kill leaves nobody without an answer."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.sandbox.merge_queue.controls import FreezeTerms
from bot.sandbox.merge_queue.simulation.moments import to_datetime
from tests.support.at_rest import is_at_rest
from tests.support.bot_process import MqbotProcess, ProcessTester
from tests.support.bot_tester import ALICE, BOB, CAROL, MERGE_QUEUE
from tests.support.databases import sqlite_copy
from tests.support.shown import Blocks, Shown, ShownView
from tests.support.waiting import until

pytestmark = pytest.mark.e2e

HOUR = timedelta(hours=1)
PAUSE = "/merge-queue/pause"
FREEZE = "/scheduled_freeze"

StartProcess = Callable[..., Awaitable[ProcessTester]]
Shell = Callable[..., Awaitable[MqbotProcess]]
Ask = Callable[[ProcessTester, Blocks | None], Awaitable[None]]
Open = Callable[[ProcessTester], Awaitable[Blocks | None]]


@pytest.fixture
async def start_process(tmp_path: Path, sqlite_template: Path) -> AsyncIterator[StartProcess]:
    async with AsyncExitStack() as stack:

        async def start(policy: str = "", **environment: str) -> ProcessTester:
            settings = tmp_path / "mqbot.toml"
            settings.write_text(policy)
            common = {"MQBOT_POLL_SECONDS": "60", "MQBOT_CONFIG": str(settings)}
            tester = ProcessTester(
                sqlite_copy(sqlite_template, tmp_path),
                folder=tmp_path,
                channels=f"acme/site={MERGE_QUEUE}:pause",
                environment={**common, **environment},
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


async def freeze_form(bot: ProcessTester) -> Blocks | None:
    await bot.type("/mq freeze")
    return await bot.modal("0 queued")


async def submit_end(bot: ProcessTester, shown: Blocks | None) -> None:
    assert isinstance(shown, ShownView)
    await bot.submit(shown, reason="CI is down", end="2h")


async def unfreeze_form(bot: ProcessTester) -> Blocks | None:
    await bot.type("/mq freeze 2h release day")
    await bot.wait_for_reply("is frozen from")
    # No poll reads the freezes later, for their events.
    await bot.wait_for_post("release day")
    await bot.type("/mq unfreeze")
    return await bot.modal("In force: release day")


async def move_form(bot: ProcessTester) -> Blocks | None:
    start = datetime.now(UTC).replace(microsecond=0) + 5 * HOUR
    bot.merge_queue.freeze("acme/site", FreezeTerms("release day", start, start + HOUR))
    await bot.next_poll()
    home = await bot.see_home_with_freezes("Merge queues")
    await bot.click(home, "Open calendar")
    await bot.click(await bot.home("release day", without="Merge queues"), "Move…")
    return await bot.modal("Starts")


async def submit_move(bot: ProcessTester, shown: Blocks | None) -> None:
    """An hour later, and as long."""
    assert isinstance(shown, ShownView)
    start = _start(bot) + HOUR
    await bot.submit(shown, start_at=start, end_at=start + HOUR)


def _start(bot: ProcessTester) -> datetime:
    (freeze,) = bot.merge_queue.repository("acme/site").freezes
    return to_datetime(freeze.start)


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
    "freeze form, before": Way(
        freeze_form, submit_end, "GET", FREEZE, "no queue was changed", ("Try again",)
    ),
    "freeze form, after": Way(
        freeze_form, submit_end, "POST", FREEZE, "while freezing acme/site: acme/site is frozen"
    ),
    "unfreeze form, before": Way(
        unfreeze_form, submit, "GET", FREEZE, "no queue was changed", ("Try again",)
    ),
    "unfreeze form, after": Way(
        unfreeze_form,
        submit,
        "POST",
        "/delete",
        "while unfreezing acme/site: the freeze of acme/site has ended",
    ),
    "move form, before": Way(
        move_form, submit_move, "GET", FREEZE, "no queue was changed", ("Try again",)
    ),
    "move form, after": Way(
        move_form,
        submit_move,
        "PATCH",
        FREEZE,
        "moving the planned freeze of acme/site: the planned freeze of acme/site has its new times",
    ),
}


@pytest.mark.parametrize("name", WAYS)
async def test_what_a_kill_cut_off_is_told_however_it_was_asked_for(
    start_process: StartProcess, name: str
) -> None:
    way = WAYS[name]
    bot = await start_process()
    shown = await way.opens(bot)
    await until(lambda: is_at_rest(bot.database_url), "the answer to what opened it")
    death = bot.kill_when_service_has_answered(way.method, way.path)
    await way.ask(bot, shown)
    await until(death.is_set, "the process killed while it carries it out")
    await bot.restart_bot()
    answer = await bot.wait_for_direct_message("I was restarted")
    assert way.told in answer
    assert tuple(answer.labels) == way.labels
    if way.labels:
        await bot.click(answer, way.labels[0])
        await until(lambda: _is_repeated(bot, name, shown), "the same request, by the button")
    await bot.next_poll()
    await bot.stop_bot()
    bot.posts()
    bot.replies()
    bot.replies(channel=answer.channel)
    bot.direct_messages(by=ALICE)


def _is_repeated(bot: ProcessTester, name: str, shown: Blocks | None) -> bool:
    if name.startswith("form"):
        return bot.pause_reason() is not None
    if name.startswith(("freeze", "unfreeze")):
        is_frozen = bool(bot.merge_queue.repository("acme/site").freezes)
        return is_frozen is name.startswith("freeze")
    if name.startswith("move"):
        return _start(bot) > datetime.now(UTC) + 5 * HOUR
    if name.startswith("button"):
        return bot.pause_reason() is None
    assert isinstance(shown, Shown)
    return any("changed the end" in reply for reply in bot.thread(shown))


NO_LATER_POLL = {"MQBOT_POLL_SECONDS": "1000"}
"""The one with which the bot starts is over before anything is asked for."""

TWO_PEOPLE = '[MQBOT_POLICY."acme/site"]\nsecond_person = true\n'


async def test_a_first_person_whose_answer_a_kill_cut_off_reads_that_a_second_has_to_confirm(
    start_process: StartProcess,
) -> None:
    bot = await start_process(TWO_PEOPLE)
    shown = await card(bot)
    assert shown is not None
    death = bot.kill_when_slack_has_posted()
    await bot.click(shown, "Resume queue", by=BOB)
    await until(death.is_set, "the process killed as it asks for a second person")
    await bot.restart_bot()
    answer = await bot.wait_for_direct_message("I was restarted", by=BOB)
    assert "acme/site is still paused. A second person has to confirm" in answer
    assert answer.labels == []
    await bot.stop_bot()
    bot.posts()
    bot.replies(by=BOB)
    bot.direct_messages(by=BOB)
    bot.direct_messages(by=ALICE)


@pytest.mark.parametrize("carried_out", [True, False])
async def test_a_second_person_whose_press_a_kill_cut_off_reads_what_became_of_it(
    start_process: StartProcess, *, carried_out: bool
) -> None:
    bot = await start_process(TWO_PEOPLE, **NO_LATER_POLL)
    # No later poll would complete a card whose queue could not be read in time.
    shown = await bot.pause("45m CI is down")
    await bot.click(shown, "Resume queue", by=BOB)
    await bot.wait_for_reply("a second person has to confirm", by=BOB)
    request = await bot.wait_for_post("bob wants to resume")
    death = bot.kill_when_service_has_answered("DELETE" if carried_out else "GET", PAUSE)
    await bot.click(request, "Resume queue", by=CAROL)
    await until(death.is_set, "the process killed as the second person confirms")
    await bot.restart_bot()
    answer = await bot.wait_for_direct_message("I was restarted", by=CAROL)
    if carried_out:
        assert "while resuming acme/site: acme/site is not paused any more" in answer
        assert answer.labels == []
    else:
        assert "no queue was changed" in answer
        assert bot.pause_reason() is not None
        assert answer.labels == ["Try again"]
        await bot.click(answer, "Try again", by=CAROL)
    settled = await bot.wait_for_change(request, "bob asked for it, and carol confirmed")
    assert settled.labels == []
    await bot.wait_for_post("has resumed")
    await bot.wait_for_direct_message("carol resumed acme/site", by=ALICE)
    assert bot.pause_reason() is None
    await bot.stop_bot()
    bot.posts()
    bot.replies(by=CAROL)
    bot.direct_messages(by=CAROL)


REMOVED_BY_AUTHOR = f"""
    MQBOT_LOGINS = "{ALICE}=ana"
    [MQBOT_POLICY."acme/site"]
    who_may_remove = ["{CAROL}"]
"""


@pytest.mark.parametrize("carried_out", [True, False])
async def test_an_author_whose_removal_a_kill_cut_off_reads_what_became_of_it(
    start_process: StartProcess, *, carried_out: bool
) -> None:
    bot = await start_process(REMOVED_BY_AUTHOR, **NO_LATER_POLL)
    number = bot.enqueue(author="ana", hangs=True)
    await bot.happens("action.queue.enter", number)
    question = await bot.ask(f"/mq remove {number}")
    if carried_out:
        death = bot.kill_when_service_has_answered("POST", "/dequeue")
    else:
        death = bot.kill_when_service_has_answered("GET", "/merge-queue/status")
    await bot.click(question, "Remove")
    await until(death.is_set, "the process killed while it removes the pull request")
    await bot.restart_bot()
    answer = await bot.wait_for_direct_message("I was restarted")
    left = f"removing #{number} of acme/site from the queue: #{number} of acme/site has left"
    if carried_out:
        assert f"I was restarted while {left} the queue" in answer
        assert answer.labels == []
    else:
        assert "no queue was changed" in answer
        assert answer.labels == ["Try again"]
        await bot.click(answer, "Try again")
    await bot.happens("action.queue.leave", number)
    await bot.stop_bot()
    bot.posts()
    bot.replies()
    bot.replies(channel=answer.channel)
    bot.direct_messages(by=ALICE)


TOKEN = "d" * 24


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Run `mqbot` as a machine that knows the bot's address and a token."""
    count = 0

    async def run(bot: ProcessTester, *arguments: str) -> MqbotProcess:
        nonlocal count
        count += 1
        folder = tmp_path / f"shell {count}"
        folder.mkdir()
        opened = [record for record in bot.log_records() if record.get("action") == "health_open"]
        url = f"http://127.0.0.1:{opened[-1]['port']}"
        environ = {"MQBOT_URL": url, "MQBOT_TOKEN": TOKEN}
        return await MqbotProcess.start(*arguments, folder=folder, environ=environ)

    return run


PAUSED_BY_MACHINE = ("pause", "acme/site", "--reason", "deploying 4.2")
RESUMED_BY_MACHINE = ("resume", "acme/site")


@dataclass(frozen=True)
class MachineAct:
    """What a machine runs, where the bot dies, and what the machine reads from a bot restarted."""

    asked: tuple[str, ...]
    method: str
    status: str
    again: str  #: the answer to the same once more
    is_carried_out: bool = False


MACHINE_ACTS = {
    "pause, undone": MachineAct(
        PAUSED_BY_MACHINE, "PUT", "acme/site is running", "acme/site is paused"
    ),
    "pause, done": MachineAct(
        PAUSED_BY_MACHINE,
        "PUT",
        "By deploy-job",
        "already paused by deploy-job",
        is_carried_out=True,
    ),
    "resume, undone": MachineAct(RESUMED_BY_MACHINE, "DELETE", "By deploy-job", "has resumed"),
    "resume, done": MachineAct(
        RESUMED_BY_MACHINE,
        "DELETE",
        "acme/site is running",
        "is already running",
        is_carried_out=True,
    ),
}


@pytest.mark.parametrize("name", MACHINE_ACTS)
async def test_a_machine_whose_bot_is_killed_reads_that_nobody_can_tell_and_then_how_it_is(
    start_process: StartProcess, shell: Shell, name: str
) -> None:
    act = MACHINE_ACTS[name]
    machines = {"MQBOT_MACHINE_TOKENS": f"deploy-job={TOKEN}", "MQBOT_HEALTH_PORT": "0"}
    bot = await start_process("", **machines)
    if act.asked is RESUMED_BY_MACHINE:
        prepared = await shell(bot, *PAUSED_BY_MACHINE)
        assert await prepared.ends() == 0, prepared.complaints
    if not act.is_carried_out:
        bot.break_service("error", path=PAUSE, method=act.method, status=502, times=1)
    death = bot.kill_when_service_has_answered(act.method, PAUSE)
    cut_off = await shell(bot, *act.asked)
    await until(death.is_set, "the process killed while it carries it out")
    assert await cut_off.ends() == 3
    assert "the bot didn't answer" in cut_off.complaints
    assert "Check `mqbot status` before a retry." in cut_off.complaints
    await bot.restart_bot()
    status = await shell(bot, "status", "acme/site")
    assert await status.ends() == 0, status.complaints
    assert act.status in status.printed
    is_paused = act.asked is PAUSED_BY_MACHINE
    if act.is_carried_out:
        # By the log.
        await bot.wait_for_post("is paused" if is_paused else "has resumed")
    again = await shell(bot, *act.asked)
    assert await again.ends() == 0, again.complaints
    assert act.again in again.printed
    assert (bot.pause_reason() is not None) is is_paused
    if not act.is_carried_out:
        await bot.wait_for_post("is paused" if is_paused else "has resumed")
    await bot.stop_bot()
    bot.posts()
