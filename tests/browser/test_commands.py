"""Typing: commands with suggestions, new lines, history, and errors."""

import pytest
from playwright.async_api import Page, expect

from tests.browser.page_parts import composer, message, messages, thread_pane
from tests.browser.scripted_app import ScriptedApp

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_a_command_is_found_and_sent_with_the_keyboard_alone(
    page: Page, app: ScriptedApp
) -> None:
    await page.locator("body").press("/")
    await expect(composer(page)).to_be_focused()
    command = page.get_by_role("option", name="/mq")
    await expect(command).to_have_attribute("aria-selected", "true")
    await expect(command).to_contain_text("Show, pause and resume the merge queue")
    await page.keyboard.press("Enter")
    await expect(composer(page)).to_have_value("/mq ")
    await page.keyboard.type("sta")
    await page.keyboard.press("Tab")
    await expect(composer(page)).to_have_value("/mq status")
    await page.keyboard.press("Enter")
    await expect(message(page, "You asked for “status”")).to_be_visible()
    await expect(composer(page)).to_have_value("")
    assert app.heard == [("command", "status")]


async def test_shift_enter_adds_a_line_and_enter_sends_both_lines(page: Page) -> None:
    await composer(page).focus()
    await page.keyboard.type("first")
    await page.keyboard.press("Shift+Enter")
    await page.keyboard.type("second")
    await page.keyboard.press("Enter")
    sent = message(page, "first")
    await expect(sent).to_contain_text("second")
    await expect(sent).to_contain_text("Alice Martin")
    await expect(messages(page)).to_have_count(1)


async def test_arrow_up_in_an_empty_box_brings_back_the_commands_typed_before(page: Page) -> None:
    for command in ("/mq help", "/mq status"):
        await composer(page).fill(command)
        await composer(page).press("Enter")
        await expect(message(page, f"“{command.removeprefix('/mq ')}”")).to_be_visible()
    await composer(page).press("ArrowUp")
    await expect(composer(page)).to_have_value("/mq status")
    await composer(page).press("ArrowUp")
    await expect(composer(page)).to_have_value("/mq help")
    await composer(page).press("ArrowDown")
    await composer(page).press("ArrowDown")
    await expect(composer(page)).to_have_value("")


async def test_slackbot_reports_an_unknown_command_and_the_text_is_kept(page: Page) -> None:
    await composer(page).fill("/deploy now")
    await composer(page).press("Enter")
    said = message(page, "/deploy is not a valid command")
    await expect(said).to_contain_text("Slackbot")
    await expect(said).to_contain_text("Only visible to you")
    await expect(composer(page)).to_have_value("/deploy now")


@pytest.mark.parametrize("ack_seconds", [1.0])
async def test_slackbot_reports_a_command_that_the_app_does_not_acknowledge(page: Page) -> None:
    await composer(page).fill("/mq silence")
    await composer(page).press("Enter")
    await expect(message(page, "operation_timeout")).to_contain_text("/mq failed with the error")


async def test_a_command_in_a_thread_is_refused_beside_the_box(
    page: Page, app: ScriptedApp
) -> None:
    await app.post("root")
    await message(page, "root").hover()
    await message(page, "root").get_by_role("button", name="Reply in thread").click()
    reply = thread_pane(page).get_by_role("textbox", name="Reply")
    await expect(reply).to_be_focused()
    await reply.fill("/mq status")
    await reply.press("Enter")
    await expect(thread_pane(page).get_by_role("alert")).to_contain_text(
        "cannot be used in threads"
    )
    await expect(reply).to_have_value("/mq status")
    assert app.heard == []
