"""Modals: refused and accepted submissions, stacks, updates and focus."""

import pytest
from playwright.async_api import Page, expect

from tests.browser.page_parts import composer, message, type_command
from tests.browser.scripted_app import ScriptedApp

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_a_rejected_reason_shows_an_error_at_its_field(page: Page, app: ScriptedApp) -> None:
    await type_command(page, "/mq pause")
    modal = page.get_by_role("dialog", name="Pause the queue")
    reason = modal.get_by_role("textbox", name="Reason")
    await expect(reason).to_be_focused()
    await modal.get_by_role("button", name="Pause").click()
    await expect(modal).to_contain_text("Please complete this required field.")
    await expect(reason).to_be_focused()
    await expect(reason).to_have_attribute("aria-invalid", "true")
    await reason.fill("because")
    await page.keyboard.press("Enter")
    await expect(modal).to_contain_text("Say more than that.")
    await expect(reason).to_have_value("because")
    await expect(reason).to_have_accessible_description(
        "People in the channel will read it. Say more than that."
    )
    await reason.fill("CI runners are down")
    await page.keyboard.press("Control+Enter")
    await expect(modal).to_have_count(0)
    await expect(message(page, "Paused: CI runners are down")).to_be_visible()
    await expect(composer(page)).to_be_focused()
    assert app.heard[1:] == [("reason", "because"), ("reason", "CI runners are down")]


async def test_a_reason_over_the_limit_shows_the_count_and_is_not_sent(
    page: Page, app: ScriptedApp
) -> None:
    await type_command(page, "/mq pause")
    modal = page.get_by_role("dialog", name="Pause the queue")
    reason = modal.get_by_role("textbox", name="Reason")
    await reason.fill("😀" * 250)
    await expect(modal.locator(".counter")).to_have_text("5")
    await reason.fill("x" * 260)
    await modal.get_by_role("button", name="Pause").click()
    await expect(modal).to_contain_text("at most 255 characters")
    assert app.heard == [("command", "pause")]


async def test_the_global_shortcut_opens_the_modal(page: Page) -> None:
    await page.keyboard.press("Alt+s")
    item = page.get_by_role("menuitem", name="Pause a merge queue")
    await expect(item).to_contain_text("Choose a repository and a reason")
    await expect(item).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("dialog", name="Pause the queue")).to_be_visible()


async def test_escape_closes_only_the_top_modal_and_the_one_below_keeps_its_input(
    page: Page,
) -> None:
    await type_command(page, "/mq pause")
    below = page.get_by_role("dialog", name="Pause the queue")
    await below.get_by_role("textbox", name="Reason").fill("half a reason")
    await below.get_by_role("button", name="Details").click()
    top = page.get_by_role("dialog", name="Details")
    await expect(top).to_contain_text("12 pull requests wait.")
    await page.keyboard.press("Escape")
    await expect(top).to_have_count(0)
    await expect(below.get_by_role("textbox", name="Reason")).to_have_value("half a reason")
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await expect(composer(page)).to_be_focused()


async def test_an_update_by_the_app_keeps_the_typed_input(page: Page) -> None:
    await type_command(page, "/mq pause")
    modal = page.get_by_role("dialog", name="Pause the queue")
    await modal.get_by_role("textbox", name="Reason").fill("half a reason")
    await modal.get_by_role("button", name="Fill in").click()
    await expect(modal).to_contain_text("4 running batches will stop.")
    await expect(modal.get_by_role("textbox", name="Reason")).to_have_value("half a reason")


async def test_tab_stays_inside_an_open_modal(page: Page) -> None:
    await type_command(page, "/mq pause")
    modal = page.get_by_role("dialog", name="Pause the queue")
    await expect(modal.get_by_role("textbox", name="Reason")).to_be_focused()
    for _ in range(12):
        await page.keyboard.press("Tab")
        await expect(modal.locator(":focus")).to_have_count(1)


async def test_a_modal_that_was_open_is_open_again_after_a_reload(page: Page) -> None:
    await type_command(page, "/mq pause")
    modal = page.get_by_role("dialog", name="Pause the queue")
    await expect(modal).to_be_visible()
    await page.reload()
    await expect(modal).to_be_visible()
    await modal.get_by_role("button", name="Cancel").click()
    await expect(modal).to_have_count(0)
