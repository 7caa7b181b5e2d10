"""`mqbot run`: the whole bot in one process."""

import click

from bot.cli.serving import serve
from bot.runtime import build_runtime


@click.command()
def command() -> None:
    """Run the bot over Socket Mode: commands, polling and posting in one process."""
    serve(build_runtime, "SLACK_APP_TOKEN")
