"""`mqbot web`: the part that answers people in Slack, over HTTP."""

import click

from bot.cli.process import complaining
from bot.config import WebSettings, load_settings


@click.command()
def command() -> None:
    """Run the part that Slack sends signed requests to: commands, buttons, modals, the Home tab.

    Health is at /healthz, readiness at /readyz. Posting needs `mqbot worker` beside it.
    """
    with complaining():
        settings = load_settings(WebSettings)
    from bot.cli.serving import serve
    from bot.runtime import build_web

    serve(build_web(settings), settings)
