"""`mqbot worker`: what runs on the schedule."""

import click

from bot.cli.imports import imported_for_serving
from bot.cli.process import settings_with


@click.command()
def command() -> None:
    """Run the part that follows the event logs and posts; nothing connects to it."""
    settings = settings_with()
    with imported_for_serving():
        from bot.cli.serving import serve
        from bot.runtime import build_worker
    serve(build_worker, settings)
