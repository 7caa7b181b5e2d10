"""The bot's own messages of each new kind, as the page shows them."""

import pytest
from playwright.async_api import Locator, Page, expect

from bot.blocks.message import Message
from tests.browser.conftest import OpenPage
from tests.browser.page_parts import messages, type_command
from tests.browser.scripted_app import ScriptedApp
from tests.browser.test_accessibility import finds_nothing
from tests.browser.test_contrast import ENOUGH, MEASURE
from tests.support.every_message import REVIEWED
from tests.support.messages.rendering import render

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

PHONE = 390

SHOWN = {
    "storm": ["8 pull requests have failed", "unit <tests> (7), lint (1)", "Don't requeue"],
    "storm-lapsed": ["8 pull requests failed", "Nothing failed in the 30 min after that."],
    "event-failure-that-others-have-too": ["unit tests failed", "2 of 10 other", "Author ana"],
    "event-failure-by-another-of-its-batch": ["#42 broke its batch", "The bisection found #42"],
    "alert-failures": ["5 pull requests in a row failed", "Limit 5"],
    "outage-key": ["can't be read", "Is the key valid"],
    "confirmation-open": ["alice wants to resume acme/site", "Reason CI is down"],
}
"""By the name of a case in `tests/support/messages`: what people read."""

COLOURED = set(SHOWN) - {"storm-lapsed"}


async def post(page: Page, app: ScriptedApp, name: str) -> Locator:
    message = render(REVIEWED[name])
    assert isinstance(message, Message)
    blocks, attachments = message.wire()
    before = await messages(page).count()
    await app.post(message.text, blocks=blocks, attachments=attachments or None)
    await expect(messages(page)).to_have_count(before + 1)
    return messages(page).last


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_each_new_kind_is_shown_in_full_and_can_be_read(
    open_page: OpenPage, app: ScriptedApp, scheme: str
) -> None:
    page = await open_page(width=PHONE, dark=scheme == "dark")
    for name, words in SHOWN.items():
        row = await post(page, app, name)
        for said in words:
            await expect(row).to_contain_text(said)
        await expect(row.locator(".unsupported")).to_have_count(0)
        await expect(row.locator(".attachment")).to_have_count(int(name in COLOURED))
    measured = await page.evaluate(MEASURE)
    weak = [(each["shown"], each["ratio"]) for each in measured if each["ratio"] < ENOUGH]
    assert weak == []
    assert await page.evaluate("document.scrollingElement.scrollWidth") <= PHONE
    await finds_nothing(page)


async def test_the_buttons_of_a_failure_are_reached_in_the_order_they_are_read(
    page: Page, app: ScriptedApp
) -> None:
    row = await post(page, app, "event-failure-that-others-have-too")
    await row.get_by_role("button", name="Why?").focus()
    for name in ("Log", "Mute this pull request"):
        await page.keyboard.press("Tab")
        await expect(row.get_by_role("button", name=name)).to_be_focused()


async def test_a_button_is_heard_with_the_queue_that_it_is_about(
    page: Page, app: ScriptedApp
) -> None:
    row = await post(page, app, "storm")
    pause = row.get_by_role("button", name="Pause queue acme/site")
    await expect(pause).to_have_text("Pause queue…")


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_a_refusal_in_a_form_stands_out(
    open_page: OpenPage, app: ScriptedApp, scheme: str
) -> None:
    page = await open_page(dark=scheme == "dark")
    await type_command(page, "/mq refused")
    await app.received_all(1)
    form = page.get_by_role("dialog", name="Merge queue")
    await expect(form.get_by_role("note")).to_contain_text("I can't tell yet whether acme/site")
    await expect(form.get_by_role("button", name="Try pausing again")).to_be_visible()
    measured = await page.evaluate(MEASURE)
    assert [each["shown"] for each in measured if each["ratio"] < ENOUGH] == []
    await finds_nothing(page)
