"""Finds the parts of the page as a person would: by role and text."""

from playwright.async_api import Locator, Page, expect


def composer(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Message", exact=True)


def channel_list(page: Page) -> Locator:
    return page.get_by_role("region", name="Messages", exact=True)


def messages(page: Page) -> Locator:
    return channel_list(page).locator("li.message")


def message(page: Page, text: str) -> Locator:
    return messages(page).filter(has_text=text)


def thread_pane(page: Page) -> Locator:
    return page.get_by_role("complementary", name="Thread")


def sidebar(page: Page) -> Locator:
    return page.get_by_role("navigation", name="Workspace")


async def type_command(page: Page, text: str) -> None:
    # A dialog that is closing still has the focus, and what is typed then goes nowhere.
    await expect(page.locator("dialog[open]")).to_have_count(0)
    await composer(page).fill(text)
    await composer(page).press("Enter")
