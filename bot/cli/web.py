"""`mqbot web`: what people do in Slack, over HTTP."""

import click

from bot.cli.serving import serve
from bot.runtime import build_web


@click.command()
def command() -> None:
    """Run the part that Slack sends signed requests to: commands, buttons, modals, the Home tab.

    Health is at /healthz, readiness at /readyz. Posting needs `mqbot worker` beside it.
    """
    serve(build_web, "SLACK_SIGNING_SECRET")
