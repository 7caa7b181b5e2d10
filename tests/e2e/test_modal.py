"""The form that asks for the reason of a pause."""

import pytest

from tests.e2e.conftest import StartBot
from tests.support.bot_tester import ALICE, BOB, MERGE_QUEUE, BotTester

pytestmark = pytest.mark.e2e


async def test_pause_without_a_reason_asks_for_it_and_shows_the_impact(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(speed=20.0)
    for _ in range(6):
        bot.enqueue(hangs=True)
    await bot.checks_run(batches=2)
    await bot.type("/mq pause")
    modal = await bot.modal("6 pull requests in the queue, 2 running batches will stop")
    assert modal.title == "Pause a merge queue"
    assert "*acme/site*" in modal
    assert "next merge was due" in modal
    answer = await bot.submit(modal, reason="CI runners are down")
    assert answer["response_action"] == "update"
    await bot.wait_for_post("*Queue paused* acme/site: CI runners are down", by=BOB)
    done = await bot.modal("acme/site is paused.")
    assert done.labels == []
    assert bot.pause_reason() == "CI runners are down (by alice via Slack)"


async def test_an_empty_form_is_refused_by_slack_itself(bot: BotTester) -> None:
    await bot.type("/mq pause")
    answer = await bot.submit(await bot.modal("0 pull requests"))
    assert answer["errors"] == {"reason": "Please complete this required field."}
    assert bot.pause_reason() is None


@pytest.mark.parametrize("blank", ["\u200b\u200b", "\x07", "\u2800"])
async def test_a_reason_that_cannot_be_seen_is_refused_at_its_field(
    bot: BotTester, blank: str
) -> None:
    await bot.type("/mq pause")
    answer = await bot.submit(await bot.modal("0 pull requests"), reason=blank)
    assert answer["response_action"] == "errors"
    assert answer["errors"] == {"reason": "Please enter a reason."}
    assert len(bot.open_modals()) == 1
    assert bot.pause_reason() is None
    await bot.submit(await bot.modal(), reason="A better one")
    await bot.modal("is paused")
    await bot.wait_for_post("Queue paused")


async def test_256_characters_are_refused_and_255_are_taken(bot: BotTester) -> None:
    await bot.type("/mq pause")
    answer = await bot.submit(await bot.modal("0 pull requests"), reason="x" * 256)
    assert list(answer["errors"]) == ["reason"]
    assert len(bot.open_modals()) == 1
    await bot.submit(await bot.modal(), reason="x" * 255)
    await bot.modal("is paused")
    await bot.wait_for_post("x" * 255)


async def test_control_characters_of_the_form_are_taken_out(bot: BotTester) -> None:
    await bot.type("/mq pause")
    await bot.submit(await bot.modal("0 pull"), reason="line one\nline\x07 two \u202eend")
    await bot.modal("is paused")
    await bot.wait_for_post("line one line two end")
    assert bot.pause_reason() == "line one line two end (by alice via Slack)"


async def test_the_form_says_when_the_queue_is_paused_already(bot: BotTester) -> None:
    await bot.type("/mq pause CI runners are down", by=BOB)
    await bot.wait_for_post("Queue paused")
    await bot.type("/mq pause")
    modal = await bot.modal("Already paused by bob since")
    await bot.submit(modal, reason="Deploying 4.2")
    question = await bot.modal("acme/site is already paused by bob: CI runners are down")
    assert question.labels == ["Replace reason", "Leave it"]
    await bot.click(question, "Replace reason")
    await bot.modal("acme/site is paused")
    await bot.wait_for_post("Queue paused")
    await bot.wait_for_direct_message("alice replaced your pause", by=BOB)


async def test_leave_it_in_the_form_changes_nothing_and_says_so(bot: BotTester) -> None:
    await bot.type("/mq pause CI runners are down", by=BOB)
    await bot.wait_for_post("Queue paused")
    await bot.type("/mq pause")
    await bot.submit(await bot.modal("Already paused"), reason="Deploying 4.2")
    question = await bot.modal("is already paused by bob")
    await bot.click(question, "Leave it")
    left = await bot.modal("Nothing was changed.")
    assert left.labels == []
    assert bot.pause_reason() == "CI runners are down (by bob via Slack)"


async def test_a_queue_paused_while_the_form_was_open_is_not_paused_over(bot: BotTester) -> None:
    await bot.type("/mq pause")
    modal = await bot.modal("0 pull requests")
    bot.merge_queue.pause("acme/site", "Database migration", by="carol")
    await bot.submit(modal, reason="CI runners are down")
    await bot.modal("acme/site is already paused: Database migration")
    assert bot.pause_reason() == "Database migration"


async def test_the_shortcut_opens_the_form_from_anywhere(bot: BotTester) -> None:
    await bot.shortcut()
    await bot.submit(await bot.modal("0 pull requests"), reason="CI runners are down")
    await bot.modal("acme/site is paused")
    assert bot.pause_reason() == "CI runners are down (by alice via Slack)"
    assert bot.posts() == []


async def test_the_shortcut_asks_which_of_several_repositories(start_bot: StartBot) -> None:
    bot = await start_bot(
        repositories={"acme/site": "quiet", "acme/api": "quiet"},
        channels=f"acme/api={MERGE_QUEUE}:pause",
    )
    await bot.shortcut()
    modal = await bot.modal("Choose a repository to see what a pause would stop.")
    await bot.choose(modal, "acme/api", menu="Choose a repository")
    modal = await bot.modal("0 pull requests in the queue")
    await bot.submit(modal, repository="acme/api", reason="CI runners are down")
    await bot.modal("acme/api is paused")
    await bot.wait_for_post("*Queue paused* acme/api: CI runners are down")
    assert bot.pause_reason("acme/site") is None


async def test_whoever_closes_the_form_before_the_answer_is_told_in_a_direct_message(
    bot: BotTester,
) -> None:
    bot.expected_refusals = {"views.update not_found"}
    await bot.type("/mq pause")
    modal = await bot.modal("0 pull requests")
    bot.break_service("slow", path="pause", method="PUT", seconds=1.0, times=1)
    await bot.submit(modal, reason="CI runners are down")
    bot.slack.people.close(ALICE, modal.view_id)
    await bot.wait_for_direct_message("acme/site is paused.")
    await bot.wait_for_post("Queue paused")

    await bot.type("/mq pause")
    modal = await bot.modal("Already paused")
    bot.break_service("error", path="merge-queue", status=503, times=None)
    await bot.submit(modal, reason="Deploying 4.2")
    bot.slack.people.close(ALICE, modal.view_id)
    await bot.wait_for_direct_message("The merge queue service does not answer")
    bot.mend_service()


async def test_a_form_that_cannot_be_read_says_so_in_the_form(bot: BotTester) -> None:
    """As one that another version of the bot has opened may be."""
    bot.expected_errors = {"listener_failed"}
    await bot.type("/mq pause")
    modal = await bot.modal("0 pull requests")
    opened = bot.slack.installation.views.find(modal.view_id)
    assert opened is not None
    opened.content["private_metadata"] = "of another version"
    answer = await bot.submit(modal, reason="CI runners are down")
    assert answer["response_action"] == "update"
    told = await bot.modal("Something went wrong on my side (reference ")
    assert told.labels == []
    assert bot.pause_reason() is None


async def test_the_form_opens_although_the_service_does_not_answer(bot: BotTester) -> None:
    bot.break_service("error", path="merge-queue", status=503)
    await bot.type("/mq pause")
    modal = await bot.modal("The queue could not be read just now")
    await bot.submit(modal, reason="CI runners are down")
    failed = await bot.modal("The merge queue service does not answer")
    assert failed.labels == []
    bot.mend_service()
    assert bot.pause_reason() is None
