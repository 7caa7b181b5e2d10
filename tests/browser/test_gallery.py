"""Every kind of block, element and markup is shown; pictures are kept for review."""

import json
import os
from pathlib import Path

import pytest
from playwright.async_api import Locator, Page, expect

from bot.sandbox.slack.server import SlackSandbox
from tests.browser.conftest import OpenPage
from tests.browser.gallery import CHART, MESSAGES
from tests.browser.page_parts import message, messages, type_command
from tests.browser.scripted_app import ScriptedApp

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

SHOWN = {
    "section": ["Reason", "CI is down", "With a button"],
    "header": ["The queue is paused"],
    "context": ["acme/site · main", "12 min"],
    "divider": ["above", "below"],
    "image": ["Merges", "Merges a day"],
    "rich_text": ["@Bob Okafor", "#releases", "@here", "2014-02-18", "quoted", "inner"],
    "chart": ["Merged and failed", "Mon 16", "210", "27", "0"],
    "table": ["Pull request", "3 of 4 done", "12 min"],
    "markdown": ["Heading", "nested", "open", "quoted", "Depth", "as typed"],
    "buttons": ["Resume queue", "Remove", "Refresh"],
    "selects": [],
    "choices": ["acme/site", "the interface"],
}


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """The folder for the pictures; MQBOT_GALLERY keeps them."""
    kept = os.environ.get("MQBOT_GALLERY")
    folder = Path(kept) if kept else tmp_path
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_every_kind_of_message_is_shown_in_full(
    open_page: OpenPage, app: ScriptedApp, pictures: Path, scheme: str
) -> None:
    page = await open_page(width=1000, height=2300, dark=scheme == "dark")
    for number, (kind, blocks) in enumerate(MESSAGES.items(), start=1):
        await app.post(kind, blocks=blocks)
        await expect(messages(page)).to_have_count(number)
        row = messages(page).last
        for words in SHOWN[kind]:
            await expect(row).to_contain_text(words)
        await expect(row.locator(".unsupported")).to_have_count(0)
    await page.screenshot(path=pictures / f"{scheme}.png")


@pytest.mark.parametrize(("days", "whole"), [(7, True), (20, False)])
async def test_phones_show_the_newest_days_of_a_chart_first(
    open_page: OpenPage, app: ScriptedApp, days: int, *, whole: bool
) -> None:
    page = await open_page(width=400)
    labels = [f"Mon Nov {day}" for day in range(1, days + 1)]
    series = [{"label": label, "value": 12} for label in labels]
    chart = {
        "type": "bar",
        "axis_config": {"categories": labels},
        "series": [{"name": "Merged", "data": series}, {"name": "Failed", "data": series}],
    }
    await app.post("chart", blocks=[{**CHART, "chart": chart}])
    columns = message(page, "Merged and failed").locator(".chart-column")
    await expect(columns.last).to_be_in_viewport(ratio=1)
    if whole:
        await expect(columns.first).to_be_in_viewport(ratio=1)


async def test_markup_is_read_as_slack_reads_it(page: Page, app: ScriptedApp) -> None:
    await app.post("markup", blocks=MESSAGES["section"])
    row = message(page, "With a button")
    for tag, words in [
        ("strong", "bold"),
        ("em", "italic"),
        ("s", "struck"),
        ("code", "code"),
        ("blockquote", "quoted"),
        ("pre", "as typed"),
    ]:
        await expect(row.locator(f".message-body {tag}").first).to_have_text(words)
    await expect(row).to_contain_text(":no_such_emoji: <tag> 2014-02-18")
    await expect(row.get_by_role("img", name="tada")).to_have_attribute("title", ":tada:")
    await expect(row.get_by_role("link", name="a link")).to_have_attribute(
        "href", "https://example.com/"
    )


async def test_an_unknown_block_is_shown_by_its_type(
    page: Page, sandbox: SlackSandbox, app: ScriptedApp
) -> None:
    ts = await app.post("from the future")
    stored = sandbox.installation.workspace.channels["C0MERGEQ"].messages.get(ts)
    assert stored is not None
    stored.blocks = [{"type": "hologram", "block_id": "b"}]
    sandbox.installation.workspace.replace(stored)
    await expect(messages(page).last).to_contain_text("The block “hologram” is not shown")


async def test_every_kind_of_form_field_is_filled_and_arrives(
    page: Page, app: ScriptedApp, pictures: Path
) -> None:
    await type_command(page, "/mq form")
    modal = page.get_by_role("dialog", name="Everything")
    await _choose(page, modal.get_by_role("combobox", name="Repository"), "api")
    await modal.get_by_role("textbox", name="Reason").fill("CI is down")
    await modal.get_by_role("textbox", name="Count").fill("twelve")
    await modal.get_by_role("textbox", name="E-mail").fill("alice")
    await modal.get_by_role("textbox", name="Page").fill("example")
    await _choose(page, modal.get_by_role("combobox", name="Tell"), "bob")
    await _choose(page, modal.get_by_role("combobox", name="Tell"), "carol")
    await modal.get_by_label("Until").fill("2026-03-01T15:00")
    await modal.get_by_role("checkbox", name="acme/api").check()
    await modal.get_by_role("button", name="Send").click()
    for sentence in ("whole number", "valid email address", "valid address"):
        await expect(modal).to_contain_text(sentence)
    await expect(modal.get_by_role("textbox", name="Count")).to_be_focused()
    await page.screenshot(path=pictures / "modal.png")
    await modal.get_by_role("textbox", name="Count").fill("12")
    await modal.get_by_role("textbox", name="E-mail").fill("alice@example.com")
    await modal.get_by_role("textbox", name="Page").fill("https://example.com/")
    await modal.get_by_role("button", name="Send").click()
    await expect(modal).to_have_count(0)
    heard = dict(await app.received_all(2))
    entered = json.loads(heard["form"])
    assert entered["repository"]["selected_option"]["value"] == "api"
    assert entered["reason"]["value"] == "CI is down"
    assert entered["count"]["value"] == "12"
    assert entered["mail"]["value"] == "alice@example.com"
    assert entered["page"]["value"] == "https://example.com/"
    assert entered["people"]["selected_users"] == ["U0BOB", "U0CAROL"]
    # 15:00 on the clock of the page's zone, Paris, is 14:00 UTC.
    assert entered["until"]["selected_date_time"] == 1_772_373_600
    assert [each["value"] for each in entered["also"]["selected_options"]] == ["api"]


async def _choose(page: Page, select: Locator, typed: str) -> None:
    await select.click()
    await select.press_sequentially(typed)
    await expect(page.get_by_role("option")).to_have_count(1)
    await select.press("Enter")
