"""`mqbot pause`: pause a queue through the running bot."""

import click

from bot.cli.running_bot import ask


@click.command()
@click.argument("target")
@click.option("--reason", required=True, help="Why, in 1 to 255 characters.")
@click.option("--end", default="", help="When it resumes by itself: 45m, or until 15:00 (UTC).")
def command(target: str, reason: str, end: str) -> None:
    """Pause TARGET: owner/name, @group or all.

    Needs MQBOT_URL and MQBOT_TOKEN. Repeating it changes nothing. Exit code 0: it is paused for
    that reason. 1: refused, or failed. 2: used wrongly.
    """
    ask("pause", target=target, reason=reason, end=end)
