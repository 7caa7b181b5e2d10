"""`mqbot subscriptions`: what every channel gets, and what ends or moves it."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import click

from bot.blocks.text import plural
from bot.channels.rows import Subscriptions
from bot.channels.subscription import Subscription, SubscriptionSource, words_of
from bot.cli.process import say, with_database
from bot.cli.stored import reading_store
from bot.kernel.metrics import SuspendedChannel
from bot.kernel.repository import RepositoryName
from bot.log.position import LastPoll
from bot.log.rows import Positions
from bot.posts.outbox import Outbox
from bot.runtime.clock import SystemClock
from bot.slack.errors import CREDENTIAL_CODES
from bot.store.transaction import Transaction

SUBSCRIPTION_COLUMNS = "{channel:12}  {repository:30}  {source:14}  {since:10}  {by:12}  {words}"
CHANNELS_SETTING = "MQBOT_CHANNELS"
LONG_UNREAD = timedelta(days=1)

WHAT_ENDS_ONE = f"""
To end one that comes from a command, type /mq unsubscribe in its channel, or run
mqbot unsubscribe CHANNEL. To end one that comes from {CHANNELS_SETTING}, change that setting. After
a repository was renamed, mqbot rename OLD NEW moves its subscriptions. If Slack gives a channel
another id, they move by themselves."""


@dataclass(frozen=True, slots=True)
class Found:
    """All subscriptions, the channels that Slack refuses, and when logs were last read."""

    subscriptions: Sequence[Subscription]
    suspended: Mapping[str, SuspendedChannel]
    polled: Mapping[RepositoryName, LastPoll]


@click.command()
@click.option("--json", "json_wanted", is_flag=True, help="Print one JSON object per line.")
def subscriptions(*, json_wanted: bool) -> None:
    """List the subscriptions of all channels, and how to end or move one.

    Reads only the database, also while the bot is running. Times are UTC. Options are written as
    for /mq subscribe.
    """
    with with_database() as url:
        found = asyncio.run(_read_subscriptions(url))
    if json_wanted:
        for subscription in found.subscriptions:
            click.echo(json.dumps(_as_json(subscription, found)))
        return
    if not found.subscriptions:
        click.echo("no channel is subscribed to anything")
        return
    click.echo(_subscription_line("CHANNEL", "REPOSITORY", "FROM", "SINCE", "BY", "WHAT"))
    for together in _in_lines(found.subscriptions):
        say(_as_line(together))
    click.echo(f"\n{_count(found.subscriptions)}")
    click.echo(WHAT_ENDS_ONE)
    for channel in found.suspended.values():
        click.echo(_of_suspended(channel))
    now = SystemClock().now()
    for name in sorted({subscription.repository for subscription in found.subscriptions}):
        unread = _unread_since(found.polled.get(name), now)
        if unread:
            say(f"{name} {unread}: is it in MQBOT_REPOSITORIES, and does the bot run?")


async def _read_subscriptions(url: str) -> Found:
    async with reading_store(url) as store:
        return await store.read(_found)


def _found(transaction: Transaction) -> Found:
    every = Subscriptions(transaction).all()
    channels = {subscription.channel_id for subscription in every}
    suspended = {
        channel.channel_id: channel
        for channel in Outbox(transaction).summary().suspended
        if channel.channel_id in channels
    }
    polled = Positions(transaction).polls(
        sorted({subscription.repository for subscription in every})
    )
    return Found(every, suspended, polled)


def _subscription_line(
    channel: str, repository: str, source: str, since: str, by: str, words: str
) -> str:
    return SUBSCRIPTION_COLUMNS.format(
        channel=channel, repository=repository, source=source, since=since, by=by, words=words
    )


def _in_lines(every: Sequence[Subscription]) -> Iterable[Sequence[Subscription]]:
    """Those that follow a group or all with the same words together, each other by itself."""
    lines: dict[tuple[str, ...], list[Subscription]] = defaultdict(list)
    for subscription in every:
        names = subscription.through or subscription.repository
        by = subscription.created_by or ""
        lines[
            subscription.channel_id, subscription.source, names, by, words_of(subscription)
        ].append(subscription)
    return lines.values()


def _as_line(together: Sequence[Subscription]) -> str:
    """Of one, or of all that one selection follows."""
    first = together[0]
    is_typed = first.source is SubscriptionSource.COMMAND
    count = plural(len(together), "repository", "repositories")
    began = min(
        (
            subscription.created_at
            for subscription in together
            if subscription.created_at is not None
        ),
        default=None,
    )
    return _subscription_line(
        first.channel_id,
        first.repository if first.through is None else f"{first.through} ({count})",
        "command" if is_typed else CHANNELS_SETTING,
        f"{began:%Y-%m-%d}" if began is not None else "-",
        first.created_by or "-",
        words_of(first),
    )


def _as_json(subscription: Subscription, found: Found) -> dict[str, object]:
    channel = found.suspended.get(subscription.channel_id)
    polled = found.polled.get(subscription.repository)
    return {
        "channel": subscription.channel_id,
        "repository": subscription.repository,
        "source": subscription.source,
        "words": words_of(subscription),
        "through": subscription.through,
        "created_by": subscription.created_by,
        "created_at": subscription.created_at.isoformat()
        if subscription.created_at is not None
        else None,
        "suspended": channel.code if channel is not None else None,
        "repository_read_at": polled.polled_at.isoformat() if polled is not None else None,
    }


def _count(every: Sequence[Subscription]) -> str:
    channels = len({subscription.channel_id for subscription in every})
    names = len({subscription.repository for subscription in every})
    return (
        f"{plural(len(every), 'subscription', 'subscriptions')}"
        f" of {plural(channels, 'channel', 'channels')}"
        f" to {plural(names, 'repository', 'repositories')}"
    )


def _of_suspended(channel: SuspendedChannel) -> str:
    fix = f"invite the bot again, or run mqbot unsubscribe {channel.channel_id}"
    if channel.code in CREDENTIAL_CODES:
        fix = "the channel isn't the problem: install the app again and set its SLACK_BOT_TOKEN"
    return (
        f"Slack has refused posts to {channel.channel_id} since"
        f" {channel.suspended_at:%Y-%m-%d %H:%M} ({channel.code}): {fix}"
    )


def _unread_since(polled: LastPoll | None, now: datetime) -> str | None:
    if polled is None:
        return "was never read"
    if now - polled.polled_at < LONG_UNREAD:
        return None
    return f"was last read at {polled.polled_at:%Y-%m-%d %H:%M}"
