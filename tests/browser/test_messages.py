"""Messages: buttons, threads, ephemeral, new and many messages."""

import asyncio

import pytest
from playwright.async_api import Page, Route, expect

from bot.sandbox.slack.server import SlackSandbox
from tests.browser.conftest import OpenPage
from tests.browser.page_parts import (
    channel_list,
    composer,
    message,
    messages,
    sidebar,
    thread_pane,
    type_command,
)
from tests.browser.scripted_app import CHANNEL, PAUSED, ScriptedApp
from tests.support.block_kit import actions

COUNT_ROWS_MADE = """() => {
    window.rowsMade = 0;
    new MutationObserver((changes) => {
        for (const change of changes) window.rowsMade += change.addedNodes.length;
    }).observe(document.querySelector("ol.messages"), { childList: true });
}"""

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_a_button_with_a_confirmation_acts_only_when_confirmed(
    page: Page, app: ScriptedApp
) -> None:
    await type_command(page, "/mq pause CI is down")
    resume = page.get_by_role("button", name="Resume queue")
    await resume.click()
    question = page.get_by_role("alertdialog", name="Resume the queue?")
    await expect(question).to_contain_text("12 pull requests wait in acme/site.")
    await question.get_by_role("button", name="Keep paused").click()
    await expect(question).to_have_count(0)
    await expect(resume).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(question.get_by_role("button", name="Resume")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(message(page, "The queue runs again")).to_be_visible()
    await expect(resume).to_have_count(0)
    assert app.heard == [("command", "pause CI is down"), ("resume", "U0ALICE")]


@pytest.mark.parametrize("ack_seconds", [6.0])
async def test_an_unacknowledged_click_shows_an_error_at_the_button(
    page: Page, app: ScriptedApp
) -> None:
    await app.post("paused", blocks=PAUSED)
    ignored = page.get_by_role("button", name="Ignore me")
    await ignored.click()
    await expect(ignored).to_have_attribute("aria-busy", "true")
    await expect(
        page.get_by_role("alert").filter(has_text="did not answer in time")
    ).to_be_visible()
    await expect(ignored).not_to_have_attribute("aria-busy", "true")
    await expect(messages(page)).to_have_count(1)


async def test_menus_and_selects_are_used_with_the_keyboard(page: Page, app: ScriptedApp) -> None:
    await app.post("paused", blocks=PAUSED)
    await page.get_by_role("button", name="More actions").focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("menuitem", name="Extend by an hour")).to_be_focused()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    select = page.get_by_role("combobox", name="Choose a person")
    await select.focus()
    await page.keyboard.type("bob")
    await expect(page.get_by_role("option", name="Bob Okafor")).to_be_visible()
    await page.keyboard.press("Enter")
    await expect(select).to_have_value("Bob Okafor")
    await expect(page.get_by_role("listbox")).to_have_count(0)
    assert await app.received_all(2) == [("more", "snooze"), ("tell", "U0BOB")]


async def test_a_thread_opens_beside_the_channel_and_counts_its_replies(
    page: Page, app: ScriptedApp
) -> None:
    root = await app.post("#431 entered the queue")
    await app.post("#431: checks passed", thread_ts=root)
    await message(page, "#431 entered").get_by_role("button", name="1 reply").click()
    pane = thread_pane(page)
    await expect(pane.locator("li.message")).to_have_count(2)
    await expect(message(page, "checks passed")).to_have_count(0)
    reply = pane.get_by_role("textbox", name="Reply")
    await expect(reply).to_be_focused()
    await reply.fill("well done")
    await reply.press("Enter")
    await expect(pane.locator("li.message").filter(has_text="well done")).to_be_visible()
    await app.post("#431 failed", thread_ts=root, reply_broadcast=True)
    await expect(message(page, "#431 failed")).to_contain_text("replied to a thread")
    await page.keyboard.press("Escape")
    await expect(pane).to_be_hidden()
    await expect(page.get_by_role("button", name="3 replies")).to_be_focused()


async def test_replies_are_counted_once_even_if_the_page_gets_them_late(
    page: Page, sandbox: SlackSandbox
) -> None:
    """What the stream tells is written when it is sent: the root has its replies by then."""
    people = sandbox.people
    root = people.message("U0BOB", CHANNEL, "#431 entered the queue")["ts"]
    for number in range(3):
        people.message("U0BOB", CHANNEL, f"reply {number}", thread_ts=root)
    people.message("U0BOB", CHANNEL, "after all of them")
    await expect(message(page, "after all of them")).to_be_visible()
    replies = message(page, "#431 entered").get_by_role("button", name="replies")
    await expect(replies).to_have_text("3 replies")
    workspace = sandbox.installation.workspace
    workspace.delete(workspace.channels[CHANNEL].thread(root)[0])
    await expect(replies).to_have_text("2 replies")


async def test_changes_between_two_overlapping_reads_are_kept(
    page: Page, app: ScriptedApp, sandbox: SlackSandbox
) -> None:
    """The channel's reading was answered before the news and arrives after the thread's."""
    await app.post("older")
    root = await app.post("#431 entered the queue")
    reply = await app.post("#431: checks passed", thread_ts=root)
    answered = asyncio.Event()
    let_through = asyncio.Event()

    async def hold(route: Route) -> None:
        if "thread_ts" in route.request.url:
            await route.continue_()
            return
        response = await route.fetch()
        answered.set()
        await let_through.wait()
        await route.fulfill(response=response)

    await page.route("**/control/channels/*/messages?*", hold)
    await page.goto(f"{sandbox.url}?channel={CHANNEL}&ts={reply}&thread_ts={root}")
    await expect(thread_pane(page).locator("li.message")).to_have_count(2)
    await answered.wait()
    await app.post("news")
    await expect(message(page, "news")).to_be_visible()
    let_through.set()
    await expect(message(page, "older")).to_be_visible()
    await expect(message(page, "news")).to_be_visible()


async def test_an_ephemeral_message_stays_until_its_reader_dismisses_it(
    page: Page, open_page: OpenPage
) -> None:
    other = await open_page("U0BOB")
    await type_command(page, "/mq status")
    own = message(page, "You asked for “status”")
    await expect(own).to_contain_text("Only visible to you")
    await type_command(other, "hello from Bob")
    await expect(message(page, "hello from Bob")).to_be_visible()
    await expect(messages(other)).to_have_count(1)
    await own.get_by_role("button", name="Dismiss this message").click()
    await expect(own).to_have_count(0)
    await expect(composer(page)).to_be_focused()
    await page.reload()
    await expect(message(page, "hello from Bob")).to_be_visible()
    await expect(own).to_have_count(0)


async def test_an_edited_message_changes_in_place_and_a_deleted_one_goes(
    page: Page, app: ScriptedApp
) -> None:
    first = await app.post("first version")
    await app.post("stays")
    await expect(messages(page)).to_have_count(2)
    await app.client.chat_update(channel=CHANNEL, ts=first, text="second version")
    await expect(messages(page).first).to_contain_text("second version")
    await expect(messages(page).first).to_contain_text("(edited)")
    await app.client.chat_delete(channel=CHANNEL, ts=first)
    await expect(messages(page)).to_have_count(1)


async def test_a_reader_who_scrolled_up_stays_there_and_sees_new_messages_announced(
    page: Page, app: ScriptedApp
) -> None:
    for number in range(40):
        await app.post(f"line {number}")
    await expect(message(page, "line 39")).to_be_in_viewport()
    await channel_list(page).hover()
    await page.mouse.wheel(0, -4000)
    await expect(message(page, "line 0").first).to_be_in_viewport()
    await app.post("news")
    jump = page.get_by_role("button", name="1 new message")
    await expect(jump).to_be_visible()
    await expect(message(page, "line 0").first).to_be_in_viewport()
    await jump.click()
    await expect(message(page, "news")).to_be_in_viewport()
    await expect(jump).to_be_hidden()


async def test_a_person_who_sends_a_command_while_scrolled_up_sees_the_answer(
    page: Page, app: ScriptedApp
) -> None:
    for number in range(40):
        await app.post(f"line {number}")
    await expect(message(page, "line 39")).to_be_in_viewport()
    await channel_list(page).hover()
    await page.mouse.wheel(0, -4000)
    await expect(message(page, "line 0").first).to_be_in_viewport()
    await type_command(page, "/mq status")
    await expect(message(page, "You asked for “status”")).to_be_in_viewport()


async def test_loading_earlier_messages_does_not_move_the_reader(
    page: Page, sandbox: SlackSandbox
) -> None:
    for number in range(300):
        sandbox.people.message("U0BOB", CHANNEL, f"line {number}.")
    await page.reload()
    await expect(message(page, "line 299.")).to_be_in_viewport()
    await channel_list(page).hover()
    await page.mouse.wheel(0, -100_000)
    await expect(message(page, "line 100.")).to_be_in_viewport()
    await expect(message(page, "line 99.")).to_have_count(0)
    await page.get_by_role("button", name="Show earlier messages").click()
    await expect(message(page, "line 99.")).to_have_count(1)
    await expect(message(page, "line 100.")).to_be_in_viewport()
    await expect(message(page, "line 0.")).not_to_be_in_viewport()


async def test_arrow_keys_move_between_messages_and_r_replies(page: Page, app: ScriptedApp) -> None:
    for text in ("one", "two", "three"):
        await app.post(text)
    await expect(message(page, "three")).to_be_visible()
    await channel_list(page).focus()
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("ArrowUp")
    await expect(message(page, "two")).to_be_focused()
    await page.keyboard.press("r")
    await expect(thread_pane(page).locator("li.message")).to_contain_text(["two"])
    await page.keyboard.type("an answer")
    await page.keyboard.press("Enter")
    await expect(message(page, "two").get_by_role("button", name="1 reply")).to_be_visible()


async def test_a_menu_of_the_app_is_searched_by_typing(page: Page, app: ScriptedApp) -> None:
    menu = {"type": "external_select", "action_id": "search", "min_query_length": 2}
    await app.post("search", blocks=[actions(menu)])
    select = page.get_by_role("combobox", name="Choose an option")
    await select.press_sequentially("a")
    await expect(page.get_by_text("Type at least 2 characters")).to_be_visible()
    await select.press_sequentially("cme")
    await page.get_by_role("option", name="acme-found").click()
    await expect(select).to_have_value("acme-found")
    assert await app.received_all(1) == [("search", "found")]


async def test_another_channel_shows_its_unread_count_and_where_new_messages_begin(
    page: Page, app: ScriptedApp
) -> None:
    await app.post("seen by nobody yet", channel="C0RELEASE")
    await app.post("nor this", channel="C0RELEASE")
    await sidebar(page).get_by_role("button", name="releases 2 new").click()
    await expect(page.get_by_role("heading", name="releases").first).to_be_visible()
    await expect(message(page, "nor this")).to_be_visible()
    await expect(channel_list(page).locator(".new-line")).to_be_visible()
    await expect(sidebar(page).get_by_role("button", name="releases", exact=True)).to_be_visible()


async def test_a_click_arrives_although_the_page_changes_while_the_button_is_held(
    page: Page, app: ScriptedApp
) -> None:
    await sidebar(page).get_by_role("button", name="releases").hover()
    await page.mouse.down()
    await app.post("while the button is held", channel="C0GENERAL")
    await page.wait_for_function(
        "import('/static/state.js').then((state) => state.conversation('C0GENERAL').unread === 1)"
    )
    await page.mouse.up()
    await expect(page.get_by_role("heading", name="releases").first).to_be_visible()
    await expect(sidebar(page).get_by_role("button", name="general 1 new")).to_be_visible()


async def test_thousands_of_messages_stay_usable(
    page: Page, app: ScriptedApp, sandbox: SlackSandbox
) -> None:
    for number in range(3000):
        sandbox.people.message("U0BOB", CHANNEL, f"message {number}")
        if number % 200 == 0:
            await asyncio.sleep(0)
    await expect(message(page, "message 2999")).to_be_in_viewport()
    await page.evaluate(COUNT_ROWS_MADE)
    await type_command(page, "/mq status")
    await expect(message(page, "You asked for “status”")).to_be_in_viewport()
    # One more message costs its own row, whatever stands above it.
    assert await page.evaluate("window.rowsMade") <= 3
    assert await messages(page).count() <= 601
    assert app.heard == [("command", "status")]


async def test_screen_readers_announce_new_messages_by_their_fallback_text(
    page: Page, app: ScriptedApp
) -> None:
    await app.post("#431 *merged*", blocks=PAUSED)
    said = page.get_by_role("log")
    await expect(said).to_contain_text("Merge Queue: #431 merged")


async def test_attachments_and_reactions_stand_under_their_message(
    page: Page, app: ScriptedApp, sandbox: SlackSandbox
) -> None:
    attachment = {
        "color": "danger",
        "title": "Build 17",
        "title_link": "https://example.com/17",
        "text": "*2* checks failed",
        "fallback": "Build 17 failed",
        "fields": [{"title": "Branch", "value": "main"}],
    }
    ts = await app.post("see below", attachments=[attachment])
    row = message(page, "see below")
    await expect(row.get_by_role("link", name="Build 17")).to_be_visible()
    await expect(row).to_contain_text("2 checks failed")
    await expect(row).to_contain_text("main")
    workspace = sandbox.installation.workspace
    stored = workspace.channels[CHANNEL].messages.get(ts)
    assert stored is not None
    workspace.react(stored, "U0BOB", "tada")
    await expect(row.get_by_title("Bob Okafor")).to_contain_text("1")
