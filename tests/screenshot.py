"""`python -m tests.screenshot`: takes the README's pictures of the demo, in Chromium.

It stands with the tests and not in docs/: it needs Playwright, Chromium and the page's parts as
they do, and is linted and typed with them.
"""

import asyncio
import shutil
import sys
from pathlib import Path

import click
from playwright.async_api import FloatRect, Locator, Page, async_playwright, expect

from tests.browser.conftest import CHROMIUM_ARGUMENTS, CHROMIUM_NAMES
from tests.browser.page_parts import message, type_command
from tests.support.demo_process import running_demo

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "pictures" / "demo.png"
CARD_IN_FORCE = PICTURE.with_name("pause-card-in-force.png")
CARD_AS_RECORD = PICTURE.with_name("pause-card-as-record.png")
WIDTH = 1280
HEIGHT = 860
TIMEOUT_MILLISECONDS = 60_000
REASON = "CI runners are down"


def main() -> None:
    path = next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
    if path is None:
        raise click.ClickException("there is no Chromium on the PATH")
    mqbot = Path(sys.executable).with_name("mqbot")
    with running_demo(mqbot, "demo", "--port", "0", cwd=ROOT) as demo:
        asyncio.run(_take(demo.page_url, path))
    for picture in (PICTURE, CARD_IN_FORCE, CARD_AS_RECORD):
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
        await _pause_among_posts(page)
        await page.screenshot(path=PICTURE)
        await _life_of_a_card(page)
        await browser.close()


async def _pause_among_posts(page: Page) -> None:
    for said in ("Queued", "Merged", "Left the queue"):
        await expect(message(page, said).first).to_be_visible()
    await type_command(page, f"/mq pause now acme/site 45m {REASON}")
    await expect(message(page, REASON).first).to_be_visible()
    await page.evaluate("document.fonts.ready")


async def _life_of_a_card(page: Page) -> None:
    """A timed pause: its card while it is in force, and what is left of it afterwards."""
    card = message(page, REASON).first
    await expect(card.get_by_role("button", name="Resume queue")).to_be_visible()
    await expect(card).to_contain_text("Until")
    await _picture(page, card, CARD_IN_FORCE)
    # While the queue is paused, its card counts what arrives.
    await expect(card).to_contain_text("since the pause")
    await type_command(page, "/mq resume acme/site")
    await expect(card).to_contain_text("during the pause")
    await _picture(page, card, CARD_AS_RECORD)


async def _picture(page: Page, card: Locator, path: Path) -> None:
    """Of the card where it stands now: the posts below it go on coming."""
    await card.evaluate("element => element.scrollIntoView({block: 'center'})")
    box = await card.bounding_box()
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
