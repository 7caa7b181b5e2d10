"""Ends as people type them: understood, asked about or refused, and never silently left out."""

from datetime import UTC, datetime, timedelta

import pytest

from bot.sandbox.merge_queue.simulation.moments import to_datetime
from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.support.bot_tester import BotTester
from tests.support.shown import ShownView

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]


def now(bot: BotTester) -> datetime:
    return bot.clock.now()


def in_minutes(bot: BotTester, minutes: int) -> str:
    """The time of day then, as somebody in UTC types it."""
    return typed_time(now(bot) + timedelta(minutes=minutes))


def typed_time(at: datetime) -> str:
    return f"{at:%H:%M} UTC"


async def test_what_begins_like_an_end_is_an_end_or_a_question(bot: BotTester) -> None:
    offered = []
    for typed in (
        "40m after the copy",
        "until we know more",
        "till the vendor answers",
        "until 5 tests pass",
        "EOD",
    ):
        question = await bot.ask(f"/mq pause now {typed}")
        assert "Pause acme/site until when?" in question
        assert question.labels[-2:] == ["Another time…", f"No end; the reason is “{typed}”"]
        offered.append(question.labels[0])
    assert offered[-1].startswith("Resume t")
    assert bot.pause_reason() is None
    card = await bot.pause("1½h release 4.2")
    assert "Until 20" in card
    assert bot.pause_reason() == "release 4.2 (by alice via Slack)"


async def test_an_end_behind_the_queues_name_without_its_owner_counts(bot: BotTester) -> None:
    for typed in ("site 45m CI is down", "the site queue for 45m CI is down"):
        card = await bot.pause(typed)
        assert "Until 20" in card
        assert bot.pause_reason() == "CI is down (by alice via Slack)"
        await bot.resume()


async def test_no_end_is_said_with_the_words_that_are_the_reason(bot: BotTester) -> None:
    question = await bot.ask("/mq pause until we know more")
    await bot.click(question, "No end; the reason is “until we know more”")
    card = await bot.wait_for_post("*acme/site is paused* · until we know more")
    assert "Until someone" in card


async def test_another_time_is_chosen_with_slacks_own_picker(bot: BotTester) -> None:
    question = await bot.ask("/mq pause until the vendor answers")
    await bot.click(question, "Another time…")
    form = await bot.modal("0 queued")
    await bot.wait_until_gone(question)
    end = now(bot).replace(second=0, microsecond=0) + timedelta(hours=50)
    answer = await bot.submit(form, reason="Vendor is down", end="2h", end_at=end)
    assert "not both" in str(answer["errors"])
    past = end - timedelta(hours=51)
    answer = await bot.submit(form, reason="Vendor is down", end="", end_at=past)
    assert "in the past" in str(answer["errors"])
    await bot.submit(form, reason="Vendor is down", end="", end_at=end)
    await bot.modal("is paused")
    card = await bot.wait_for_post("*acme/site is paused* · Vendor is down")
    assert f"{end:%Y-%m-%d %H:%M}" in card
    await bot.choose(card, "Another time…", menu="Extend…")
    later = end + timedelta(hours=1)
    await bot.submit(await bot.modal("Until when"), end_at=later)
    await bot.modal("resumes")
    await bot.wait_for_change(card, f"{later:%Y-%m-%d %H:%M}")


async def test_an_end_that_is_far_away_is_shown_with_its_date_first(bot: BotTester) -> None:
    day = now(bot) + timedelta(days=3)
    typed = f"until {day:%b} {day.day} 9:00 UTC"
    question = await bot.ask(f"/mq pause now {typed} release 4.2")
    assert f"Pause acme/site until {day:%Y-%m-%d} 09:00 UTC?" in question
    assert question.labels[1:] == ["Another time…", "Don't pause"]
    assert bot.pause_reason() is None
    await bot.click(question, question.labels[0])
    assert f"{day:%Y-%m-%d} 09:00" in await bot.wait_for_post("*acme/site is paused* · release")


async def test_a_form_with_a_far_end_shows_its_date_and_is_sent_again(bot: BotTester) -> None:
    day = now(bot) + timedelta(days=3)
    await bot.type("/mq pause")
    form = await bot.modal("0 queued")
    typed = f"{day:%A} 9am UTC"
    await bot.submit(form, reason="release 4.2", end=typed)
    again = await bot.modal(f"That's {day:%Y-%m-%d} 09:00 UTC")
    assert bot.pause_reason() is None
    await bot.submit(again, reason="release 4.2", end=typed)
    assert f"{day:%Y-%m-%d} 09:00" in await bot.wait_for_post("*acme/site is paused*")


async def test_a_question_answered_after_its_end_does_not_mean_the_next_day(
    bot: BotTester,
) -> None:
    bot.enqueue(hangs=True)
    await bot.checks_run(1)
    sure = await bot.ask(f"/mq pause until {in_minutes(bot, 5)} deploying")
    doubtful = await bot.ask(f"/mq pause deploying until {in_minutes(bot, 5)}")
    await bot.pass_time(6 * 60)
    for question, label in ((sure, "Pause queue"), (doubtful, doubtful.labels[0])):
        await bot.click(question, label)
        assert "That time is in the past" in await bot.wait_for_reply()
    assert bot.pause_reason() is None


async def test_a_time_that_has_just_passed_is_asked_about(bot: BotTester) -> None:
    passed = now(bot) - timedelta(minutes=5)
    question = await bot.ask(f"/mq pause now until {typed_time(passed)} deploying")
    assert f"Pause acme/site until {passed + timedelta(days=1):%Y-%m-%d}" in question
    assert bot.pause_reason() is None


async def test_a_freeze_asks_for_its_end_too(start_bot: StartBot) -> None:
    bot = await start_bot(channels="")
    question = await bot.ask("/mq freeze now until the release is out branch:main")
    assert "Freeze acme/site until when?" in question
    await bot.click(question, "Another time…")
    form = await bot.modal("0 queued")
    end = datetime.fromtimestamp(int(now(bot).timestamp()) // 60 * 60 + 7200, UTC)
    await bot.submit(form, reason="Release 4.2", end_at=end, branch="main")
    await bot.modal("is frozen")
    await bot.wait_for_post("*acme/site is frozen* · Release 4.2")


async def test_a_freeze_that_begins_later_asks_for_an_end_that_nobody_can_read(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels="")
    begins = now(bot) + timedelta(hours=2)
    question = await bot.ask(f"/mq freeze now from {typed_time(begins)} until fixed")
    assert f"Freeze acme/site from {begins:%Y-%m-%d}" in question
    assert "until when?" in question
    await bot.click(question, "No end; the reason is “until fixed”")
    await bot.wait_for_change(question, "A freeze of acme/site is planned from")
    await bot.wait_for_post("*A freeze of acme/site is planned* · until fixed")
    (freeze,) = bot.merge_queue.repository("acme/site").freezes
    assert to_datetime(freeze.start) == begins.replace(second=0, microsecond=0)
    assert freeze.end is None


async def test_a_freeze_at_a_time_may_begin_or_end_then(start_bot: StartBot) -> None:
    bot = await start_bot(channels="")
    begins = now(bot) + timedelta(hours=2)
    question = await bot.ask(f"/mq freeze now at {typed_time(begins)} cutting 4.2")
    assert "Freeze acme/site when?" in question
    end, begin, *_ = question.labels
    assert end.removeprefix("End ") == begin.removeprefix("Begin ")
    await bot.click(question, begin)
    await bot.wait_for_change(question, "A freeze of acme/site is planned from")
    await bot.wait_for_post("A freeze of acme/site is planned* · cutting 4.2")
    (freeze,) = bot.merge_queue.repository("acme/site").freezes
    assert freeze.reason.startswith("cutting 4.2")
    assert to_datetime(freeze.start) == begins.replace(second=0, microsecond=0)
    assert freeze.end is None


@pytest.mark.parametrize("typed", ["at {at} for 2h", "in 2 hours for 2h"])
async def test_a_pause_that_is_to_begin_later_is_offered_as_a_freeze(
    start_bot: StartBot, typed: str
) -> None:
    bot = await start_bot(channels="")
    begins = now(bot) + timedelta(hours=2)
    start = typed.format(at=typed_time(begins))
    answer = await bot.ask(f"/mq pause now acme/site {start} CI maintenance")
    assert "I pause a queue right away, but a freeze can begin later." in answer
    assert bot.pause_reason() is None
    freeze, _ = answer.labels
    await bot.click(answer, freeze)
    await bot.wait_for_post("A freeze of acme/site is planned")
    assert bot.pause_reason() is None
    (planned,) = bot.merge_queue.repository("acme/site").freezes
    assert abs(to_datetime(planned.start) - begins) < timedelta(minutes=2)


NO_END = "No end: it belongs to the reason"


def answers_of(form: ShownView) -> list[str]:
    """What may be chosen as the end that the reason means."""
    (asked,) = (element for element in form.elements() if element.block_id == "end_meant")
    return [option["text"]["text"] for option in asked.body["options"]]


async def test_a_form_whose_reason_may_hold_an_end_asks_until_when(bot: BotTester) -> None:
    await bot.type("/mq pause")
    form = await bot.modal("0 queued")
    end = now(bot) + timedelta(minutes=90)
    reason = f"CI is down until {typed_time(end)}"
    await bot.submit(form, reason=reason)
    asked = await bot.modal(f"“{reason}” may say until when")
    assert bot.pause_reason() is None
    answers = answers_of(asked)
    assert answers[0].startswith("Resume to")
    assert answers[1:] == [NO_END]
    # Sent again without an answer, it still asks.
    await bot.submit(asked, reason=reason)
    asked = await bot.modal("may say until when")
    both = await bot.submit(asked, reason=reason, end_meant=answers[0], end="2h")
    assert "not both" in str(both["errors"])
    assert bot.pause_reason() is None
    await bot.submit(asked, reason=reason, end_meant=answers[0], end="")
    await bot.modal("is paused")
    card = await bot.wait_for_post("*acme/site is paused* · CI is down")
    assert f"Until {end:%Y-%m-%d %H:%M}" in card
    assert bot.pause_reason() == "CI is down (by alice via Slack)"


@pytest.mark.parametrize(
    "reason",
    ["until we know more", "till 5 tests pass", "until EOD deploy", "2 hours of red builds"],
)
async def test_a_form_whose_reason_only_begins_like_an_end_is_sent_without_one_when_they_say_so(
    bot: BotTester, reason: str
) -> None:
    await bot.type("/mq pause")
    await bot.submit(await bot.modal("0 queued"), reason=reason)
    asked = await bot.modal("may say until when")
    await bot.submit(asked, reason=reason, end_meant=NO_END)
    await bot.modal("is paused")
    assert "Until someone" in await bot.wait_for_post(f"*acme/site is paused* · {reason}")


@pytest.mark.parametrize("reason", ["for the release", "2 hours ago main broke"])
async def test_a_form_does_not_ask_about_a_plain_reason(bot: BotTester, reason: str) -> None:
    await bot.type("/mq pause")
    await bot.submit(await bot.modal("0 queued"), reason=reason)
    await bot.modal("is paused")
    await bot.wait_for_post(f"*acme/site is paused* · {reason}")


async def test_a_form_that_was_asked_takes_another_end_from_its_own_fields(
    bot: BotTester,
) -> None:
    await bot.type("/mq pause")
    await bot.submit(await bot.modal("0 queued"), reason="until the vendor answers")
    asked = await bot.modal("may say until when")
    await bot.submit(asked, reason="until the vendor answers", end="45m")
    await bot.modal("is paused")
    assert "Until 20" in await bot.wait_for_post("acme/site is paused* · until the vendor answers")


async def test_the_form_of_a_freeze_reads_the_reason_in_the_same_way(start_bot: StartBot) -> None:
    bot = await start_bot(channels="")
    await bot.type("/mq freeze")
    form = await bot.modal("0 queued")
    end = now(bot) + timedelta(minutes=90)
    reason = f"cutting the release until {typed_time(end)}"
    await bot.submit(form, reason=reason, branch="main")
    asked = await bot.modal(f"“{reason}” may say until when")
    assert bot.merge_queue.repository("acme/site").freezes == []
    answers = answers_of(asked)
    assert answers[0].startswith("End to")
    await bot.submit(asked, reason=reason, branch="main", end_meant=answers[0])
    await bot.modal("is frozen")
    post = await bot.wait_for_post("*acme/site is frozen* · cutting the release")
    assert f"Until {end:%Y-%m-%d %H:%M}" in post


async def test_a_freezes_form_takes_an_end_in_front_of_the_reason(start_bot: StartBot) -> None:
    bot = await start_bot(channels="")
    await bot.type("/mq freeze")
    await bot.submit(await bot.modal("0 queued"), reason="45m cutting the release")
    await bot.modal("is frozen from")
    await bot.wait_for_post("*acme/site is frozen* · cutting the release")
    (made,) = bot.merge_queue.repository("acme/site").freezes
    assert made.end is not None
