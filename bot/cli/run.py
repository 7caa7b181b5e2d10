"""`mqbot run`: the whole bot in one process."""

import click

from bot.cli.imports import imported_for_serving
from bot.cli.process import settings_with


@click.command()
def command() -> None:
    """Run the bot over Socket Mode: commands, polling and posting in one process."""
    settings = settings_with("SLACK_APP_TOKEN")
    with imported_for_serving():
        from bot.cli.serving import serve
        from bot.runtime import build_runtime
    serve(build_runtime, settings)
