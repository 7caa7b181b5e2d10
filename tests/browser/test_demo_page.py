"""The real bot, used by a person in a real browser."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import expect

from bot.config.settings import RunSettings
from bot.runtime import build_runtime
from bot.sandbox.merge_queue.controls import NewPullRequest
from bot.sandbox.merge_queue.server import MergeQueueSandbox
from bot.sandbox.slack.server import SlackSandbox
from bot.store import migrate
from tests.browser.conftest import OpenPage
from tests.browser.page_parts import message, type_command
from tests.support.settings import settings_in

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


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
    await expect(modal).to_contain_text("3 pull requests in the queue")
    await modal.get_by_role("textbox", name="Reason").fill("CI runners are down")
    await modal.get_by_role("button", name="Pause queue").click()
    outcome = page.get_by_role("dialog", name="Merge queue", exact=True)
    await expect(outcome).to_contain_text("acme/site is paused.")
    await outcome.get_by_role("button", name="Close").first.click()
    await expect(outcome).to_have_count(0)

    paused = message(page, "Queue paused acme/site: CI runners are down")
    await expect(paused).to_contain_text("by alice")
    await expect(message(bobs_page, "Queue paused acme/site")).to_be_visible()
    pause = merge_queue.repository("acme/site").pause
    assert pause is not None
    assert pause.reason == "CI runners are down (by alice via Slack)"

    await paused.get_by_role("button", name="Resume queue").click()
    question = page.get_by_role("alertdialog", name="Resume the queue?")
    await expect(question).to_contain_text("acme/site was paused by alice on")
    await question.get_by_role("button", name="Resume", exact=True).click()
    await expect(message(page, "Was paused acme/site: CI runners are down")).to_be_visible()
    await expect(message(bobs_page, "Queue resumed acme/site")).to_contain_text("by alice")
    assert merge_queue.repository("acme/site").pause is None
