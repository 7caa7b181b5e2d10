"""The real bot, used by a person in a real browser."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import pytest_asyncio
from playwright.async_api import expect

from bot.config.settings import RunSettings
from bot.runtime.process import build_runtime
from bot.sandbox.merge_queue.controls import NewPullRequest
from bot.sandbox.merge_queue.server import MergeQueueSandbox
from bot.sandbox.slack.server import SlackSandbox
from bot.store import migrate
from tests.browser.conftest import OpenPage
from tests.browser.page_parts import message, thread_pane, type_command
from tests.support.settings import settings_in

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

PARIS = ZoneInfo("Europe/Paris")
"""Where the browser is, whatever the person's profile says."""


def in_hours(hours: int) -> datetime:
    return datetime.now(PARIS).replace(second=0, microsecond=0) + timedelta(hours=hours)


def shown(at: datetime) -> str:
    """As Slack shows `{date_short_pretty} at {time}` behind something that isn't seen."""
    day = f"{at:%b} {at.day}, {at.year}"
    near = {0: "today", 1: "tomorrow"}
    days = (at.date() - datetime.now(PARIS).date()).days
    return f"\u200b{near.get(days, day)} at {at.hour % 12 or 12}:{at:%M %p}"


@pytest_asyncio.fixture(loop_scope="session")
async def merge_queue(sandbox: SlackSandbox, tmp_path: Path) -> AsyncIterator[MergeQueueSandbox]:
    """A merge queue service, and the bot between it and the workspace."""
    service = MergeQueueSandbox(repositories={"acme/site": "quiet"}, speed=20.0)
    await service.start()
    url = f"sqlite:///{tmp_path / 'bot.sqlite3'}"
    migrate.upgrade(url)
    environ = {
        "MQBOT_API_URL": service.base_url,
        "MQBOT_API_TOKEN": service.token,
        "MQBOT_REPOSITORIES": "acme/site",
        "MQBOT_POLL_SECONDS": "1",
        "SLACK_BOT_TOKEN": sandbox.bot_token,
        "SLACK_APP_TOKEN": sandbox.app_token,
        "SLACK_API_URL": sandbox.api_url,
        "DATABASE_URL": url,
    }
    async with build_runtime(settings_in(environ, RunSettings)):
        yield service
    await service.stop()


async def test_a_person_pauses_the_queue_with_the_form_and_resumes_it_with_the_button(
    merge_queue: MergeQueueSandbox, open_page: OpenPage
) -> None:
    for _ in range(3):
        merge_queue.enqueue("acme/site", NewPullRequest(hangs=True))
    page = await open_page()
    bobs_page = await open_page("U0BOB")

    await type_command(page, "/mq pause")
    modal = page.get_by_role("dialog", name="Pause a merge queue")
    await expect(modal).to_contain_text("3 queued")
    await modal.get_by_role("textbox", name="Reason").fill("CI runners are down")
    await modal.get_by_role("button", name="Pause queue").click()
    outcome = page.get_by_role("dialog", name="Merge queue", exact=True)
    await expect(outcome).to_contain_text("acme/site is paused.")
    await outcome.get_by_role("button", name="Close").first.click()
    await expect(outcome).to_have_count(0)

    paused = message(page, "acme/site is paused · CI runners are down")
    await expect(paused).to_contain_text("By alice")
    await expect(message(bobs_page, "acme/site is paused")).to_be_visible()
    pause = merge_queue.repository("acme/site").pause
    assert pause is not None
    assert pause.reason == "CI runners are down (by alice via Slack)"

    await paused.get_by_role("button", name="Resume queue").click()
    question = page.get_by_role("alertdialog", name="Resume the queue?")
    await expect(question).to_contain_text("acme/site was paused by alice:")
    await question.get_by_role("button", name="Resume", exact=True).click()
    await expect(message(page, "acme/site was paused · CI runners are down")).to_be_visible()
    await expect(message(bobs_page, "acme/site has resumed")).to_contain_text("By alice")
    assert merge_queue.repository("acme/site").pause is None


async def test_the_second_of_two_people_who_confirm_is_answered_too(
    merge_queue: MergeQueueSandbox, open_page: OpenPage
) -> None:
    page = await open_page()
    bobs_page = await open_page("U0BOB")
    await type_command(page, "/mq pause now CI runners are down")
    paused = "acme/site is paused · CI runners are down"
    questions = []
    for one in (page, bobs_page):
        await message(one, paused).get_by_role("button", name="Resume queue").click()
        questions.append(one.get_by_role("alertdialog", name="Resume the queue?"))
        await expect(questions[-1]).to_be_visible()
    await questions[0].get_by_role("button", name="Resume", exact=True).click()
    await expect(message(bobs_page, "acme/site has resumed")).to_be_visible()

    await questions[1].get_by_role("button", name="Resume", exact=True).click()
    answer = bobs_page.locator(".message-ephemeral").filter(has_text="alice")
    await expect(answer).to_contain_text("acme/site")
    assert merge_queue.repository("acme/site").pause is None


async def test_a_mention_with_an_attached_file_and_a_reply_to_the_channel_are_commands(
    merge_queue: MergeQueueSandbox, open_page: OpenPage
) -> None:
    page = await open_page()
    chooser = page.locator("input[type=file]").first
    await chooser.set_input_files(
        {"name": "red.png", "mimeType": "image/png", "buffer": b"not kept"}
    )
    await type_command(page, "@merge-queue pause now CI is down")
    await expect(message(page, "red.png")).to_be_visible()
    await expect(message(page, "acme/site is paused · CI is down")).to_be_visible()

    await message(page, "red.png").hover()
    await message(page, "red.png").get_by_role("button", name="Reply in thread").click()
    thread = thread_pane(page)
    await thread.get_by_role("checkbox", name="Also send to the channel").check()
    await thread.get_by_role("textbox", name="Reply").fill("@merge-queue resume")
    await page.keyboard.press("Enter")
    await expect(message(page, "acme/site has resumed")).to_be_visible()
    replied = message(page, "replied to a thread")
    await expect(replied.filter(has_text="@Merge Queue resume")).to_be_visible()
    assert merge_queue.repository("acme/site").pause is None


async def test_a_mention_where_the_app_is_not_a_member_says_how_to_invite_it(
    merge_queue: MergeQueueSandbox, open_page: OpenPage
) -> None:
    page = await open_page()
    await page.get_by_role("button", name="general").click()
    await type_command(page, "@merge-queue status")
    await expect(message(page, "they're not in this channel")).to_be_visible()
    await type_command(page, "/invite @merge-queue")
    asked = message(page, "@Merge Queue status")
    await expect(asked.get_by_role("button", name="1 reply")).to_be_visible()
    assert merge_queue.repository("acme/site").pause is None


async def test_the_end_of_a_pause_and_of_a_freeze_is_picked_in_slacks_own_picker(
    merge_queue: MergeQueueSandbox, open_page: OpenPage
) -> None:
    page = await open_page()
    ends = in_hours(2)
    await type_command(page, "/mq pause")
    form = page.get_by_role("dialog", name="Pause a merge queue")
    await expect(form).to_contain_text("0 queued")
    await form.get_by_role("textbox", name="Reason").fill("Vendor is down")
    picker = form.get_by_label("Or pick a day and a time")
    # A time that has passed stays in the form, with what is wrong beside it.
    await picker.fill(f"{in_hours(-2):%Y-%m-%dT%H:%M}")
    await form.get_by_role("button", name="Pause queue").click()
    await expect(form).to_contain_text("That time is in the past")
    await picker.fill(f"{ends:%Y-%m-%dT%H:%M}")
    await form.get_by_role("button", name="Pause queue").click()
    outcome = page.get_by_role("dialog", name="Merge queue", exact=True)
    await outcome.get_by_role("button", name="Close").first.click()
    card = message(page, "acme/site is paused · Vendor is down")
    await expect(card).to_contain_text(f"Until \u200b{ends.hour % 12 or 12}:{ends:%M %p}")

    until = in_hours(3)
    await type_command(page, "/mq freeze")
    form = page.get_by_role("dialog", name="Freeze a merge queue")
    await expect(form).to_contain_text("0 queued")
    await form.get_by_role("textbox", name="Reason").fill("Release 4.2")
    await form.get_by_label("Or pick a day and a time").fill(f"{until:%Y-%m-%dT%H:%M}")
    await form.get_by_role("button", name="Freeze").click()
    outcome = page.get_by_role("dialog", name="Merge queue", exact=True)
    await expect(outcome).to_contain_text(f"until {shown(until)}")
    (made,) = merge_queue.repository("acme/site").freezes
    assert made.reason == "Release 4.2 (by alice via Slack)"


async def test_a_form_asks_whether_its_reason_holds_an_end_and_keeps_what_was_typed(
    merge_queue: MergeQueueSandbox, open_page: OpenPage
) -> None:
    page = await open_page()
    ends = in_hours(2)
    reason = f"CI is down until {ends:%H:%M} Europe/Paris"
    await type_command(page, "/mq pause")
    form = page.get_by_role("dialog", name="Pause a merge queue")
    await expect(form).to_contain_text("0 queued")
    await form.get_by_role("textbox", name="Reason").fill(reason)
    await form.get_by_role("button", name="Pause queue").click()
    await expect(form).to_contain_text(f"“{reason}” may say until when.")
    await expect(form.get_by_role("textbox", name="Reason")).to_have_value(reason)
    assert merge_queue.repository("acme/site").pause is None
    await form.get_by_role("radio", name="Resume to").check()
    await form.get_by_role("button", name="Pause queue").click()
    card = message(page, "acme/site is paused · CI is down")
    await expect(card).to_contain_text(f"Until \u200b{ends.hour % 12 or 12}:{ends:%M %p}")
    pause = merge_queue.repository("acme/site").pause
    assert pause is not None
    assert pause.reason == "CI is down (by alice via Slack)"
