"""`mqbot run`: the whole bot in one process."""

import click

from bot.cli.process import complaining
from bot.config import RunSettings, load_settings


@click.command()
def command() -> None:
    """Run the bot over Socket Mode: commands, polling and posting in one process."""
    with complaining():
        settings = load_settings(RunSettings)
    from bot.cli.serving import serve
    from bot.runtime import build_runtime

    serve(build_runtime(settings), settings)
