"""A bot for every conversation, over Socket Mode and over signed requests with a worker beside."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import replace

import pytest

from bot.runtime.intervals import Intervals
from bot.sandbox.slack.web_api.rate_limits import RateLimits
from tests.support.bot_tester import HURRIED, BotTester, Mode
from tests.support.clock import MovedClock
from tests.support.reused_engines import ReusedEngines

StartBot = Callable[..., Awaitable[BotTester]]

# Most files run in both modes. Those about what the bot reads, decides and posts run in one of
# them: receiving, acknowledging and answering are the same for their subject as for any other.
OVER_SOCKET_MODE = pytest.mark.parametrize("mode", ["socket"], indirect=True)
OVER_HTTP = pytest.mark.parametrize("mode", ["http"], indirect=True)

# For files about messages that the bot edits often: of all methods, Slack limits this the most.
LIMITED = pytest.mark.parametrize("rate_limits", ["all"], indirect=True)

NAMES = ("acme/site", "acme/api", "acme/docs")
TWO_GROUPS = {"MQBOT_GROUPS": "release=acme/site,acme/api;papers=acme/docs"}


@pytest.fixture(scope="session")
def all_engines(tmp_path_factory: pytest.TempPathFactory) -> ReusedEngines:
    return ReusedEngines(tmp_path_factory.mktemp("engines"))


@pytest.fixture
def reused_engines(all_engines: ReusedEngines) -> Iterator[ReusedEngines]:
    yield all_engines
    all_engines.take_back()


@pytest.fixture
def hurried_reminders() -> None:
    """For tests that are about them."""


@pytest.fixture
def every(request: pytest.FixtureRequest) -> Intervals:
    """How often the bot's jobs run."""
    if "hurried_reminders" in request.fixturenames:
        return replace(HURRIED, reminders=0.5)
    return HURRIED


@pytest.fixture(params=["socket", "http"])
def mode(request: pytest.FixtureRequest) -> Mode:
    """The same listeners answer whichever way a request came."""
    chosen: Mode = request.param
    return chosen


@pytest.fixture
def rate_limits(request: pytest.FixtureRequest) -> RateLimits:
    """What Slack limits; in most tests nothing, as they do in seconds what people do in hours."""
    chosen: RateLimits = getattr(request, "param", "off")
    return chosen


@pytest.fixture
def clock() -> MovedClock:
    """The bot's clock, for tests that cannot wait."""
    return MovedClock()


@pytest.fixture
async def start_bot(
    sqlite_url: str,
    mode: Mode,
    rate_limits: RateLimits,
    clock: MovedClock,
    every: Intervals,
    reused_engines: ReusedEngines,
) -> AsyncIterator[StartBot]:
    """Start a bot with options of BotTester."""
    async with AsyncExitStack() as stack:

        async def start(**options: object) -> BotTester:
            # The options are BotTester's own, which checks them.
            usual = {
                "mode": mode,
                "rate_limits": rate_limits,
                "clock": clock,
                "every": every,
                "open_store": reused_engines.open_store,
            }
            tester = BotTester(sqlite_url, **{**usual, **options})  # type: ignore[arg-type]  # see above
            return await stack.enter_async_context(tester)

        yield start


@pytest.fixture
async def bot(start_bot: StartBot) -> BotTester:
    """A bot for one quiet repository that no channel is subscribed to."""
    return await start_bot()


@pytest.fixture
async def three(start_bot: StartBot) -> BotTester:
    """Three quiet repositories, two of them in the group `release`, without subscribers to it."""
    return await start_bot(
        repositories=dict.fromkeys(NAMES, "quiet"),
        channels="acme/docs=C0RELEASE:freeze",
        environment=TWO_GROUPS,
    )
