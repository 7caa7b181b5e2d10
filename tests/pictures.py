"""`python -m tests.pictures FOLDER`: pictures of messages, to look at after a change of their look.

Each is taken light and dark, as wide as a desktop's channel and as narrow as a phone. A sheet for
each of the four shows them all.
"""

import asyncio
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import click
from playwright.async_api import Browser, Page, async_playwright, expect

from bot.blocks.message import Message
from bot.sandbox.slack.server import SlackSandbox
from tests.browser.conftest import (
    CHROMIUM_ARGUMENTS,
    CHROMIUM_NAMES,
    IS_UP_TO_DATE,
    MANIFEST,
)
from tests.browser.page_parts import composer, messages
from tests.browser.scripted_app import ScriptedApp
from tests.support.clock import NOON
from tests.support.every_message import REVIEWED
from tests.support.messages.rendering import render

PICTURED = (
    "status-busy",
    "status-paused-timed",
    "status-empty",
    "group_status",
    "board",
    "pause-card",
    "group_card",
    "reminder",
    "pause-confirm",
    "freeze-in-force",
    "event-failure-that-others-have-too",
    "storm",
    "storm-lapsed",
    "merged-together",
    "alert-failures",
    "outage-key",
    "confirmation-open",
    "why-in-batch",
    "weekly",
    "subscribed-together",
)
"""The names of the cases in `tests/support/messages`."""

TIMEOUT_MILLISECONDS = 60_000
HEIGHT = 9000
"""Of a window in which nothing has to be scrolled."""


@dataclass(frozen=True)
class Look:
    """How the page is shown."""

    name: str
    width: int
    is_dark: bool


LOOKS = (
    Look("wide-light", 1000, is_dark=False),
    Look("wide-dark", 1000, is_dark=True),
    Look("narrow-light", 390, is_dark=False),
    Look("narrow-dark", 390, is_dark=True),
)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.argument("names", nargs=-1)
def main(folder: Path, names: Sequence[str]) -> None:
    """Take pictures of 20 messages, or of the cases NAMES, into FOLDER."""
    path = next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
    if path is None:
        raise click.ClickException("there is no Chromium on the PATH")
    folder.mkdir(parents=True, exist_ok=True)
    asyncio.run(_take(folder, names or PICTURED, path))


async def _take(folder: Path, names: Sequence[str], chromium: str) -> None:
    workspace = SlackSandbox(MANIFEST, rate_limits="off")
    await workspace.start()
    app = ScriptedApp(workspace.api_url)
    await app.start()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium, args=CHROMIUM_ARGUMENTS
        )
        expect.set_options(timeout=TIMEOUT_MILLISECONDS)
        await _post(app, names)
        for look in LOOKS:
            await _photograph(browser, workspace.url, look, names, folder)
            click.echo(f"{look.name}: {len(names)} pictures and a sheet")
        await browser.close()
    await app.stop()
    await workspace.stop()


async def _post(app: ScriptedApp, names: Sequence[str]) -> None:
    for name in names:
        shown = render(REVIEWED[name])
        if not isinstance(shown, Message):
            raise click.ClickException(f"{name} is a form or a tab, not a message")
        blocks, attachments = shown.wire()
        await app.post(shown.text, blocks=blocks, attachments=attachments or None)


async def _photograph(
    browser: Browser, url: str, look: Look, names: Sequence[str], folder: Path
) -> None:
    context = await browser.new_context(
        viewport={"width": look.width, "height": HEIGHT},
        color_scheme="dark" if look.is_dark else "light",
        locale="en-US",
        reduced_motion="reduce",
    )
    context.set_default_timeout(TIMEOUT_MILLISECONDS)
    page = await context.new_page()
    # The cases happen around this time, so that "18 minutes ago" reads as it will.
    await page.clock.set_fixed_time(NOON + timedelta(minutes=18))
    await page.goto(f"{url}?user=U0ALICE")
    await expect(composer(page)).to_be_enabled()
    await page.wait_for_function(IS_UP_TO_DATE)
    rows = messages(page)
    await expect(rows).to_have_count(len(names))
    for number, name in enumerate(names):
        await rows.nth(number).screenshot(path=folder / f"{name}-{look.name}.png")
    await _sheet(page, look, names, folder)
    await context.close()


async def _sheet(page: Page, look: Look, names: Sequence[str], folder: Path) -> None:
    """All pictures of a look on one page, each below its name."""
    figures = "".join(
        f"<figure><figcaption>{name}</figcaption><img src='{name}-{look.name}.png'></figure>"
        for name in names
    )
    style = "<style>body {columns: 2; font: 12px sans-serif} figure {break-inside: avoid}</style>"
    sheet = folder / f"sheet-{look.name}.html"
    sheet.write_text(f"<!doctype html><title>{look.name}</title>{style}{figures}", "utf-8")
    await page.set_viewport_size({"width": 2 * look.width + 60, "height": 900})
    await page.goto(sheet.resolve().as_uri())
    await page.screenshot(path=folder / f"sheet-{look.name}.png", full_page=True)


if __name__ == "__main__":
    main()
