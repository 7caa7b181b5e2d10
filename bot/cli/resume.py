"""`mqbot resume`: resume a queue through the running bot."""

import click

from bot.cli.running_bot import ask


@click.command()
@click.argument("target")
@click.option("--any", "is_any", is_flag=True, help="Resume a pause that somebody else made too.")
def command(target: str, *, is_any: bool) -> None:
    """Resume TARGET: owner/name, @group or all.

    Ends only this caller's own pause; of a group, what was paused through the group. Needs
    MQBOT_URL and MQBOT_TOKEN. Exit code 0: it is running. 1: refused, or failed. 2: used wrongly.
    """
    ask("resume", target=target, any=is_any)
