"""Opens the database, the merge queue service and Slack's Web API."""

from contextlib import AsyncExitStack
from dataclasses import dataclass

from bot.config import Settings
from bot.domain.errors import ConfigurationError
from bot.merge_queue.client import MergeQueueClient
from bot.merge_queue.http import Http
from bot.ports import Clock, Measures
from bot.slack.conversation import Replies
from bot.slack.proxies import proxy_towards
from bot.slack.web_api.channels import SlackChannels
from bot.slack.web_api.clients import (
    Client,
    Identity,
    TokenRefused,
    identify,
    open_session,
    web_client,
)
from bot.slack.web_api.limits import SharedLimits
from bot.store.engines import create_engine, with_database_clock
from bot.store.presence import take_over
from bot.store.transactions import Store


@dataclass(frozen=True, slots=True)
class SlackSide:
    """The known facts and open clients on Slack's side."""

    client: Client
    identity: Identity
    channels: SlackChannels
    replies: Replies
    limits: SharedLimits


@dataclass(frozen=True, slots=True)
class Ports:
    """The adapters, open."""

    clock: Clock
    store: Store
    merge_queue: MergeQueueClient
    slack: SlackSide
    measures: Measures


async def open_ports(
    settings: Settings, stack: AsyncExitStack, clock: Clock, measures: Measures
) -> Ports:
    """Open everything and close it with `stack`; raises ConfigurationError for a refused token."""
    url = settings.database_url.get_secret_value()
    store = Store(with_database_clock(create_engine(url)))
    stack.push_async_callback(store.close)
    await take_over(store, url, stack)
    merge_queue = await stack.enter_async_context(
        MergeQueueClient(
            Http(
                base_url=settings.api_url,
                token=settings.api_token,
                clock=clock,
                requests_at_once=settings.requests_at_once,
            ),
            deprecated_pause=settings.deprecated_pause,
        )
    )
    session = await stack.enter_async_context(open_session(proxy_towards(settings.slack_api_url)))
    limits = SharedLimits(store)
    await limits.hear()
    client = web_client(
        session,
        token=settings.slack_bot_token,
        base_url=settings.slack_api_url,
        measures=measures,
        limits=limits,
    )
    try:
        identity = await identify(client, clock)
    except TokenRefused as error:
        raise refused("SLACK_BOT_TOKEN", error) from None
    channels = SlackChannels(client, clock)
    slack = SlackSide(
        client,
        identity,
        channels,
        Replies(session, channels, settings.slack_api_url, measures),
        limits,
    )
    return Ports(clock, store, merge_queue, slack, measures)


def refused(variable: str, error: TokenRefused) -> ConfigurationError:
    return ConfigurationError({variable: f"Slack refuses it ({error.code})"})
