"""`mqbot forget`: what the bot keeps about one person goes."""

import asyncio
import re

import click

import bot.runtime.schema  # noqa: F401 - makes every table known
from bot.cli.process import with_database
from bot.cli.stored import changing_store
from bot.runtime.clock import SystemClock
from bot.runtime.upkeep.forgetting import forget_person
from bot.runtime.upkeep.forgetting_rows import Forgotten

PERSON = re.compile(r"[UW][A-Z0-9]{2,30}")


@click.command()
@click.argument("user_id", metavar="U123")
def forget(user_id: str) -> None:
    """Remove the login, preferences and notifications of the person with this Slack id.

    Everywhere else, such as in the audit, the id replaces their name. The bot may be running.
    Remove them from MQBOT_LOGINS first, or the next start links them again.
    """
    if not PERSON.fullmatch(user_id):
        raise click.BadParameter("A Slack id of a person looks like U012AB3CD.")
    with with_database() as url:
        forgotten = asyncio.run(_forget(url, user_id))
    click.echo(
        f"{user_id} is forgotten: {forgotten.choices} rows of login and choices, "
        f"{forgotten.waits} waits and {forgotten.requests} open requests removed; name removed "
        f"from {forgotten.acts} audit records and {forgotten.others} other rows"
    )
    if forgotten.in_force:
        click.echo(
            f"{forgotten.in_force} reasons of pauses or freezes in force keep the name, because "
            "the merge queue service shows them. Run this again when they are over."
        )


async def _forget(url: str, user_id: str) -> Forgotten:
    async with changing_store(url) as store:
        return await store.run(forget_person, user_id, SystemClock().now())
