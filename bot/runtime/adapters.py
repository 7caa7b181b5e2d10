"""Opens the database, the merge queue service and Slack's Web API."""

import logging
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

from bot.acts.unanswered_rows import UnansweredRequests
from bot.config.policies import own_tokens, policies
from bot.config.settings import Settings
from bot.kernel.clock import Clock
from bot.kernel.configured import Configured
from bot.kernel.errors import ConfigurationError
from bot.kernel.groups import Groups, Repositories
from bot.kernel.logins import BotLogins
from bot.kernel.metrics import Metrics
from bot.kernel.proxies import proxy_towards
from bot.kernel.repository import RepositoryName
from bot.merge_queue.client import MergeQueueClient
from bot.merge_queue.http import Http
from bot.slack.conversation import Replies
from bot.slack.web_api.channels import SlackChannels
from bot.slack.web_api.clients import (
    LOST_WITHOUT,
    Identity,
    LimitedWebClient,
    Limits,
    TokenRefused,
    identify,
    open_session,
)
from bot.slack.web_api.people import SlackPeople
from bot.store.backup import take_over_database, while_file_stays
from bot.store.engines import create_engine, with_database_clock
from bot.store.transactions import Store

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SlackSide:
    """The known facts and open clients on Slack's side."""

    client: LimitedWebClient
    identity: Identity
    channels: SlackChannels
    people: SlackPeople
    replies: Replies


@dataclass(frozen=True, slots=True)
class Ports:
    """The adapters, open, and the settings that a reload changes."""

    clock: Clock
    store: Store
    merge_queue: MergeQueueClient
    slack: SlackSide
    metrics: Metrics
    configured: Configured


OpenStore = Callable[[str], Store]


def open_store(url: str) -> Store:
    """The store at a database's address. Raises ValueError for a bad one."""
    return Store(create_engine(url))


async def open_ports(
    settings: Settings,
    stack: AsyncExitStack,
    clock: Clock,
    metrics: Metrics,
    open_store: OpenStore = open_store,
) -> Ports:
    """Open everything and close it with `stack`; raises ConfigurationError for a refused token."""
    url = settings.database_url.get_secret_value()
    store = open_store(url)
    with_database_clock(store.engine)
    stack.push_async_callback(store.close)
    if await take_over_database(store, url, stack):
        await store.run(lambda transaction: UnansweredRequests(transaction).cut_off(clock.now()))
    await stack.enter_async_context(while_file_stays(url, clock))
    merge_queue = await stack.enter_async_context(_merge_queue(settings, clock, metrics))
    session = await stack.enter_async_context(open_session(proxy_towards(settings.slack_api_url)))
    limits = Limits(store)
    await limits.sync()
    client = LimitedWebClient(
        session,
        clock,
        token=settings.slack_bot_token,
        base_url=settings.slack_api_url,
        metrics=metrics,
        limits=limits,
    )
    try:
        identity = await identify(client, clock)
    except TokenRefused as error:
        raise refused("SLACK_BOT_TOKEN", error) from None
    _log_missing_scopes(identity)
    channels = SlackChannels(client, clock)
    replies = Replies(client, session, channels, clock, metrics)
    slack = SlackSide(client, identity, channels, SlackPeople(client, clock), replies)
    configured = configured_by(settings, identity)
    return Ports(clock, store, merge_queue, slack, metrics, configured)


def _merge_queue(settings: Settings, clock: Clock, metrics: Metrics) -> MergeQueueClient:
    http = Http(
        base_url=settings.api_url,
        token=settings.api_token,
        own_tokens=own_tokens(settings),
        clock=clock,
        requests_at_once=settings.requests_at_once,
        metrics=metrics,
    )
    return MergeQueueClient(http, deprecated_pause=settings.deprecated_pause)


def configured_by(
    settings: Settings, identity: Identity, left: Sequence[RepositoryName] = ()
) -> Configured:
    """`left`: repositories that the settings don't name any more, with a queue still paused."""
    return Configured(
        Groups(settings.groups, Repositories(settings.repositories, tuple(left))),
        identity.home_ids,
        policies(settings, left),
        {login.lower(): user_id for user_id, login in settings.logins},
        BotLogins(settings.bot_logins),
        unverified_may_read=settings.unverified_may_read,
        login_field=settings.login_field or "",
    )


def _log_missing_scopes(identity: Identity) -> None:
    for scope, lost in LOST_WITHOUT.items():
        if identity.scopes is not None and scope not in identity.scopes:
            extra = {"action": "scope_missing", "scope": scope, "lost": lost}
            logger.info("an optional scope is not granted", extra=extra)


def refused(variable: str, error: TokenRefused) -> ConfigurationError:
    return ConfigurationError({variable: f"Slack refuses it ({error.code})"})
