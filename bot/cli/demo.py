"""`mqbot demo`: the bot with two local services, without an account."""

import asyncio
import tempfile
from collections.abc import Mapping
from pathlib import Path

import click

from bot.cli.manifest import manifest_path
from bot.cli.process import cancelled_by_signals, forever
from bot.cli.sandbox import PORT, Speed, port_refused
from bot.config.settings import GivenSettings
from bot.runtime import logs
from bot.runtime.process import build_runtime
from bot.sandbox.merge_queue.server import MergeQueueSandbox
from bot.sandbox.server import Sandbox, SandboxAddresses
from bot.sandbox.slack.server import SlackSandbox
from bot.store import migrate

REPOSITORIES = {"acme/site": "demo", "acme/api": "calm"}
CHANNELS = (
    "acme/site=C0MERGEQ:enter,merge,failure,dequeue,pause;"
    "acme/api=C0RELEASE:enter,merge,failure,pause"
)
GROUPS = "release=acme/site,acme/api"


@click.command(context_settings={"show_default": True})
@click.option(
    "--port",
    type=PORT,
    default=8400,
    help="Port of the page on this machine; 0 lets the system choose.",
)
@click.option("--seed", type=int, default=1, help="Random seed.")
@click.option(
    "--speed",
    type=Speed(),
    default=24.0,
    help="Simulation speed; 1 is real time.",
)
@click.option(
    "--log-level",
    type=click.Choice(["DEBUG", "INFO", "WARNING", "ERROR"], case_sensitive=False),
    default="WARNING",
    help="How much is logged.",
)
@click.option("--open", "opens", is_flag=True, help="Open the page in the browser.")
def demo(port: int, seed: int, speed: float, log_level: str, *, opens: bool) -> None:
    """Try everything on two local services, with no account."""
    logs.configure(log_level, "text")
    sandbox = Sandbox(
        MergeQueueSandbox(repositories=REPOSITORIES, seed=seed, speed=speed),
        SlackSandbox(manifest_path()),
        slack_port=port,
    )
    try:
        asyncio.run(run(sandbox, opens=opens))
    except OSError as error:
        raise click.ClickException(f"{port_refused(port, error)}; try --port 0") from None


def _invite_others(slack: SlackSandbox) -> None:
    """Add a guest, and somebody of another organisation in a shared channel, to be refused."""
    arrangement = slack.arrangement
    guest = arrangement.add_user("gwen", kind="guest")["user"]
    outsider = arrangement.add_user("oscar", kind="external", team_id="T0OTHER")["user"]
    partners = arrangement.add_channel("partners", ["U0ALICE", "U0BOB", guest, outsider])["channel"]
    arrangement.set_member("C0MERGEQ", guest, is_member=True)
    arrangement.change_channel(partners, {"is_ext_shared": True})


async def run(sandbox: Sandbox, *, opens: bool = False) -> None:
    """Run until SIGINT or SIGTERM; nothing is kept afterwards."""
    with tempfile.TemporaryDirectory(prefix="mqbot-demo-") as folder:
        async with cancelled_by_signals(), sandbox:
            _invite_others(sandbox.slack)
            settings = GivenSettings.model_validate(environment(sandbox.addresses, Path(folder)))
            migrate.upgrade(settings.database_url.get_secret_value())
            async with build_runtime(settings):
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
        "MQBOT_CHANNELS": CHANNELS,
        "MQBOT_GROUPS": GROUPS,
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
  Then      type  /mq status   or   /mq pause CI runners are down
  To stop   press Ctrl-C
""")
