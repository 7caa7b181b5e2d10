"""Outside text stays text: no markup, no script, no mention."""

import pytest
from playwright.async_api import Page, expect

from bot.acts.reason import REASON_LIMIT
from bot.blocks.blocks import sentence
from bot.blocks.text import literal
from tests.browser.gallery import rich, words
from tests.browser.page_parts import message, messages
from tests.browser.scripted_app import ScriptedApp
from tests.support.block_kit import actions, button, mrkdwn, option, plain, section
from tests.support.typed_reasons import REASONS

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

SCRIPT = "<script>window.taken = 1</script><img src=x onerror='window.taken = 1'>"
ESCAPED = "&lt;script&gt;window.taken = 1&lt;/script&gt;"
STYLES = "strong, em, s, code, pre"
MENTIONS = "<!channel> <@U0ALICE> <https://evil.example/|click> *bold*"


async def test_markup_in_every_place_of_a_message_is_shown_as_text(
    page: Page, app: ScriptedApp
) -> None:
    await app.post(
        SCRIPT,
        blocks=[
            {"type": "header", "text": plain(SCRIPT)},
            section(ESCAPED, accessory=button(SCRIPT[:75], "hostile")),
            {"type": "section", "fields": [plain(SCRIPT), mrkdwn(f"`{ESCAPED}`")]},
            {"type": "context", "elements": [plain(SCRIPT)]},
            {"type": "rich_text", "elements": [rich(words(SCRIPT), of="preformatted")]},
            {"type": "table", "rows": [[{"type": "raw_text", "text": SCRIPT}]]},
            actions(
                {"type": "static_select", "action_id": "s", "options": [option(SCRIPT[:75], "v")]}
            ),
        ],
    )
    shown = message(page, "window.taken")
    await expect(shown).to_be_visible()
    await page.get_by_role("combobox", name="Choose an option").click()
    await expect(page.get_by_role("option").filter(has_text="window.taken")).to_be_visible()
    assert await shown.locator("script, img, iframe").count() == 0
    assert await page.evaluate("window.taken") is None


async def test_a_markdown_block_makes_no_markup_of_its_own(page: Page, app: ScriptedApp) -> None:
    text = f"{SCRIPT} [press](javascript:window.taken=1) ![x](javascript:1)"
    await app.post("markdown", blocks=[{"type": "markdown", "text": text}])
    shown = message(page, "window.taken")
    await expect(shown).to_be_visible()
    assert await shown.locator("script, img, a").count() == 0


async def test_only_web_addresses_become_links(page: Page, app: ScriptedApp) -> None:
    await app.post(
        "links",
        blocks=[
            section(
                "<javascript:window.taken=1|press> <data:text/html,x|data>"
                " <https://example.com/|good>"
            ),
            {
                "type": "rich_text",
                "elements": [rich({"type": "link", "url": "javascript:alert(1)", "text": "me"})],
            },
        ],
    )
    shown = message(page, "good")
    await expect(shown.get_by_role("link")).to_have_count(1)
    link = shown.get_by_role("link", name="good")
    await expect(link).to_have_attribute("href", "https://example.com/")
    await expect(link).to_have_attribute("rel", "noopener noreferrer")
    await expect(shown).to_contain_text("javascript:window.taken=1")


async def test_plain_text_makes_no_mentions_links_or_styles(page: Page, app: ScriptedApp) -> None:
    await app.post("plain", blocks=[{"type": "section", "text": plain(MENTIONS)}])
    shown = message(page, "<!channel>")
    await expect(shown).to_contain_text(MENTIONS)
    assert await shown.locator(".message-body .mention, .message-body a, strong").count() == 0


async def test_verbatim_keeps_bare_names_and_addresses_as_text(
    page: Page, app: ScriptedApp
) -> None:
    words = "@channel #releases https://example.com/"
    verbatim = {"type": "section", "text": {**mrkdwn(f"kept {words}"), "verbatim": True}}
    await app.post("verbatim", blocks=[verbatim])
    await app.post("free", blocks=[section(f"read {words}")])
    kept = message(page, "kept")
    read = message(page, "read")
    await expect(kept).to_contain_text(words)
    assert await kept.locator(".message-body .mention, .message-body a").count() == 0
    await expect(read).to_contain_text("@channel #releases")
    await expect(read.locator(".message-body .mention")).to_have_count(2)
    await expect(read.locator(".message-body a")).to_have_count(1)


async def test_typed_text_is_shown_as_typed(page: Page) -> None:
    await page.get_by_role("textbox", name="Message", exact=True).fill(SCRIPT)
    await page.keyboard.press("Enter")
    await expect(messages(page).last).to_contain_text(SCRIPT)
    assert await page.evaluate("window.taken") is None


async def test_the_page_itself_forbids_foreign_and_inline_scripts(page: Page) -> None:
    blocked = await page.evaluate(
        """() => new Promise((resolve) => {
            const blocked = (event) => resolve(event.effectiveDirective);
            document.addEventListener("securitypolicyviolation", blocked);
            const script = document.createElement("script");
            try { script.textContent = "window.taken = 1"; } catch { resolve("trusted types"); }
            document.body.append(script);
        })"""
    )
    assert blocked in {"script-src-elem", "trusted types", "require-trusted-types-for"}
    assert await page.evaluate("window.taken") is None


async def test_a_reason_is_shown_as_it_was_typed(page: Page, app: ScriptedApp) -> None:
    for reason in REASONS:
        shown = sentence(f"Reason was: {literal(reason, REASON_LIMIT)}")
        await app.post(shown.text, blocks=shown.wire()[0])
        row = message(page, reason)
        await expect(row).to_contain_text(f"Reason was: {reason}")
        await expect(row.locator(".message-body").locator(STYLES)).to_have_count(0)
