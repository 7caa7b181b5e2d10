"""A timer that the service refuses: one record, rarer and rarer requests, and its person knows."""

from pathlib import Path

import pytest

from bot.acts.record import Action, AuditRecord
from bot.kernel.repository import RepositoryName
from bot.pauses.pause import Timer
from bot.pauses.rows import Pauses
from bot.store.engines import create_engine
from bot.store.transactions import Store
from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.e2e.test_auto_pause import paused, start
from tests.e2e.test_who_may_act import acts
from tests.support.bot_tester import ALICE, BOB, REPOSITORY, BotTester
from tests.support.transactions import begin
from tests.support.waiting import until_true

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]

MINUTE = 60
PAUSE = "/merge-queue/pause"


def asked(bot: BotTester) -> int:
    """How often the bot has tried to resume."""
    return len([request for request in bot.requests(PAUSE) if request.startswith("DELETE")])


async def resumes(bot: BotTester) -> list[AuditRecord]:
    return [act for act in await acts(bot) if act.action is Action.RESUME]


async def refused(bot: BotTester, status: int, method: str = "DELETE") -> None:
    """Alice's timer is due, and the service refuses."""
    await bot.pause("15m deploying 4.2")
    bot.break_service("error", path=PAUSE, method=method, status=status)
    await bot.pass_time(15 * MINUTE + 1)
    await bot.logged("timer_postponed")


@pytest.mark.parametrize("status", [401, 403, 404, 409, 422])
async def test_its_person_is_told_at_once_and_when_it_worked(bot: BotTester, status: int) -> None:
    if status == 401:
        bot.expected_errors.add("key_refused")
    await refused(bot, status)
    if status == 404:
        # Somebody else may have resumed just now, so it is asked twice.
        await bot.pass_time(16)
    told = await bot.wait_for_direct_message("couldn't resume acme/site", by=ALICE)
    assert str(status) in told
    assert "deploying 4.2" in told
    assert "still paused" in told
    bot.fix_service()
    await bot.pass_time(2 * MINUTE)
    await bot.wait_for_post("has resumed")
    await bot.wait_for_direct_message("acme/site has resumed", by=ALICE)
    assert len(bot.direct_messages(by=ALICE)) == 2


async def test_its_person_is_told_when_somebody_else_resumed(bot: BotTester) -> None:
    await refused(bot, 403)
    await bot.wait_for_direct_message("couldn't resume acme/site", by=ALICE)
    bot.fix_service()
    await bot.resume(by=BOB)
    await bot.wait_for_direct_message("bob resumed acme/site", by=ALICE)
    assert len(bot.direct_messages(by=ALICE)) == 2


async def test_the_one_who_set_the_end_is_told_and_not_only_the_one_who_paused(
    bot: BotTester,
) -> None:
    card = await bot.pause("deploying 4.2")
    await bot.choose(card, "in 15 min", menu="Set an end…", by=BOB)
    await bot.wait_in_thread(card, "changed the end")
    await bot.wait_for_direct_message("bob changed the end of your pause", by=ALICE)
    bot.break_service("error", path=PAUSE, method="DELETE", status=403)
    await bot.pass_time(15 * MINUTE + 1)
    await bot.wait_for_direct_message("couldn't resume acme/site", by=BOB)
    bot.fix_service()
    await bot.resume(by=ALICE)
    told = await bot.wait_for_direct_message("was resumed by alice", by=BOB)
    assert "asked to be notified" not in told
    assert len(bot.direct_messages(by=ALICE)) == 1


async def timer_after(bot: BotTester, failures: int) -> Timer:
    """The timer once it is stored that so many attempts have failed."""
    store = Store(create_engine(bot.database_url))
    found: list[Timer] = []

    async def has_failed() -> bool:
        with begin(store) as transaction:
            (pause,) = Pauses(transaction).open([RepositoryName(REPOSITORY)])
        assert pause.timer is not None
        found.append(pause.timer)
        return pause.timer.failures >= failures

    try:
        await until_true(has_failed, f"{failures} attempts")
    finally:
        await store.close()
    assert found[-1].failures == failures
    return found[-1]


async def test_a_new_reason_keeps_an_end_that_is_overdue(bot: BotTester) -> None:
    card = await bot.pause("15m deploying 4.2")
    bot.break_service("error", path=PAUSE, method="DELETE", status=403)
    await bot.pass_time(15 * MINUTE + 1)
    await bot.wait_for_direct_message("couldn't resume acme/site", by=ALICE)
    await bot.choose(card, "Change the reason…", menu="More actions", by=BOB)
    form = await bot.modal("acme/site", by=BOB)
    await bot.submit(form, by=BOB, reason="deploying 4.3")
    entry = await bot.wait_in_thread(card, "changed why")
    assert "should have resumed" in entry
    told = await bot.wait_for_direct_message("bob replaced your pause of acme/site", by=ALICE)
    assert "should have resumed" in told
    await bot.wait_for_direct_message("couldn't resume acme/site", by=BOB)
    bot.fix_service()
    await bot.pass_time(2 * MINUTE)
    await bot.wait_for_post("has resumed")
    await bot.wait_for_direct_message("acme/site has resumed", by=BOB)
    assert bot.pause_reason() is None


@pytest.mark.parametrize("status", [403, 404, 503])
async def test_it_asks_ever_more_slowly_and_leaves_one_record(bot: BotTester, status: int) -> None:
    await refused(bot, status)
    before = await resumes(bot)
    gaps = []
    for failures in range(1, 5):
        timer = await timer_after(bot, failures)
        assert timer.due_at is not None
        gap = (timer.due_at - bot.clock.now()).total_seconds()
        gaps.append(gap)
        if status != 503:
            tried = asked(bot)
            await bot.pass_time(gap - 5)
            gap = 5
            await bot.next_poll()
            assert asked(bot) == tried
        await bot.pass_time(gap)
    if status != 503:
        await bot.wait_for_direct_message("couldn't resume acme/site")
        assert gaps == sorted(gaps)
        assert gaps[-1] >= 4 * gaps[0]
    assert max(gaps) <= 60 * MINUTE
    await timer_after(bot, 5)
    assert await resumes(bot) == before
    bot.fix_service()
    await bot.pass_time(65 * MINUTE)
    await bot.wait_for_post("has resumed")
    if status != 503:
        await bot.wait_for_direct_message("acme/site has resumed")
    assert len(await resumes(bot)) == len(before) + 1


async def test_a_read_that_is_refused_counts_as_well(bot: BotTester) -> None:
    await refused(bot, 403, "GET")
    await bot.wait_for_direct_message("couldn't resume acme/site", by=ALICE)
    assert len(await resumes(bot)) == 1
    await bot.pass_time(2 * MINUTE)
    await bot.next_poll()
    assert len(await resumes(bot)) == 1
    bot.fix_service()
    await bot.pass_time(10 * MINUTE)
    await bot.wait_for_post("has resumed")
    await bot.wait_for_direct_message("acme/site has resumed, 12 min late")


async def test_the_timer_of_a_rule_says_so_in_the_thread_of_its_card(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start(start_bot, tmp_path)
    card = await paused(bot, 71, 72, 73)
    bot.break_service("error", path=PAUSE, method="DELETE", status=403)
    await bot.pass_time(20 * MINUTE + 1)
    told = await bot.wait_in_thread(card, "couldn't resume acme/site")
    assert "still paused" in told
    bot.fix_service()
    await bot.pass_time(2 * MINUTE)
    assert "late" in await bot.wait_for_post("has resumed*")
