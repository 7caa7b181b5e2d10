"""The frame: Home tab, people, themes, small screens, keys, and lost connections."""

import asyncio

import pytest
from playwright.async_api import Browser, Page, Route, ViewportSize, expect

from bot.sandbox.slack.server import SlackSandbox
from tests.browser.conftest import MANIFEST, OpenPage
from tests.browser.page_parts import (
    composer,
    message,
    messages,
    sidebar,
    thread_pane,
    type_command,
)
from tests.browser.scripted_app import CHANNEL, ScriptedApp
from tests.browser.test_accessibility import finds_nothing

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_the_home_tab_shows_the_published_view_and_its_buttons_work(page: Page) -> None:
    await sidebar(page).get_by_role("button", name="Merge Queue connected").click()
    home = page.get_by_role("region", name="Home tab")
    await expect(home).to_contain_text("acme/site refreshed 0 times")
    refresh = home.get_by_role("button", name="Refresh")
    await refresh.click()
    await expect(home).to_contain_text("acme/site refreshed 1 times")
    await expect(refresh).to_be_focused()
    await page.get_by_role("navigation", name="The app's tabs").get_by_text("Messages").click()
    await expect(composer(page)).to_be_visible()


async def test_switching_person_shows_that_persons_channels_and_messages(page: Page) -> None:
    await type_command(page, "/mq status")
    await expect(messages(page)).to_have_count(1)
    await expect(sidebar(page)).to_contain_text("incidents")
    await page.get_by_role("button", name="You are Alice Martin switch person").click()
    await page.get_by_role("menuitemradio", name="Carol Jensen").click()
    await expect(page.get_by_role("button", name="You are Carol Jensen")).to_be_visible()
    await expect(messages(page)).to_have_count(0)
    await expect(sidebar(page)).not_to_contain_text("incidents")
    await page.reload()
    await expect(page.get_by_role("button", name="You are Carol Jensen")).to_be_visible()


async def test_the_theme_follows_the_system_until_chosen_and_is_remembered(
    open_page: OpenPage,
) -> None:
    page = await open_page(dark=True)
    dark = await _background(page)
    await page.get_by_role("button", name="Light theme").click()
    assert await _background(page) != dark
    await page.reload()
    await expect(page.get_by_role("button", name="Dark theme")).to_be_visible()
    assert await _background(page) != dark


async def _background(page: Page) -> str:
    return str(
        await page.locator("main").evaluate("node => getComputedStyle(node).backgroundColor")
    )


async def test_the_page_works_on_a_screen_of_360_pixels(
    open_page: OpenPage, app: ScriptedApp
) -> None:
    page = await open_page(width=360, height=700)
    await app.post("a" * 200)
    await expect(message(page, "aaa")).to_be_visible()
    width = await page.evaluate("document.scrollingElement.scrollWidth")
    assert width <= 360
    await expect(sidebar(page)).to_be_hidden()
    await page.get_by_role("button", name="Channels").click()
    await sidebar(page).get_by_role("button", name="general").click()
    await expect(sidebar(page)).to_be_hidden()
    await expect(page.get_by_role("heading", name="general").first).to_be_visible()


async def test_on_a_phone_message_actions_cover_no_text(
    browser: Browser, sandbox: SlackSandbox, app: ScriptedApp
) -> None:
    size = ViewportSize(width=360, height=700)
    async with await browser.new_context(viewport=size, is_mobile=True, has_touch=True) as phone:
        page = await phone.new_page()
        await page.goto(sandbox.url)
        await expect(composer(page)).to_be_enabled()
        assert await page.evaluate("matchMedia('(hover: none)').matches")
        await app.post("every word of what is said can be read " * 4)
        post = message(page, "every word")
        await expect(post).to_be_visible()
        tools = await post.locator(".message-tools").bounding_box()
        words = await post.locator(".message-body").bounding_box()
        assert tools is not None
        assert words is not None
        assert words["x"] + words["width"] <= tools["x"]


async def test_a_phone_has_room_for_messages_above_the_tip(
    open_page: OpenPage,
    app: ScriptedApp,  # noqa: ARG001 - its commands are what the tip offers
) -> None:
    page = await open_page(width=400, height=800)
    tip = page.get_by_role("region", name="What to try")
    await expect(tip).to_be_visible()
    assert await tip.evaluate("node => node.offsetHeight") <= 80
    placeholder = "node => node.scrollWidth <= node.clientWidth"
    assert await composer(page).evaluate(placeholder)


async def test_the_question_mark_opens_the_list_of_keys(page: Page) -> None:
    await page.locator("body").press("?")
    window = page.get_by_role("dialog", name="Help")
    await expect(window).to_contain_text("Shift + Enter")
    await page.keyboard.press("Escape")
    await expect(window).to_have_count(0)


async def test_the_skip_link_is_first_and_leads_to_the_message_box(open_page: OpenPage) -> None:
    page = await open_page()
    await page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the message box")
    await expect(skip).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(composer(page)).to_be_focused()


async def test_the_tip_offers_the_manifests_command_and_stays_dismissed(page: Page) -> None:
    tip = page.get_by_role("region", name="What to try")
    await tip.get_by_role("button", name="/mq pause CI is down").click()
    await expect(composer(page)).to_have_value("/mq pause CI is down")
    await tip.get_by_role("button", name="Dismiss this tip").click()
    await expect(tip).to_have_count(0)
    await page.reload()
    await expect(composer(page)).to_be_visible()
    await expect(tip).to_have_count(0)


async def test_a_missing_app_connection_is_shown_until_it_connects(
    page: Page, app: ScriptedApp
) -> None:
    banner = page.get_by_role("status").filter(has_text="Merge Queue is not connected")
    await expect(banner).to_be_hidden()
    await app.stop()
    await expect(banner).to_be_visible()
    await type_command(page, "/mq status")
    await expect(message(page, "/mq failed")).to_be_visible()
    await expect(composer(page)).to_have_value("/mq status")
    await app.start()
    await expect(banner).to_be_hidden()


async def test_after_a_lost_connection_the_page_loads_missed_messages(
    page: Page, sandbox: SlackSandbox, app: ScriptedApp
) -> None:
    sandbox.people.message("U0BOB", CHANNEL, "before")
    await expect(message(page, "before")).to_be_visible()
    root = await app.post("a batch is red")
    await app.client.chat_postMessage(
        channel=CHANNEL, thread_ts=root, text="its culprit was", reply_broadcast=True
    )
    await expect(message(page, "its culprit was")).to_be_visible()
    port = int(sandbox.url.rsplit(":", 1)[1].rstrip("/"))
    await app.stop()
    await sandbox.stop()
    banner = page.get_by_role("status").filter(has_text="connection to the local workspace is lost")
    await expect(banner).to_be_visible()
    successor = SlackSandbox(MANIFEST)
    successor.people.message("U0BOB", CHANNEL, "written while nobody listened")
    await successor.start(port=port)
    try:
        await expect(message(page, "written while nobody listened")).to_be_visible()
        await expect(message(page, "before")).to_have_count(0)
        await expect(message(page, "its culprit was")).to_have_count(0)
        await expect(banner).to_be_hidden()
    finally:
        await successor.stop()


async def test_a_permalink_opens_its_channel_at_its_message(
    open_page: OpenPage, sandbox: SlackSandbox, app: ScriptedApp
) -> None:
    ts = await app.post("here it is", channel="C0RELEASE")
    answer = await app.client.chat_getPermalink(channel="C0RELEASE", message_ts=ts)
    page = await open_page()
    link = str(answer["permalink"])
    await page.goto(f"{sandbox.url.rstrip('/')}{link[link.index('/archives') :]}")
    await expect(message(page, "here it is")).to_be_focused()


async def test_escape_closes_the_channels_wherever_the_keyboard_is(open_page: OpenPage) -> None:
    page = await open_page(width=360, height=700)
    await page.get_by_role("button", name="Channels").click()
    await expect(sidebar(page)).to_be_visible()
    await page.evaluate("document.activeElement.blur()")
    await page.keyboard.press("Escape")
    await expect(sidebar(page)).to_be_hidden()
    await expect(page.get_by_role("button", name="Channels")).to_be_focused()


async def test_a_direct_message_is_counted_at_the_app_and_one_click_away(
    page: Page, app: ScriptedApp
) -> None:
    await app.client.chat_postMessage(channel="U0ALICE", text="Your pull request merged")
    await page.get_by_role("button", name="Merge Queue connected 1 new").click()
    await expect(message(page, "Your pull request merged")).to_be_visible()
    await expect(
        page.get_by_role("button", name="Merge Queue connected", exact=True)
    ).to_be_visible()


async def test_emoji_are_drawn_or_named_where_the_system_has_none(
    open_page: OpenPage, app: ScriptedApp
) -> None:
    page = await open_page()
    # Every character looks the same, as where there is only the box for what is missing.
    await page.evaluate(
        "CanvasRenderingContext2D.prototype.getImageData = () => ({ data: new Uint8Array(4) })"
    )
    await app.post("of the bot :warning: of others :tada:")
    post = message(page, "of the bot")
    await expect(post.get_by_role("img", name="warning").locator("svg")).to_be_visible()
    await expect(post.get_by_role("img", name="tada")).to_have_text(":tada:")


async def test_a_reply_to_a_click_far_up_scrolls_into_view(page: Page, app: ScriptedApp) -> None:
    await type_command(page, "/mq status")
    for number in range(30):
        await app.post(f"message {number}")
    await expect(message(page, "message 29")).to_be_in_viewport()
    await messages(page).first.scroll_into_view_if_needed()
    await page.mouse.wheel(0, -9000)
    await expect(message(page, "message 29")).not_to_be_in_viewport()
    await messages(page).first.get_by_role("button").first.click()
    await app.post("what came of it")
    await expect(message(page, "what came of it")).to_be_in_viewport()


async def test_a_channel_says_that_it_is_loading_then_that_it_is_empty(page: Page) -> None:
    held: asyncio.Queue[Route] = asyncio.Queue()
    await page.route("**/control/channels/C0GENERAL/messages*", held.put)
    await page.get_by_role("button", name="general").click()
    reading = await held.get()
    region = page.get_by_role("region", name="Messages", exact=True)
    loading = page.get_by_role("status").filter(has_text="Loading…")
    await expect(loading).to_be_visible()
    await expect(region).to_have_attribute("aria-busy", "true")
    await expect(region).not_to_contain_text("There are no messages yet.")
    await finds_nothing(page)

    await reading.continue_()
    await expect(region).to_contain_text("There are no messages yet.")
    await expect(region).to_have_attribute("aria-busy", "false")
    await expect(loading).to_be_hidden()
    await type_command(page, "Good morning!")
    await expect(messages(page)).to_have_count(1)
    await expect(region).not_to_contain_text("There are no messages yet.")


async def test_a_channel_that_cannot_be_read_does_not_look_empty(page: Page) -> None:
    await page.route("**/control/channels/C0GENERAL/messages*", lambda route: route.abort())
    await page.get_by_role("button", name="general").click()
    failed = page.get_by_role("status").filter(has_text="The messages couldn't be loaded.")
    await expect(failed).to_be_visible()
    await expect(page.get_by_text("There are no messages yet.")).to_have_count(0)


async def test_a_thread_says_that_its_replies_are_loading(page: Page, app: ScriptedApp) -> None:
    root = await app.post("The registry is down")
    await app.post("It is up again", thread_ts=root)
    held: asyncio.Queue[Route] = asyncio.Queue()
    await page.route("**/messages?*thread*", held.put)
    await message(page, "The registry is down").get_by_role("button", name="1 reply").click()
    reading = await held.get()
    pane = thread_pane(page)
    await expect(pane.get_by_role("status").filter(has_text="Loading…")).to_be_visible()
    await reading.continue_()
    await expect(pane).to_contain_text("It is up again")
    await expect(pane.get_by_role("status").filter(has_text="Loading…")).to_be_hidden()
