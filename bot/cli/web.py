"""`mqbot web`: what people do in Slack, over HTTP."""

import click

from bot.cli.imports import imported_for_serving
from bot.cli.process import settings_with


@click.command()
def command() -> None:
    """Run the part that Slack sends signed requests to: commands, buttons, modals, the Home tab.

    Health is at /healthz, readiness at /readyz. Posting needs `mqbot worker` beside it.
    """
    settings = settings_with("SLACK_SIGNING_SECRET")
    with imported_for_serving():
        from bot.cli.serving import serve
        from bot.runtime import build_web
    serve(build_web, settings)
