"""The pages of the Home tab as a client shows them: focus order, labels, narrow screens."""

import pytest
from playwright.async_api import Locator, Page, ViewportSize, expect

from bot.blocks.message import View
from tests.browser.conftest import OpenPage
from tests.browser.page_parts import sidebar
from tests.browser.scripted_app import ScriptedApp
from tests.browser.test_accessibility import finds_nothing
from tests.support.every_message import REVIEWED
from tests.support.messages.rendering import render

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

PAGES = ("home", "home-calendar", "home-subscriptions", "home-muted")
NARROW: ViewportSize = {"width": 360, "height": 740}
NAME_OF = "node => node.getAttribute('aria-label') || node.textContent.trim()"


async def shown(page: Page, app: ScriptedApp, name: str) -> Locator:
    """The tab with a reviewed page of the bot's in it."""
    await sidebar(page).get_by_role("button", name="Merge Queue connected").click()
    home = page.get_by_role("region", name="Home tab")
    await expect(home).to_contain_text("refreshed 0 times")
    rendered = render(REVIEWED[name])
    assert isinstance(rendered, View)
    await app.client.views_publish(user_id="U0ALICE", view=dict(rendered.view))
    await expect(home).not_to_contain_text("refreshed 0 times")
    return home


async def names(buttons: Locator) -> list[str]:
    return [str(await button.evaluate(NAME_OF)) for button in await buttons.all()]


@pytest.mark.parametrize("name", PAGES)
async def test_buttons_are_reached_in_the_order_in_which_they_stand(
    page: Page, app: ScriptedApp, name: str
) -> None:
    home = await shown(page, app, name)
    buttons = home.get_by_role("button")
    await buttons.first.focus()
    reached: list[str] = []
    for _ in await buttons.all():
        reached.append(str(await page.locator(":focus").evaluate(NAME_OF)))
        await page.keyboard.press("Tab")
        while await home.locator("a:focus, [role=combobox]:focus, input:focus").count():
            await page.keyboard.press("Tab")
    assert reached == await names(buttons)


@pytest.mark.parametrize("name", ["home", "home-muted"])
async def test_no_two_buttons_sound_the_same(page: Page, app: ScriptedApp, name: str) -> None:
    found = await names((await shown(page, app, name)).get_by_role("button"))
    assert sorted(found) == sorted(set(found))


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("dark", [False, True])
async def test_axe_finds_nothing_in_it(
    open_page: OpenPage, app: ScriptedApp, name: str, *, dark: bool
) -> None:
    page = await open_page(dark=dark)
    await shown(page, app, name)
    await finds_nothing(page)


@pytest.mark.parametrize("name", PAGES)
async def test_a_phone_shows_all_of_it_without_scrolling_sideways(
    page: Page, app: ScriptedApp, name: str
) -> None:
    home = await shown(page, app, name)
    await page.set_viewport_size(NARROW)
    assert await page.evaluate("document.scrollingElement.scrollWidth") <= NARROW["width"]
    for button in await home.get_by_role("button").all():
        box = await button.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= NARROW["width"]
