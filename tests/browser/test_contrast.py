"""All text of the page has the contrast that WCAG 2.2 AA asks for, in both themes."""

import pytest
from playwright.async_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.gallery import MESSAGES
from tests.browser.page_parts import message, messages, type_command
from tests.browser.scripted_app import ScriptedApp

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

ENOUGH = 4.5
ENOUGH_WHEN_LARGE = 3.0

# Colours are painted on a canvas to be read back as red, green, blue, whatever notation CSS used.
MEASURE = r"""() => {
    const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const paint = (colour, under) => {
        context.fillStyle = under;
        context.fillRect(0, 0, 1, 1);
        context.fillStyle = colour;
        context.fillRect(0, 0, 1, 1);
        const [red, green, blue] = context.getImageData(0, 0, 1, 1).data;
        return `rgb(${red}, ${green}, ${blue})`;
    };
    const light = (colour) => {
        const parts = colour.match(/\d+/g).map((part) => part / 255);
        const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        const [r, g, b] = parts.map(linear);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (node) =>
        node ? paint(getComputedStyle(node).backgroundColor, behind(node.parentElement)) : "white";
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const node = walker.currentNode.parentElement;
        const shown = walker.currentNode.textContent.trim();
        if (!shown || !node.checkVisibility({ visibilityProperty: true })) continue;
        if (node.closest(".unseen, .emoji, :disabled, option")) continue;
        const style = getComputedStyle(node);
        const back = behind(node);
        const [one, other] = [light(paint(style.color, back)), light(back)];
        const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
        const size = parseFloat(style.fontSize);
        const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
        found.push({ shown: shown.slice(0, 40), ratio, large });
    }
    return found;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_all_text_has_enough_contrast(
    open_page: OpenPage, app: ScriptedApp, scheme: str
) -> None:
    page = await open_page(dark=scheme == "dark")
    for kind, blocks in MESSAGES.items():
        await app.post(kind, blocks=blocks)
    await expect(messages(page)).to_have_count(len(MESSAGES))
    await type_command(page, "/mq status")
    await expect(message(page, "You asked for")).to_be_visible()
    measured = await page.evaluate(MEASURE)
    await type_command(page, "/mq pause")
    await page.get_by_role("dialog").get_by_role("button", name="Pause").click()
    await expect(page.get_by_role("dialog")).to_contain_text("Please complete")
    measured += await page.evaluate(MEASURE)
    assert len(measured) > 100
    weak = [
        (each["shown"], round(each["ratio"], 2))
        for each in measured
        if each["ratio"] < (ENOUGH_WHEN_LARGE if each["large"] else ENOUGH)
    ]
    assert weak == []
