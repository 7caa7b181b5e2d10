"""`mqbot worker`: the scheduled part."""

import click

from bot.cli.process import complaining
from bot.config import Settings, load_settings


@click.command()
def command() -> None:
    """Run the part that follows the event logs and posts; nothing connects to it."""
    with complaining():
        settings = load_settings(Settings)
    from bot.cli.serving import serve
    from bot.runtime import build_worker

    serve(build_worker(settings), settings)
