"""`mqbot demo`: the bot with two local services, without an account."""

import asyncio
import tempfile
from collections.abc import Mapping
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
from typing_extensions import override

from bot.cli.manifest import manifest_path
from bot.cli.process import cancelled_by_signals, forever
from bot.cli.sandbox import PORT, Speed, opening
from bot.config.settings import GivenSettings
from bot.runtime import logs
from bot.runtime.clock import SystemClock
from bot.runtime.intervals import Intervals
from bot.runtime.process import build_runtime
from bot.runtime.surroundings import Surroundings
from bot.sandbox.merge_queue.server import MergeQueueSandbox
from bot.sandbox.merge_queue.troubles import TROUBLES
from bot.sandbox.server import Sandbox, SandboxAddresses
from bot.sandbox.slack.server import SlackSandbox
from bot.sandbox.story.script import STORY, ending_in
from bot.sandbox.story.stage import DemoStage
from bot.sandbox.story.telling import Teller

REPOSITORIES = {"acme/site": "demo", "acme/api": "calm"}
"""How lively each repository is after the story."""

GROUPS = "release=acme/site,acme/api"
LOGINS = "U0ALICE=alice,U0BOB=bob,U0CAROL=carol,U0DAVE=dave"

STORY_LASTS = timedelta(hours=14)
"""It begins last night, for people who try the demo by day."""

EVERY = Intervals(polls=0.05, shortest_poll=0.5, posts=0.25)
"""In the story time passes as fast as the bot follows."""


class StoryClock(SystemClock):
    """This machine's clock, set back to where the story is."""

    def __init__(self, behind: timedelta) -> None:
        self._behind = behind

    @override
    def now(self) -> datetime:
        return super().now() - self._behind

    @override
    def monotonic(self) -> float:
        return super().monotonic() - self._behind.total_seconds()

    def move(self, seconds: float) -> None:
        """Let so much time pass at once."""
        self._behind -= timedelta(seconds=seconds)


@click.command(context_settings={"show_default": True})
@click.option(
    "--port",
    type=PORT,
    default=8400,
    help="Port of the page on this machine; 0 picks a free one.",
)
@click.option("--seed", type=int, default=1, help="Random seed.")
@click.option(
    "--speed",
    type=Speed(),
    default=6.0,
    help="Simulation speed; 1 is real time.",
)
@click.option(
    "--log-level",
    type=click.Choice(["DEBUG", "INFO", "WARNING", "ERROR"], case_sensitive=False),
    default="WARNING",
    help="Lowest level that is logged.",
)
@click.option(
    "--scenario",
    type=click.Choice([*TROUBLES]),
    help="Open on a queue that has this problem.",
)
@click.option("--open", "opens", is_flag=True, help="Open the page in the browser.")
def demo(  # one for each option
    port: int, seed: int, speed: float, log_level: str, scenario: str | None, *, opens: bool
) -> None:
    """Try everything on two local services, with no account."""
    logs.configure(log_level, "text")
    service = MergeQueueSandbox(
        repositories=dict.fromkeys(REPOSITORIES, "staged"),
        seed=seed,
        start_at=datetime.now(UTC) - STORY_LASTS,
    )
    sandbox = Sandbox(service, SlackSandbox(manifest_path()), slack_port=port)
    asyncio.run(run(sandbox, speed, trouble=scenario, opens=opens))


def _invite_others(slack: SlackSandbox) -> None:
    """Add a guest, and somebody of another organisation in a shared channel, to be refused."""
    arrangement = slack.arrangement
    guest = arrangement.add_user("gwen", kind="guest")["user"]
    outsider = arrangement.add_user("oscar", kind="external", team_id="T0OTHER")["user"]
    partners = arrangement.add_channel("partners", ["U0ALICE", "U0BOB", guest, outsider])["channel"]
    arrangement.set_member("C0MERGEQ", guest, is_member=True)
    for member in ("U0CAROL", slack.installation.bot_user_id):
        arrangement.set_member("C0INCIDENT", member, is_member=True)
    arrangement.change_channel(partners, {"is_ext_shared": True})


async def run(
    sandbox: Sandbox, speed: float, *, trouble: str | None = None, opens: bool = False
) -> None:
    """Run until SIGINT or SIGTERM; nothing is kept afterwards."""
    clock = StoryClock(STORY_LASTS)
    with tempfile.TemporaryDirectory(prefix="mqbot-demo-") as folder:
        async with cancelled_by_signals(), AsyncExitStack() as stack:
            with opening(sandbox.slack_port, "; try --port 0"):
                await stack.enter_async_context(sandbox)
            teller = Teller(sandbox, STORY_LASTS.total_seconds(), clock.move)
            stage = DemoStage(sandbox, teller, speed)
            sandbox.slack.stage = stage
            _invite_others(sandbox.slack)
            settings = GivenSettings.model_validate(environment(sandbox.addresses, Path(folder)))
            async with build_runtime(settings, Surroundings(clock, EVERY)):
                click.echo("Acme's engineers are working through last night and this morning …")
                await teller.tell(STORY if trouble is None else ending_in(trouble), speed)
                for repository, scenario in REPOSITORIES.items():
                    # Others would only hide the trouble.
                    if trouble is None or repository != "acme/site":
                        sandbox.merge_queue.follow(repository, scenario)
                stage.open()
                _greet(sandbox.addresses.page_url)
                if opens:
                    click.launch(sandbox.addresses.page_url)
                await forever()


def environment(addresses: SandboxAddresses, folder: Path) -> Mapping[str, str]:
    """The settings of a real installation, with the local services' addresses."""
    return {
        "MQBOT_API_URL": addresses.api_url,
        "MQBOT_API_TOKEN": addresses.api_token,
        "MQBOT_REPOSITORIES": ",".join(REPOSITORIES),
        "MQBOT_GROUPS": GROUPS,
        "MQBOT_LOGINS": LOGINS,
        "MQBOT_POLL_SECONDS": "1",
        "SLACK_BOT_TOKEN": addresses.slack_bot_token,
        "SLACK_APP_TOKEN": addresses.slack_app_token,
        "SLACK_API_URL": addresses.slack_api_url,
        "DATABASE_URL": f"sqlite:///{folder / 'demo.sqlite3'}",
    }


def _greet(page_url: str) -> None:
    click.echo(f"""
  The merge queue demo is running.

  Open      {page_url}
  Then      take the first steps that it lists on the left
  To stop   press Ctrl-C
""")
