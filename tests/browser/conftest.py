"""The system's Chromium, a local Slack workspace with a scripted app in it, and its page."""

import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page, async_playwright, expect

from bot.sandbox.slack.server import SlackSandbox
from tests.browser.page_parts import composer
from tests.browser.scripted_app import ScriptedApp
from tests.support.waiting import DEADLINE_SECONDS, PATIENT_SECONDS

MANIFEST = Path(__file__).parents[2] / "manifest.yml"
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
CHROMIUM_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
DEADLINE_MILLISECONDS = DEADLINE_SECONDS * 1000
# Channels are read when the stream of changes is open, not before.
IS_UP_TO_DATE = """import('/static/state.js').then((page) =>
    page.conversation(page.openChannel()).loaded)"""

OpenPage = Callable[..., Awaitable[Page]]


def _chromium() -> str:
    found = next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
    if found is not None:
        return found
    reason = f"no Chromium on the PATH (looked for {', '.join(CHROMIUM_NAMES)})"
    if os.environ.get("MQBOT_REQUIRE_BROWSER"):
        pytest.fail(f"{reason}, and MQBOT_REQUIRE_BROWSER asks for one")
    pytest.skip(reason)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    path = _chromium()
    expect.set_options(timeout=DEADLINE_MILLISECONDS)
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(
            executable_path=path, args=CHROMIUM_ARGUMENTS, timeout=DEADLINE_MILLISECONDS
        )
        yield launched
        await launched.close()


@pytest.fixture
def ack_seconds() -> float:
    """How long the workspace waits for the app; tests of what it then tells ask for less."""
    return PATIENT_SECONDS


@pytest_asyncio.fixture(loop_scope="session")
async def sandbox(browser: Browser, ack_seconds: float) -> AsyncIterator[SlackSandbox]:  # noqa: ARG001 - skips first where there is none
    workspace = SlackSandbox(
        MANIFEST, rate_limits="off", ack_seconds=ack_seconds, trigger_seconds=PATIENT_SECONDS
    )
    await workspace.start()
    yield workspace
    await workspace.stop()


@pytest_asyncio.fixture(loop_scope="session")
async def app(sandbox: SlackSandbox) -> AsyncIterator[ScriptedApp]:
    scripted = ScriptedApp(sandbox.api_url)
    await scripted.start()
    yield scripted
    await scripted.stop()


@dataclass
class Screen:
    """One window, kept from test to test, because opening one takes as long as a test.

    What a page keeps is kept for its origin: forgotten, because a later test may get the same port.
    """

    context: BrowserContext
    page: Page
    is_taken: bool = False

    async def arranged(self, width: int, height: int, *, dark: bool) -> Page:
        """Lend the window's page to one test."""
        self.is_taken = True
        await self.page.set_viewport_size({"width": width, "height": height})
        await self.page.emulate_media(color_scheme="dark" if dark else "light")
        return self.page

    async def emptied(self) -> None:
        """Leave the test's page and what it still asks for, with the mouse where no test has it."""
        await self.page.mouse.move(0, 0)
        await self.page.evaluate("localStorage.clear(); sessionStorage.clear()")
        await self.page.goto("about:blank")
        await self.context.clear_cookies()
        self.is_taken = False


@pytest.fixture(scope="session")
def screens() -> list[Screen]:
    """The windows opened so far; most tests need one."""
    return []


async def _free_screen(browser: Browser, screens: list[Screen]) -> Screen:
    for screen in screens:
        if not screen.is_taken:
            return screen
    context = await browser.new_context(
        timezone_id="Europe/Paris", locale="en-US", reduced_motion="reduce"
    )
    context.set_default_timeout(DEADLINE_MILLISECONDS)
    screens.append(Screen(context, await context.new_page()))
    return screens[-1]


@pytest_asyncio.fixture(loop_scope="session")
async def open_page(
    browser: Browser, screens: list[Screen], sandbox: SlackSandbox
) -> AsyncIterator[OpenPage]:
    """Open the workspace's page; fails the test when the page logs an error of its own."""
    errors: list[str] = []

    def failed(error: object) -> None:
        errors.append(str(error))

    async def opened(
        user: str = "U0ALICE", *, width: int = 1280, height: int = 860, dark: bool = False
    ) -> Page:
        screen = await _free_screen(browser, screens)
        page = await screen.arranged(width, height, dark=dark)
        page.on("pageerror", failed)
        await page.goto(f"{sandbox.url}?user={user}")
        await expect(composer(page)).to_be_enabled()
        # From here on the page gets changes; earlier ones aren't new to it.
        await page.wait_for_function(IS_UP_TO_DATE)
        return page

    yield opened
    for screen in screens:
        if screen.is_taken:
            await screen.emptied()
            screen.page.remove_listener("pageerror", failed)
    assert errors == []


@pytest_asyncio.fixture(loop_scope="session")
async def page(open_page: OpenPage, app: ScriptedApp) -> Page:  # noqa: ARG001 - the app is connected before the page opens
    return await open_page()
