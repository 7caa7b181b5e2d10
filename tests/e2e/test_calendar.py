"""The calendar in the Home tab: freezes and recurring windows, skipped, moved, extended, ended."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.acts.record import Action
from bot.sandbox.merge_queue.controls import FreezeTerms
from bot.sandbox.merge_queue.faults import Fault
from bot.sandbox.merge_queue.simulation.moments import to_datetime
from bot.sandbox.merge_queue.simulation.state import Freeze
from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.e2e.test_who_may_act import acts
from tests.e2e.test_windows import begin
from tests.support.bot_tester import ALICE, BOB, MERGE_QUEUE, BotTester
from tests.support.shown import ShownView
from tests.support.waiting import until

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]

HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)


@pytest.fixture
async def bot(start_bot: StartBot) -> BotTester:
    return await start_bot(channels=f"acme/site={MERGE_QUEUE}:pause,freeze")


def frozen(bot: BotTester) -> list[Freeze]:
    """The freezes that the service has."""
    return list(bot.merge_queue.repository("acme/site").freezes)


async def open_calendar(bot: BotTester, containing: str, *, by: str = ALICE) -> ShownView:
    await bot.click(await bot.see_home_with_freezes("Merge queues", by=by), "Open calendar", by=by)
    return await bot.home(containing, by=by, without="Merge queues")


async def plan(bot: BotTester, reason: str, *, after: timedelta = 5 * HOUR) -> datetime:
    """A freeze of two hours, made on the dashboard; return when it begins."""
    begins = bot.clock.now().replace(microsecond=0) + after
    bot.merge_queue.freeze("acme/site", FreezeTerms(reason, begins, begins + 2 * HOUR))
    await bot.wait_for_post(" is planned*")
    await bot.next_poll()
    return begins


async def test_a_planned_freeze_is_moved_and_two_people_move_it_once(bot: BotTester) -> None:
    begins = await plan(bot, "cutting 4.3")
    page = await open_calendar(bot, "acme/site*: cutting 4.3")
    assert "*Planned*, starts" in page
    assert page.labels == ["Back to Home", "Plan a freeze…", "Cancel…", "Move…"]
    theirs = await open_calendar(bot, "cutting 4.3", by=BOB)
    await bot.click(page, "Move…")
    form = await bot.modal("Starts")
    await bot.click(theirs, "Move…", by=BOB)
    other_form = await bot.modal("Starts", by=BOB)

    refused = await bot.submit(form, start_at=begins, end_at=begins)
    assert refused["errors"] == {"end_at": "Pick an end after the start."}
    refused = await bot.submit(form, start_at=bot.clock.now() - HOUR, end_at=begins)
    assert refused["errors"] == {"start_at": "Pick a time that is still to come."}
    await bot.submit(form, start_at=begins + HOUR, end_at=begins + 2 * HOUR)
    await bot.modal("The freeze of acme/site now holds from")
    (moved,) = frozen(bot)
    assert to_datetime(moved.start) == begins + HOUR
    assert moved.end is not None
    assert to_datetime(moved.end) == begins + 2 * HOUR

    await bot.submit(other_form, by=BOB, start_at=begins + 3 * HOUR, end_at=begins + 4 * HOUR)
    late = await bot.modal("somebody else has moved the freeze of acme/site", by=BOB)
    assert "Nothing was changed" in late
    assert frozen(bot) == [moved]
    await bot.wait_for_post("*Planned freeze changed*")
    audit = await bot.ask("/mq audit")
    assert "alice* " in audit


async def test_what_is_gone_or_has_begun_cannot_be_moved(bot: BotTester) -> None:
    begins = await plan(bot, "cutting 4.3", after=HOUR)
    page = await open_calendar(bot, "cutting 4.3")
    await bot.click(page, "Move…")
    form = await bot.modal("Starts")
    await bot.pass_time(2 * 3600 - 1800)
    await bot.wait_for_post("*Merging is frozen*")
    await bot.submit(form, start_at=begins + 5 * HOUR, end_at=begins + 6 * HOUR)
    await bot.modal("the freeze of acme/site has begun, so it can't be moved")

    (freeze,) = frozen(bot)
    bot.merge_queue.unfreeze("acme/site", freeze.id)
    await bot.wait_for_post("*Freeze ended*")
    await bot.click(page, "Move…")
    await bot.modal("That time of acme/site isn't planned any more")


async def test_a_freeze_in_force_is_extended_and_ended_from_the_calendar(bot: BotTester) -> None:
    await bot.type("/mq freeze 1h cutting 4.2")
    await bot.wait_for_reply("acme/site is frozen from")
    await bot.wait_for_post("is frozen*")
    page = await open_calendar(bot, "*In force*, ends")
    assert page.labels[2:] == ["End now…", "Extend…"]
    (before,) = frozen(bot)
    await bot.choose(page, "1 h more", menu="Extend…")
    await bot.wait_for_direct_message("now holds")
    await bot.wait_for_post("*Freeze changed*")
    (extended,) = frozen(bot)
    assert extended.end is not None
    assert before.end is not None
    assert to_datetime(extended.end) - to_datetime(before.end) == HOUR
    # Each of two people is asked why, and the second one sees that it is over.
    for person in (ALICE, BOB):
        page = await open_calendar(bot, "*In force*, ends", by=person)
        await bot.click(page, "End now…", by=person)
    for person in (ALICE, BOB):
        form = await bot.modal("Saved with your name", by=person)
        await bot.submit(form, reason="4.2 is out", by=person)
        if person == ALICE:
            await bot.modal("has ended")
    assert "alice ended it" in await bot.modal("That freeze of acme/site is over", by=BOB)
    await bot.wait_for_post("*Freeze ended*")
    await bot.next_poll()
    await open_calendar(bot, "No freeze is in force or planned")


async def test_overlapping_freezes_are_said_plainly(bot: BotTester) -> None:
    await plan(bot, "cutting 4.3")
    begins = bot.clock.now() + 6 * HOUR
    bot.merge_queue.freeze("acme/site", FreezeTerms("migration", begins, begins + HOUR))
    await bot.wait_for_post("migration")
    await bot.next_poll()
    page = await open_calendar(bot, "migration")
    assert "Overlaps with “migration”: merging starts again once all are over" in page
    assert "Overlaps with “cutting 4.3”: merging starts again once all are over" in page


async def test_an_occurrence_of_a_window_is_skipped_once_by_two_people(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await begin(start_bot, tmp_path)
    page = await open_calendar(bot, "By window night")
    assert page.labels[2:] == ["Skip", "Move…"] * 2
    theirs = await open_calendar(bot, "By window night", by=BOB)
    await bot.click(page, "Skip")
    skipped = await bot.wait_for_post("*Skipped this time* acme/site: No merges at night")
    assert "by alice" in skipped
    page = await bot.home("*Skipped this time*, was planned from")
    assert page.labels[2:] == ["Skip", "Move…"]
    await bot.click(theirs, "Skip", by=BOB)
    await bot.wait_for_direct_message("alice skipped this time of acme/site", by=BOB)
    await bot.pass_time(1.75 * 3600)
    await bot.next_poll()
    assert frozen(bot) == []
    assert [act.action for act in await acts(bot)] == [Action.SKIP]


async def test_an_occurrence_of_a_window_is_moved_this_time_only(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await begin(start_bot, tmp_path)
    page = await open_calendar(bot, "By window night")
    await bot.click(page, "Move…")
    form = await bot.modal("takes the place of this one time only")
    begins = datetime.now(UTC).replace(microsecond=0) + 3 * HOUR
    await bot.submit(form, start_at=begins, end_at=begins + HOUR)
    await bot.modal("It takes the place of the recurring one this time")
    await bot.wait_for_post("*A freeze of acme/site is planned* · No merges at night")
    await bot.wait_for_post("*Skipped this time* acme/site: No merges at night")
    (made,) = frozen(bot)
    assert abs(to_datetime(made.start) - begins) < SECOND
    assert made.reason == "No merges at night (by alice via Slack)"
    await bot.click(page, "Move…", by=ALICE)
    await bot.wait_for_direct_message("That time of acme/site isn't planned any more")
    await bot.pass_time(1.75 * 3600)
    await bot.next_poll()
    assert frozen(bot) == [made]
    bot.posts()


async def test_who_moves_an_occurrence_that_another_skips_meanwhile_reads_that_both_are_done(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await begin(start_bot, tmp_path)
    page = await open_calendar(bot, "By window night")
    theirs = await open_calendar(bot, "By window night", by=BOB)
    await bot.click(page, "Move…")
    form = await bot.modal("takes the place of this one time only")
    begins = bot.clock.now().replace(microsecond=0) + 3 * HOUR
    slow = Fault("slow", path="/scheduled_freeze", method="POST", seconds=3.0)
    bot.merge_queue.faults.arm(slow)
    await bot.submit(form, start_at=begins, end_at=begins + HOUR)
    await until(lambda: slow.hits, "the freeze is being made")
    await bot.click(theirs, "Skip", by=BOB)
    await bot.wait_for_post("*Skipped this time* acme/site: No merges at night")
    moved = await bot.modal("A freeze of acme/site is planned")
    assert "bob skipped the recurring one" in moved
    assert "Nothing was changed" not in moved
    assert len(frozen(bot)) == 1
    await bot.wait_for_post("*A freeze of acme/site is planned* · No merges at night")


async def test_an_occurrence_is_moved_only_by_people_who_may_skip_it_too(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await begin(start_bot, tmp_path)
    page = await open_calendar(bot, "By window night", by=BOB)
    await bot.click(page, "Move…", by=BOB)
    form = await bot.modal("Starts", by=BOB)
    await bot.stop_bot()
    rights = {"MQBOT_WHO_MAY_PAUSE": ALICE, "MQBOT_WHO_MAY_FREEZE": f"{ALICE}, {BOB}"}
    bot.environment = {**bot.environment, **rights}
    await bot.start_bot()
    begins = bot.clock.now().replace(microsecond=0) + 3 * HOUR
    await bot.submit(form, by=BOB, start_at=begins, end_at=begins + HOUR)
    await bot.modal("Only alice can pause a queue", by=BOB)
    assert frozen(bot) == []

    await bot.click(page, "Move…", by=BOB)
    await bot.wait_for_direct_message("Only alice can pause a queue", by=BOB)
    await bot.see_home("Merge queues", by=BOB)
    page = await open_calendar(bot, "By window night", by=BOB)
    assert page.labels == ["Back to Home", "Plan a freeze…"]


async def test_whose_right_to_freeze_ended_moves_nothing(bot: BotTester) -> None:
    begins = await plan(bot, "cutting 4.3")
    page = await open_calendar(bot, "cutting 4.3", by=BOB)
    await bot.click(page, "Move…", by=BOB)
    form = await bot.modal("Starts", by=BOB)
    before = frozen(bot)
    await bot.stop_bot()
    bot.environment = {"MQBOT_WHO_MAY_FREEZE": ALICE}
    await bot.start_bot()
    await bot.submit(form, by=BOB, start_at=begins + HOUR, end_at=begins + 2 * HOUR)
    await bot.modal("Only alice can freeze a queue", by=BOB)
    assert frozen(bot) == before
    page = await open_calendar_of_reader(bot)
    assert page.labels == ["Back to Home"]


async def open_calendar_of_reader(bot: BotTester) -> ShownView:
    await bot.click(await bot.see_home("Merge queues", by=BOB), "Open calendar", by=BOB)
    return await bot.home("cutting 4.3", by=BOB, without="Merge queues")
