"""`mqbot unsubscribe`: end the subscriptions of a channel in which nobody can type any more."""

import asyncio
import re
from collections.abc import Sequence

import click

from bot.channels.settings import SubscriptionChange, end_subscriptions
from bot.cli.process import with_database
from bot.cli.stored import changing_store, stored_name
from bot.kernel.errors import InvalidRequest
from bot.kernel.repository import RepositoryName
from bot.runtime.clock import SystemClock
from bot.runtime.upkeep.forgetting import OPERATOR

CHANNEL = re.compile(r"[CDG][A-Z0-9]{2,30}")


@click.command()
@click.argument("channel", metavar="CHANNEL")
@click.option(
    "--repository",
    "repositories",
    multiple=True,
    metavar="OWNER/NAME",
    help="Only for this repository; can be repeated.",
)
def unsubscribe(channel: str, repositories: Sequence[str]) -> None:
    """End the subscriptions of CHANNEL, a Slack id such as C012AB3CD.

    For channels that were archived or deleted, or that the bot was removed from; also while the bot
    is running. Waiting posts are dropped. The audit shows the operator. Subscriptions of
    MQBOT_CHANNELS stay.
    """
    if not CHANNEL.fullmatch(channel):
        raise click.BadParameter("A Slack id of a channel looks like C012AB3CD.")
    try:
        only = [RepositoryName.parse(repository) for repository in repositories]
    except InvalidRequest as error:
        raise click.BadParameter(f"{error.detail}.", param_hint="--repository") from None
    with with_database() as url:
        done = asyncio.run(_end_in_store(url, channel, only))
    ended = [str(change.repository) for change in done if change.is_new]
    configured = [str(change.repository) for change in done if change.configured is not None]
    if ended:
        click.echo(f"{channel} is no longer subscribed to {', '.join(ended)}")
    if configured:
        names = ", ".join(configured)
        click.echo(f"MQBOT_CHANNELS still subscribes it to {names}: remove it there")
    if not done:
        click.echo(f"{channel} has no such subscription; nothing changed")


async def _end_in_store(
    url: str, channel: str, only: Sequence[RepositoryName]
) -> Sequence[SubscriptionChange]:
    async with changing_store(url) as store:
        now = SystemClock().now()
        named = [await store.read(stored_name, name) for name in only]
        return await store.run(end_subscriptions, channel, named, OPERATOR, now)
