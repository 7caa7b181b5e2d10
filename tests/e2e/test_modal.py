"""The form that asks for the reason of a pause."""

from datetime import UTC, datetime, timedelta
from functools import partial
from zoneinfo import ZoneInfo

import pytest

from tests.e2e.conftest import StartBot
from tests.support.bot_tester import ALICE, BOB, MERGE_QUEUE, BotTester
from tests.support.shown import ShownView
from tests.support.waiting import until

pytestmark = pytest.mark.e2e


async def test_pause_without_a_reason_asks_for_it_and_shows_the_impact(start_bot: StartBot) -> None:
    bot = await start_bot(speed=20.0)
    for _ in range(6):
        bot.enqueue(hangs=True)
    await bot.checks_run(batches=2)
    await bot.type("/mq pause")
    modal = await bot.modal("6 queued, 2 running batches will stop")
    assert modal.title == "Pause a merge queue"
    assert "*acme/site*" in modal
    assert "Next merge expected" in modal
    answer = await bot.submit(modal, reason="CI runners are down")
    assert answer["response_action"] == "update"
    await bot.wait_for_post("*acme/site is paused* · CI runners are down", by=BOB)
    done = await bot.modal("acme/site is paused.")
    assert done.labels == []
    assert bot.pause_reason() == "CI runners are down (by alice via Slack)"


async def test_a_form_without_a_visible_reason_is_refused_at_its_field(bot: BotTester) -> None:
    await bot.type("/mq pause")
    form = await bot.modal("0 queued")
    # Slack itself refuses an empty one.
    answer = await bot.submit(form)
    assert answer["errors"] == {"reason": "Please complete this required field."}
    for blank in ("\u200b\u200b", "\x07", "\u2800"):
        answer = await bot.submit(form, reason=blank)
        assert answer["response_action"] == "errors"
        assert answer["errors"] == {"reason": "Please enter a reason."}
        assert len(bot.open_modals()) == 1
    assert bot.pause_reason() is None
    await bot.submit(await bot.modal(), reason="A better one")
    await bot.modal("is paused")
    await bot.wait_for_post("is paused")


async def test_255_characters_are_accepted_and_256_refused(bot: BotTester) -> None:
    await bot.type("/mq pause")
    answer = await bot.submit(await bot.modal("0 queued"), reason="x" * 256)
    assert list(answer["errors"]) == ["reason"]
    assert len(bot.open_modals()) == 1
    await bot.submit(await bot.modal(), reason="x" * 255)
    await bot.modal("is paused")
    await bot.wait_for_post("x" * 255)


async def test_control_characters_in_the_form_are_removed(bot: BotTester) -> None:
    await bot.type("/mq pause")
    await bot.submit(await bot.modal("0 queued"), reason="line one\nline\x07 two \u202eend")
    await bot.modal("is paused")
    await bot.wait_for_post("line one line two end")
    assert bot.pause_reason() == "line one line two end (by alice via Slack)"


async def test_the_form_says_when_the_queue_is_paused_already(bot: BotTester) -> None:
    card = await bot.pause("CI runners are down", by=BOB)
    await bot.type("/mq pause")
    modal = await bot.modal("Already paused by bob since")
    await bot.submit(modal, reason="Deploying 4.2")
    question = await bot.modal("acme/site is already paused by bob: CI runners are down")
    assert question.labels == ["Replace reason", "Leave it"]
    await bot.click(question, "Replace reason")
    await bot.modal("acme/site is paused")
    await bot.wait_in_thread(card, "changed why")
    await bot.wait_for_direct_message("alice replaced your pause", by=BOB)


async def test_leave_it_in_the_form_changes_nothing(bot: BotTester) -> None:
    await bot.pause("CI runners are down", by=BOB)
    await bot.type("/mq pause")
    await bot.submit(await bot.modal("Already paused"), reason="Deploying 4.2")
    question = await bot.modal("is already paused by bob")
    await bot.click(question, "Leave it")
    left = await bot.modal("Nothing was changed.")
    assert left.labels == []
    assert bot.pause_reason() == "CI runners are down (by bob via Slack)"


async def test_a_queue_paused_while_the_form_was_open_is_not_paused_over(bot: BotTester) -> None:
    await bot.type("/mq pause")
    modal = await bot.modal("0 queued")
    bot.merge_queue.pause("acme/site", "Database migration", by="carol")
    await bot.submit(modal, reason="CI runners are down")
    # The event log says by whom, once it is read.
    shown = await bot.modal("acme/site is already paused")
    assert ": Database migration" in shown
    assert bot.pause_reason() == "Database migration"


async def test_the_shortcut_opens_the_form_from_anywhere(bot: BotTester) -> None:
    await bot.shortcut()
    await bot.submit(await bot.modal("0 queued"), reason="CI runners are down")
    await bot.modal("acme/site is paused")
    assert bot.pause_reason() == "CI runners are down (by alice via Slack)"
    assert bot.posts() == []


async def test_the_shortcut_asks_which_of_several_repositories(start_bot: StartBot) -> None:
    bot = await start_bot(
        repositories={"acme/site": "quiet", "acme/api": "quiet"},
        channels=f"acme/api={MERGE_QUEUE}:pause",
    )
    await bot.shortcut()
    modal = await bot.modal("Choose a repository or a group to see what a pause would stop.")
    await bot.choose(modal, "acme/api", menu="Choose a repository or a group")
    modal = await bot.modal("0 queued")
    await bot.submit(modal, repository="acme/api", reason="CI runners are down")
    await bot.modal("acme/api is paused")
    await bot.wait_for_post("*acme/api is paused* · CI runners are down")
    assert bot.pause_reason("acme/site") is None


async def several(start_bot: StartBot) -> BotTester:
    return await start_bot(
        repositories={"acme/site": "quiet", "acme/api": "quiet", "acme/docs": "quiet"},
        channels="acme/docs=C0RELEASE:freeze",
        environment={"MQBOT_GROUPS": "release=acme/site,acme/api"},
    )


TARGETS = "Choose a repository or a group"


async def test_the_form_pauses_a_group_or_all(start_bot: StartBot) -> None:
    bot = await several(start_bot)
    await bot.type("/mq pause acme/site")
    modal = await bot.modal("0 queued, no batch is running")
    assert modal.options(TARGETS) == [
        "@release (2 queues)",
        "all (3 queues)",
        "acme/site",
        "acme/api",
        "acme/docs",
    ]
    await bot.choose(modal, "@release (2 queues)", menu=TARGETS)
    modal = await bot.modal("*2 queues of @release*: acme/site, acme/api")
    modal = await bot.modal("queued, no batch is running")
    await bot.choose(modal, "all (3 queues)", menu=TARGETS)
    modal = await bot.modal("*All 3 queues*")
    await bot.submit(modal, reason="CI runners are down", end="1h")
    await bot.modal("all: 3 of 3 queues paused")
    await bot.wait_for_post("all: 3 of 3 queues paused")
    names = ("acme/site", "acme/api", "acme/docs")
    reason = "CI runners are down (by alice via Slack)"
    assert [bot.pause_reason(name) for name in names] == [reason] * 3
    await bot.pass_time(3601)
    await bot.wait_for_post("all: 3 of 3 queues resumed")


def form_about(bot: BotTester, target: str) -> ShownView | None:
    """The form once it shows what pausing this target would stop."""
    form = bot.open_modals()[-1]
    chosen = form.element(TARGETS).body["initial_option"]["text"]["text"]
    is_read = "0 queued, no batch is running" in form
    return form if chosen == target and is_read else None


async def test_the_form_of_a_group_can_pause_another_queue_instead(start_bot: StartBot) -> None:
    bot = await several(start_bot)
    await bot.type("/mq pause @release")
    modal = await bot.modal("no batch is running")
    assert form_about(bot, "@release (2 queues)") is not None
    await bot.choose(modal, "acme/api", menu=TARGETS)
    form = await until(partial(form_about, bot, "acme/api"), "the form about acme/api")
    assert form is not None
    await bot.submit(form, reason="Deploying 4.2")
    await bot.modal("acme/api is paused")
    await bot.wait_for_post("*acme/api is paused* · Deploying 4.2")
    assert bot.pause_reason("acme/site") is None


@pytest.mark.parametrize(
    "typed", ["45m", "until {soon:%H:%M} UTC", "{day:%a} 09:00", "until {day:%A} 9pm UTC"]
)
async def test_the_end_can_be_typed_as_in_the_command(bot: BotTester, typed: str) -> None:
    now = datetime.now(UTC)
    end = typed.format(soon=now + timedelta(hours=2), day=now + timedelta(days=2))
    await bot.type("/mq pause")
    await bot.submit(await bot.modal("0 queued"), reason="CI runners are down", end=end)
    if "day" in typed:
        again = await bot.modal("Send the form again to confirm.")
        await bot.submit(again, reason="CI runners are down", end=end)
    await bot.modal("acme/site is paused, resumes")
    assert "Until 20" in await bot.wait_for_post("is paused")


@pytest.mark.parametrize(
    "fields",
    [
        {"reason": "CI runners are down", "end": "`45m`"},
        {"reason": "CI runners are down", "end": "(\u201c45m\u201d),"},
        {"reason": "`45m` CI runners are down"},
        {"reason": "*45m:* CI runners are down"},
    ],
)
async def test_marks_around_an_end_in_the_form_change_nothing(
    bot: BotTester, fields: dict[str, str]
) -> None:
    await bot.type("/mq pause")
    await bot.submit(await bot.modal("0 queued"), **fields)
    await bot.modal("acme/site is paused, resumes")
    await bot.wait_for_post("*acme/site is paused* · CI runners are down")
    assert bot.pause_reason() == "CI runners are down (by alice via Slack)"


async def test_an_impossible_end_time_is_refused_at_its_field(bot: BotTester) -> None:
    await bot.type("/mq pause")
    modal = await bot.modal("0 queued")
    for typed, notice in (
        ("soon", "I can't read that time."),
        ("0m", "A pause lasts at least one minute"),
        ("until 25:00", "That time doesn't exist."),
        ("until 2020-01-01 09:00", "That time is in the past."),
        ("until 2126-01-01 09:00", "Pauses can last up to 30 days"),
        ("15:00 Europe/Pariss", "I don't know that time zone."),
        ("until 15:00 UTC+27", "I don't know that time zone."),
        ("until 5", "That may mean several times."),
    ):
        answer = await bot.submit(modal, reason="CI runners are down", end=typed)
        assert list(answer["errors"]) == ["end"]
        assert answer["errors"]["end"].startswith(f"“Until when”: {notice}")
    assert bot.pause_reason() is None


async def test_an_end_can_be_chosen_or_typed_but_not_both(bot: BotTester) -> None:
    await bot.type("/mq pause 45m")
    modal = await bot.modal("0 queued")
    at = datetime.now(UTC) + timedelta(hours=2)
    answer = await bot.submit(modal, reason="CI runners are down", end_at=at, end="45m")
    said = "“Until when”: Fill in this field or pick a day and a time, not both."
    assert answer["errors"] == {"end": said}
    assert bot.pause_reason() is None


async def test_a_picked_end_that_is_past_is_refused_at_its_own_field(bot: BotTester) -> None:
    await bot.type("/mq pause")
    past = datetime.now(UTC) - timedelta(hours=2)
    modal = await bot.modal("0 queued")
    answer = await bot.submit(modal, reason="CI runners are down", end_at=past)
    said = "“Or pick a day and a time”: That time is in the past. Pick a later one."
    assert answer["errors"] == {"end_at": said}
    assert bot.pause_reason() is None


async def test_a_time_in_the_form_is_in_the_persons_own_time_zone(bot: BotTester) -> None:
    bot.slack.installation.workspace.users[ALICE].tz = "Asia/Tokyo"
    await bot.type("/mq pause")
    # Soon, because a time that comes only tomorrow is asked about.
    soon = datetime.now(ZoneInfo("Asia/Tokyo")) + timedelta(hours=2)
    end = f"until {soon:%H:%M}"
    await bot.submit(await bot.modal("0 queued"), reason="CI runners are down", end=end)
    in_utc = f" {soon.astimezone(UTC):%H:%M} UTC"
    assert in_utc in (await bot.wait_for_post("is paused")).line


async def test_a_person_who_closes_the_form_early_gets_a_direct_message(bot: BotTester) -> None:
    bot.expected_refusals = {"views.update not_found"}
    await bot.type("/mq pause")
    modal = await bot.modal("0 queued")
    bot.break_service("slow", path="pause", method="PUT", seconds=1.0, times=1)
    await bot.submit(modal, reason="CI runners are down")
    bot.slack.people.close(ALICE, modal.view_id)
    await bot.wait_for_direct_message("acme/site is paused.")
    await bot.wait_for_post("is paused")

    await bot.type("/mq pause")
    modal = await bot.modal("Already paused")
    bot.break_service("error", path="merge-queue", status=503, times=None)
    await bot.submit(modal, reason="Deploying 4.2")
    bot.slack.people.close(ALICE, modal.view_id)
    await bot.wait_for_direct_message("The merge queue service isn't responding")
    bot.fix_service()


async def test_an_unreadable_form_shows_an_error(bot: BotTester) -> None:
    """As one that another version of the bot has opened may be."""
    bot.expected_errors = {"defect"}
    await bot.type("/mq pause")
    modal = await bot.modal("0 queued")
    opened = bot.slack.installation.views.find(modal.view_id)
    assert opened is not None
    opened.content["private_metadata"] = "of another version"
    answer = await bot.submit(modal, reason="CI runners are down")
    assert answer["response_action"] == "update"
    notice = await bot.modal("Something went wrong on my side (reference ")
    assert notice.labels == []
    assert bot.pause_reason() is None


async def test_the_form_opens_when_the_service_does_not_answer(bot: BotTester) -> None:
    bot.break_service("error", path="merge-queue", status=503)
    await bot.type("/mq pause")
    modal = await bot.modal("The queue couldn't be read just now")
    await bot.submit(modal, reason="CI runners are down")
    failed = await bot.modal("*acme/site was not paused.*")
    assert "The merge queue service isn't responding" in failed
    assert failed.labels == ["Try pausing again"]
    bot.fix_service()
    assert bot.pause_reason() is None
    await bot.click(failed, "Try pausing again")
    await bot.modal("acme/site is paused.")
    await bot.wait_for_post("*acme/site is paused* · CI runners are down")
