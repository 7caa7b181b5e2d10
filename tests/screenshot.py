"""`python -m tests.screenshot`: takes the README's pictures of the demo, in Chromium.

It stands with the tests and not in docs/: it needs Playwright, Chromium and the page's parts as
they do, and is linted and typed with them.
"""

import asyncio
import re
import shutil
import sys
from pathlib import Path

import click
from playwright.async_api import FloatRect, Locator, Page, async_playwright, expect

from tests.browser.conftest import CHROMIUM_ARGUMENTS, CHROMIUM_NAMES
from tests.browser.page_parts import message, type_command
from tests.support.demo_process import running_demo

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"
CARD = PICTURES / "pause-card.png"
WHY = PICTURES / "why.png"
WIDTH = 1280
HEIGHT = 860
TIMEOUT_MILLISECONDS = 120_000
REASON = "CI runners are down"


def main() -> None:
    path = next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
    if path is None:
        raise click.ClickException("there is no Chromium on the PATH")
    mqbot = Path(sys.executable).with_name("mqbot")
    with running_demo(mqbot, "demo", "--port", "0", cwd=ROOT) as demo:
        asyncio.run(_take(demo.page_url, path))
    for picture in (CARD, WHY):
        click.echo(f"{picture.relative_to(ROOT)} is written")


async def _take(page_url: str, chromium: str) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium, args=CHROMIUM_ARGUMENTS
        )
        context = await browser.new_context(
            viewport={"width": WIDTH, "height": HEIGHT},
            color_scheme="light",
            locale="en-US",
            reduced_motion="reduce",
        )
        context.set_default_timeout(TIMEOUT_MILLISECONDS)
        expect.set_options(timeout=TIMEOUT_MILLISECONDS)
        page = await context.new_page()
        await page.goto(page_url)
        await page.evaluate("document.fonts.ready")
        await _why_one_failed(page)
        await _card_of_a_pause(page)
        await browser.close()


async def _why_one_failed(page: Page) -> None:
    """The verdict on the first pull request that left because of a check."""
    failure = message(page, "failed").filter(has_text="Left the queue").first
    await expect(failure).to_be_visible()
    number = re.search(r"#(\d+)", await failure.inner_text())
    assert number is not None
    await type_command(page, f"/mq why acme/site#{number[1]}")
    answer = message(page, f"#{number[1]}").filter(has_text="Only visible to you").last
    await expect(answer).to_contain_text("Next")
    await _picture(page, answer, WHY)


async def _card_of_a_pause(page: Page) -> None:
    """A timed pause, once its card counts what has arrived since."""
    await type_command(page, f"/mq pause now acme/site 45m {REASON}")
    card = message(page, REASON).first
    await expect(card.get_by_role("button", name="Resume queue")).to_be_visible()
    await expect(card).to_contain_text("since the pause")
    await _picture(page, card, CARD)


async def _picture(page: Page, part: Locator, path: Path) -> None:
    """Of a message where it stands now: the posts below it go on coming."""
    await part.evaluate("element => element.scrollIntoView({block: 'center'})")
    box = await part.bounding_box()
    assert box is not None
    clip: FloatRect = {
        "x": box["x"],
        "y": box["y"],
        "width": box["width"],
        "height": box["height"],
    }
    await page.screenshot(path=path, clip=clip)


if __name__ == "__main__":
    main()
