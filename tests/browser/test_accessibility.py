"""The page for people who use screen readers, zoom in, or don't see colours."""

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.page_parts import channel_list, message, type_command
from tests.browser.scripted_app import CHANNEL, ScriptedApp
from tests.support.block_kit import actions, button

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

FOUR_TIMES_LARGER = {"width": 320, "height": 256}
"""What a window of 1280 by 1024 pixels has room for at a zoom of 400 %."""


async def test_screen_readers_read_a_question_with_its_text(page: Page) -> None:
    await type_command(page, "/mq pause CI is down")
    await page.get_by_role("button", name="Resume queue").click()
    question = page.get_by_role("alertdialog", name="Resume the queue?")
    await expect(question).to_have_accessible_description("12 pull requests wait in acme/site.")


async def test_screen_readers_read_a_modal_without_fields(page: Page) -> None:
    await type_command(page, "/mq pause")
    await page.get_by_role("button", name="Details").click()
    close = page.get_by_role("dialog", name="Details").get_by_role("button", name="Cancel")
    await expect(close).to_be_focused()
    await expect(close).to_have_accessible_description("12 pull requests wait.")


async def test_a_replaced_answer_is_announced_to_screen_readers(
    page: Page, app: ScriptedApp
) -> None:
    await app.client.chat_postEphemeral(
        channel=CHANNEL,
        user="U0ALICE",
        text="Already paused",
        blocks=[actions(button("Leave it", "leave_it"))],
    )
    await page.get_by_role("button", name="Leave it").click()
    await expect(message(page, "Left as it is")).to_be_visible()
    await expect(page.get_by_role("log")).to_contain_text("Merge Queue: Left as it is")


async def test_links_in_text_differ_by_more_than_their_colour(page: Page, app: ScriptedApp) -> None:
    await app.post("see <https://code.example/acme/site/pull/41|#41 Add search>: it failed")
    link = page.get_by_role("link", name="#41 Add search")
    line = await link.evaluate("node => getComputedStyle(node).textDecorationLine")
    assert line == "underline"


async def test_messages_still_have_room_at_four_times_the_size(
    open_page: OpenPage, app: ScriptedApp
) -> None:
    page = await open_page(**FOUR_TIMES_LARGER)
    await app.post("every word of what is said can be read " * 4)
    await expect(message(page, "every word")).to_be_visible()
    assert (
        await page.evaluate("document.scrollingElement.scrollWidth") <= FOUR_TIMES_LARGER["width"]
    )
    room = await channel_list(page).evaluate("node => node.clientHeight")
    assert room >= FOUR_TIMES_LARGER["height"] / 3
    await type_command(page, "/mq pause")
    form = page.get_by_role("dialog", name="Pause the queue").locator(".dialog-body")
    await expect(form).to_be_visible()
    assert await form.evaluate("node => node.clientHeight") >= FOUR_TIMES_LARGER["height"] / 3


@pytest.mark.parametrize("dark", [False, True])
async def test_axe_finds_nothing_anywhere_on_the_page(
    open_page: OpenPage, app: ScriptedApp, *, dark: bool
) -> None:
    page = await open_page(dark=dark)
    await app.post("for somebody else", channel="C0RELEASE")
    await app.post(":warning: *Something* happened in `acme/site`")
    await expect(message(page, "Something")).to_be_visible()
    await expect(page.get_by_role("button", name="releases 1 new")).to_be_visible()
    await finds_nothing(page)
    await page.get_by_role("button", name="You are Alice Martin").click()
    await expect(page.get_by_role("menu")).to_be_visible()
    await finds_nothing(page)
    await page.keyboard.press("Escape")
    await page.get_by_role("button", name="Merge Queue connected").click()
    await expect(page.get_by_role("region", name="Home tab")).to_be_visible()
    await finds_nothing(page)


async def finds_nothing(page: Page) -> None:
    found = await Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
