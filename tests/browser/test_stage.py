"""The demo's checklist and its panel, the menu of a message, and what the page tells of itself."""

from typing import Literal

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from bot.sandbox.merge_queue.server import MergeQueueSandbox
from bot.sandbox.server import Sandbox
from bot.sandbox.slack.server import SlackSandbox
from bot.sandbox.story.stage import DemoStage
from bot.sandbox.story.steps import SITE
from bot.sandbox.story.telling import Teller
from tests.browser.conftest import OpenPage
from tests.browser.page_parts import composer, message, sidebar, type_command
from tests.browser.scripted_app import ScriptedApp
from tests.browser.test_accessibility import finds_nothing

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


@pytest_asyncio.fixture(loop_scope="session")
async def service(sandbox: SlackSandbox) -> MergeQueueSandbox:
    """A merge queue service whose demo the workspace is."""
    running = MergeQueueSandbox(repositories={SITE: "quiet"})
    both = Sandbox(running, sandbox)
    stage = DemoStage(both, Teller(both, 0.0, lambda _seconds: None), speed=6.0)
    stage.open()
    sandbox.stage = stage
    return running


async def test_the_checklist_types_a_command_and_ticks_itself(
    service: MergeQueueSandbox,  # noqa: ARG001 - there is a stage
    open_page: OpenPage,
    app: ScriptedApp,
) -> None:
    page = await open_page()
    steps = sidebar(page).get_by_role("region", name="First steps")
    await expect(steps).to_contain_text("0 of 7")
    await steps.get_by_role("button", name="/mq status").click()
    await expect(composer(page)).to_have_value("/mq status")
    await page.keyboard.press("Enter")
    await expect(steps).to_contain_text("1 of 7")
    await expect(steps.get_by_role("button", name="See the queue (done)")).to_be_visible()
    assert await app.received_all(1) == [("command", "status")]
    # The next one is open by itself, any other with a press.
    await expect(steps.get_by_role("button", name="/mq pause")).to_be_visible()
    await steps.get_by_role("button", name="Be the second person").click()
    await steps.get_by_role("button", name="Become Bob Okafor").click()
    await expect(page.get_by_role("button", name="You are Bob Okafor")).to_be_visible()


async def test_the_checklist_is_there_before_the_story_is_told_and_opens_then(
    sandbox: SlackSandbox, open_page: OpenPage, app: ScriptedApp
) -> None:
    both = Sandbox(MergeQueueSandbox(repositories={SITE: "quiet"}), sandbox)
    stage = DemoStage(both, Teller(both, 0.0, lambda _seconds: None), speed=6.0)
    sandbox.stage = stage
    page = await open_page()
    steps = sidebar(page).get_by_role("region", name="First steps")
    await expect(steps.get_by_role("listitem")).to_have_count(7)
    await expect(steps).to_contain_text("The steps open in a moment")
    begin = steps.get_by_role("button", name="/mq status")
    await expect(begin).to_have_count(0)
    await expect(page.get_by_role("button", name="What if…")).to_have_count(0)

    # What is done in the story is not the visitor's.
    await type_command(page, "/mq status")
    assert await app.received_all(1) == [("command", "status")]
    stage.open()
    await expect(begin).to_be_visible()
    await expect(steps).to_contain_text("0 of 7")
    await expect(steps).not_to_contain_text("The steps open in a moment")
    await expect(page.get_by_role("button", name="What if…")).to_be_visible()


@pytest.mark.usefixtures("app")
async def test_the_newest_message_stays_in_view_where_all_rows_are_drawn_again(
    sandbox: SlackSandbox, open_page: OpenPage
) -> None:
    page = await open_page()
    for number in range(12):
        sandbox.people.message("U0BOB", "C0MERGEQ", f"Message {number}\n" * 5)
    await expect(message(page, "Message 11")).to_be_in_viewport()
    sandbox.arrangement.add_user("frank")
    sandbox.people.message("U0BOB", "C0MERGEQ", "Welcome, Frank")
    await expect(message(page, "Welcome, Frank")).to_be_in_viewport()


@pytest.mark.parametrize("reduced_motion", ["reduce", "no-preference"])
@pytest.mark.usefixtures("service")
async def test_on_a_phone_the_steps_are_opened_by_touch_and_keyboard(
    open_page: OpenPage, reduced_motion: Literal["reduce", "no-preference"]
) -> None:
    page = await open_page(width=360)
    await page.emulate_media(reduced_motion=reduced_motion)
    opener = page.get_by_role("button", name="0 of 7 steps")
    await expect(opener).to_have_text("0 of 7 steps")
    await opener.click()
    await expect(page.get_by_role("button", name="See the queue")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(opener).to_be_focused()
    await page.keyboard.press("Enter")
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("button", name="/mq status")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(composer(page)).to_have_value("/mq status")
    await expect(opener).to_have_attribute("aria-expanded", "false")


async def test_the_panel_makes_things_happen_and_says_when_it_cannot(
    service: MergeQueueSandbox,
    open_page: OpenPage,
    app: ScriptedApp,  # noqa: ARG001 - the app is connected before the page opens
) -> None:
    page = await open_page()
    for _ in range(2):
        await page.get_by_role("button", name="What if…").click()
        await page.get_by_role("menuitem", name="Dave pauses the queue").click()
    await expect(page.get_by_role("alert").filter(has_text="paused already")).to_be_visible()
    assert service.repository(SITE).pause is not None
    await page.get_by_role("button", name="Dismiss", exact=True).click()
    await expect(page.get_by_role("alert").filter(has_text="paused already")).to_be_hidden()

    # A refusal that isn't dismissed ends with the next choice.
    await page.get_by_role("button", name="What if…").click()
    await page.get_by_role("menuitem", name="Carol pauses the queue").click()
    await expect(page.get_by_role("alert").filter(has_text="paused already")).to_be_visible()
    await page.get_by_role("button", name="What if…").click()
    await page.get_by_role("menuitem", name="The merge queue service is down").click()
    end = page.get_by_role("button", name="End: The merge queue service is down")
    await expect(end).to_be_visible()
    await expect(page.get_by_role("alert").filter(has_text="paused already")).to_be_hidden()
    assert service.faults.armed
    await end.click()
    await expect(end).to_have_count(0)
    assert not service.faults.armed


async def test_the_menu_of_a_message_has_the_apps_shortcut(page: Page, app: ScriptedApp) -> None:
    await app.post("The registry is down")
    post = message(page, "The registry is down")
    await post.hover()
    await post.get_by_role("button", name="Message actions").click()
    menu = page.get_by_role("menu", name="Message actions")
    await expect(menu.get_by_role("menuitem", name="Reply in thread")).to_be_visible()
    await menu.get_by_role("menuitem", name="Pause because of this").click()
    await expect(page.get_by_role("dialog", name="Pause the queue")).to_be_visible()
    assert await app.received_all(1) == [("message", "The registry is down")]


async def test_the_menu_of_a_message_is_reached_with_the_keyboard(
    page: Page, app: ScriptedApp
) -> None:
    await app.post("The registry is down")
    await expect(message(page, "The registry is down")).to_be_visible()
    await page.get_by_role("region", name="Messages", exact=True).focus()
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("m")
    await expect(page.get_by_role("menuitem", name="Reply in thread")).to_be_focused()
    await page.keyboard.press("p")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("dialog", name="Pause the queue")).to_be_visible()


async def test_a_refused_message_shortcut_is_told(page: Page, app: ScriptedApp) -> None:
    await app.post("The registry is down")
    post = message(page, "The registry is down")
    await expect(post).to_be_visible()
    await app.stop()
    await post.hover()
    await post.get_by_role("button", name="Message actions").click()
    await page.get_by_role("menuitem", name="Pause because of this").click()
    told = page.get_by_role("alert").filter(has_text="“Pause because of this” did not work")
    await expect(told).to_contain_text("The app is not connected")


async def test_a_refused_shortcut_is_told_where_no_channel_is_open(
    page: Page, app: ScriptedApp
) -> None:
    await page.get_by_role("button", name="Merge Queue connected").click()
    await expect(page.get_by_role("region", name="Home tab")).to_be_visible()
    await app.stop()
    await page.evaluate("import('/static/state.js').then((page) => page.notice('Not connected'))")
    await expect(page.get_by_role("alert").filter(has_text="Not connected")).to_be_visible()


async def test_a_mistake_of_the_page_is_told_with_a_way_out(page: Page) -> None:
    broken = "new ErrorEvent('error', {error: new Error('no such row')})"
    await page.evaluate(f"() => {{ dispatchEvent({broken}); }}")
    told = page.get_by_role("alert").filter(has_text="This page has made a mistake (no such row)")
    await told.get_by_role("button", name="Reload the page").click()
    await expect(told).to_have_count(0)
    await expect(composer(page)).to_be_enabled()


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 360])
async def test_axe_finds_nothing_on_the_stage_and_nothing_is_cut_off(
    service: MergeQueueSandbox,  # noqa: ARG001 - there is a stage
    open_page: OpenPage,
    app: ScriptedApp,
    *,
    width: int,
    dark: bool,
) -> None:
    page = await open_page(width=width, dark=dark)
    await app.post("The registry is down")
    await expect(message(page, "The registry is down")).to_be_visible()
    assert await page.evaluate("document.scrollingElement.scrollWidth") <= width
    if width < 760:
        await page.get_by_role("button", name="0 of 7 steps").click()
    await expect(sidebar(page).get_by_role("button", name="/mq status")).to_be_visible()
    await finds_nothing(page)
    await page.get_by_role("button", name="What if…").click()
    await expect(page.get_by_role("menu", name="What if…")).to_be_visible()
    await finds_nothing(page)
    await page.keyboard.press("Escape")
    if width < 760:
        await page.keyboard.press("Escape")
    await type_command(page, "/mq status")
    await page.evaluate("import('/static/toast.js').then((page) => page.toast('Refused'))")
    await expect(page.get_by_role("alert").filter(has_text="Refused")).to_be_visible()
    await finds_nothing(page)
