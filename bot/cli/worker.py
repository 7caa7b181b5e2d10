"""`mqbot worker`: what runs on the schedule."""

import click

from bot.cli.serving import serve
from bot.runtime import build_worker


@click.command()
def command() -> None:
    """Run the part that follows the event logs and posts; nothing connects to it."""
    serve(build_worker)
