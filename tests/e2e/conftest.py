"""A bot for every conversation, over Socket Mode and over signed requests with a worker beside."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack

import pytest

from bot import runtime
from bot.runtime import adapters, jobs
from tests.support.bot_tester import BotTester, Mode
from tests.support.clock import MovedClock
from tests.support.database_fixtures import sqlite_template, sqlite_url
from tests.support.reused_engines import ReusedEngines

__all__ = ["sqlite_template", "sqlite_url"]

StartBot = Callable[..., Awaitable[BotTester]]

# Most files run in both modes. Those about what the bot reads, decides and posts run in one of
# them: receiving, acknowledging and answering are the same for their subject as for any other.
OVER_SOCKET_MODE = pytest.mark.parametrize("mode", ["socket"], indirect=True)
OVER_HTTP = pytest.mark.parametrize("mode", ["http"], indirect=True)


@pytest.fixture(autouse=True)
def hurried_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs that run every five to fifteen seconds run each second: nobody has to wait for them."""
    for name in ("OUTAGE_SECONDS", "HOME_SECONDS", "CUT_SHORT_SECONDS"):
        monkeypatch.setattr(jobs, name, 1.0)
    monkeypatch.setattr(runtime, "HOME_SECONDS", jobs.HOME_SECONDS)


@pytest.fixture(scope="session")
def all_engines(tmp_path_factory: pytest.TempPathFactory) -> ReusedEngines:
    return ReusedEngines(tmp_path_factory.mktemp("engines"))


@pytest.fixture(autouse=True)
def reused_engines(all_engines: ReusedEngines, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(adapters, "create_engine", all_engines.create_engine)
    yield
    all_engines.take_back()


@pytest.fixture
def hurried_reminders(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that are about them; others may end before a reminder is due to be looked for."""
    monkeypatch.setattr(jobs, "REMINDER_SECONDS", 1.0)


@pytest.fixture(params=["socket", "http"])
def mode(request: pytest.FixtureRequest) -> Mode:
    """The same listeners answer whichever way a request came."""
    chosen: Mode = request.param
    return chosen


@pytest.fixture
def clock() -> MovedClock:
    """The bot's clock, for tests that cannot wait."""
    return MovedClock()


@pytest.fixture
async def start_bot(sqlite_url: str, mode: Mode, clock: MovedClock) -> AsyncIterator[StartBot]:
    """Start a bot with options of BotTester."""
    async with AsyncExitStack() as stack:

        async def start(**options: object) -> BotTester:
            # The options are BotTester's own, which checks them.
            tester = BotTester(sqlite_url, **{"mode": mode, "clock": clock, **options})  # type: ignore[arg-type]
            return await stack.enter_async_context(tester)

        yield start


@pytest.fixture
async def bot(start_bot: StartBot) -> BotTester:
    """A bot for one quiet repository that no channel is subscribed to."""
    return await start_bot()
