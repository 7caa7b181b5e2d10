"""`python -m tests.screenshot`: takes the README's picture of the demo, with the system's Chromium.

It stands with the tests and not in docs/: it needs Playwright, Chromium and the page's parts as
they do, and is linted and typed with them.
"""

import asyncio
import shutil
import sys
from pathlib import Path

import click
from playwright.async_api import Page, async_playwright, expect

from tests.browser.conftest import CHROMIUM_ARGUMENTS, CHROMIUM_NAMES
from tests.browser.page_parts import message, type_command
from tests.support.demo_process import running_demo

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "pictures" / "demo.png"
WIDTH, HEIGHT = 1280, 860
TIMEOUT_MILLISECONDS = 60_000
REASON = "CI runners are down"


def main() -> None:
    path = next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
    if path is None:
        raise click.ClickException("there is no Chromium on the PATH")
    mqbot = Path(sys.executable).with_name("mqbot")
    with running_demo(mqbot, "demo", "--port", "0", cwd=ROOT) as demo:
        asyncio.run(_take(demo.page_url, path))
    click.echo(f"{PICTURE.relative_to(ROOT)} is written")


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
        await browser.close()


async def _pause_among_posts(page: Page) -> None:
    for said in ("Queued", "Merged", "Left the queue"):
        await expect(message(page, said).first).to_be_visible()
    await type_command(page, f"/mq pause {REASON}")
    await expect(message(page, REASON).first).to_be_visible()
    await page.evaluate("document.fonts.ready")


if __name__ == "__main__":
    main()
