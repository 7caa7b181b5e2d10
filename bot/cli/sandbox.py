"""`mqbot sandbox merge-queue|slack`: one of the two local services alone."""

import asyncio
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
from typing_extensions import override

from bot.cli.manifest import manifest_path
from bot.cli.process import cancelled_by_signals, forever
from bot.kernel.errors import InvalidRequest
from bot.kernel.repository import RepositoryName
from bot.sandbox.merge_queue.credentials import Credential
from bot.sandbox.merge_queue.server import MergeQueueSandbox
from bot.sandbox.merge_queue.troubles import TROUBLES, length, play
from bot.sandbox.slack.server import SlackSandbox
from bot.sandbox.slack.state.manifest import ManifestUnreadable

PORT = click.IntRange(0, 65535)


class Speed(click.FloatRange):
    """At most a thousand: from about ten thousand, simulating leaves no time to answer."""

    def __init__(self) -> None:
        super().__init__(min=0, max=1000, min_open=True)

    @override
    def convert(
        self, value: float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        speed = float(super().convert(value, param, ctx))
        if math.isnan(speed):
            self.fail(f"{value} is not a number.", param, ctx)
        return speed


@contextmanager
def opening(port: int, advice: str = "") -> Iterator[None]:
    """Turn an error of opening a server into a complaint about its port.

    With the system's own error text: asyncio's repeats the address.
    """
    try:
        yield
    except OSError as error:
        why = os.strerror(error.errno) if error.errno is not None else str(error)
        raise click.ClickException(f"port {port} can't be used: {why}{advice}") from None


@click.group(context_settings={"show_default": True})
def sandbox() -> None:
    """Run one of the two local services alone."""


def _repositories_given(
    _context: click.Context, _option: click.Parameter, given: tuple[str, ...]
) -> object:
    try:
        return tuple(RepositoryName.parse(name) for name in given)
    except InvalidRequest as error:
        raise click.BadParameter(error.detail) from None


@sandbox.command("merge-queue")
@click.option("--port", type=PORT, default=8401)
@click.option("--token", default="sandbox-token", help="The key it accepts.")
@click.option(
    "--repository",
    "repositories",
    multiple=True,
    default=("acme/site",),
    callback=_repositories_given,
    help="owner/name; can be repeated.",
)
@click.option(
    "--scenario",
    default="busy",
    help="How each repository starts, or the problem that it has: " + ", ".join(TROUBLES) + ".",
)
@click.option("--seed", type=int, default=1, help="Random seed.")
@click.option("--speed", type=Speed(), default=1.0, help="Simulation speed; 1 is real time.")
@click.option(
    "--dialect",
    type=click.Choice(["document", "live"]),
    default="document",
    help="Behave as the API document says, or as the hosted service does today.",
)
@click.option(
    "--metadata",
    type=click.Choice(["full", "seed", "none"]),
    default="full",
    help="How much metadata events have: all, what the API document shows, or none.",
)
@click.option(
    "--mode",
    type=click.Choice(["serial", "parallel", "isolated"]),
    default="serial",
    help="How batches depend on each other: as one line, by scopes, or not at all.",
)
@click.option(
    "--pause-endpoints",
    type=click.Choice(["both", "current", "deprecated", "none"]),
    default="both",
    help="Which pause endpoints it offers.",
)
@click.option(
    "--lacks",
    multiple=True,
    metavar="PATH",
    help="Leave out this endpoint, such as queues/branches; can be repeated.",
)
@click.option("--ci-key", "ci_keys", multiple=True, help="A key with the scope ci.")
@click.option("--personal-token", "personal", multiple=True, help="A token of a person.")
@click.option(
    "--read-only-token", "readers", multiple=True, help="A token of a person who can't pause."
)
def merge_queue(  # noqa: PLR0913 - one for each option
    *,
    port: int,
    token: str,
    repositories: tuple[str, ...],
    scenario: str,
    seed: int,
    speed: float,
    dialect: str,
    metadata: str,
    mode: str,
    pause_endpoints: str,
    lacks: tuple[str, ...],
    ci_keys: tuple[str, ...],
    personal: tuple[str, ...],
    readers: tuple[str, ...],
) -> None:
    """A merge queue service that implements the whole API."""
    credentials = [
        *(Credential(ci_key, scope="ci") for ci_key in ci_keys),
        *(Credential(token, kind="personal") for token in personal),
        *(Credential(reader, kind="personal", may_write=False) for reader in readers),
    ]
    is_trouble = scenario in TROUBLES
    began_at = datetime.now(UTC) - timedelta(minutes=length(scenario)) if is_trouble else None
    try:
        service = MergeQueueSandbox(
            repositories=dict.fromkeys(repositories, "quiet" if is_trouble else scenario),
            token=token,
            seed=seed,
            start_at=began_at,
            speed=1.0 if is_trouble else speed,
            dialect=dialect,
            metadata=metadata,
            mode=mode,
            pause_endpoints=pause_endpoints,
            lacks=lacks,
            credentials=credentials,
        )
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    if is_trouble:
        play(service, repositories, scenario)
        service.set_speed(speed)
    _serve(service, port)


@sandbox.command("slack")
@click.option("--port", type=PORT, default=8400)
@click.option(
    "--manifest",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The app's manifest; by default mqbot's own.",
)
@click.option("--bot-token", default="xoxb-sandbox")
@click.option("--app-token", default="xapp-sandbox")
@click.option(
    "--request-url",
    metavar="URL",
    help="Where the app listens, if its manifest is for HTTP.",
)
@click.option("--signing-secret", default="sandbox-signing-secret")
def slack(
    *,
    port: int,
    manifest: Path | None,
    bot_token: str,
    app_token: str,
    request_url: str | None,
    signing_secret: str,
) -> None:
    """A Slack workspace with a page, for any Slack client."""
    try:
        service = SlackSandbox(
            manifest or manifest_path(),
            bot_token=bot_token,
            app_token=app_token,
            request_url=request_url,
            signing_secret=signing_secret,
        )
    except ManifestUnreadable as error:
        raise click.BadParameter(f"{manifest}: {error}", param_hint="'--manifest'") from None
    _serve(service, port)


def _serve(sandbox: MergeQueueSandbox | SlackSandbox, port: int) -> None:
    asyncio.run(_run(sandbox, port))


async def _run(sandbox: MergeQueueSandbox | SlackSandbox, port: int) -> None:
    async with cancelled_by_signals():
        with opening(port):
            await sandbox.start(port=port)
        if isinstance(sandbox, SlackSandbox):
            click.echo(f"page {sandbox.url}\nSLACK_API_URL={sandbox.api_url}")
        else:
            click.echo(f"MQBOT_API_URL={sandbox.base_url}")
        try:
            await forever()
        finally:
            await sandbox.stop()
