"""`mqbot status`: the live queue, through the running bot."""

import click

from bot.cli.running_bot import ask


@click.command()
@click.argument("target")
def command(target: str) -> None:
    """Print the queue of TARGET: owner/name, @group or all.

    Needs MQBOT_URL and MQBOT_TOKEN. Exit code 0: printed. 1: refused, or failed. 2: used wrongly.
    """
    ask("status", target=target)
