"""The composition root: connects adapters to use cases, opens and closes them in order."""

import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from bot.config import Settings
from bot.runtime.adapters import Ports, open_ports, refused
from bot.runtime.jobs import Jobs
from bot.runtime.listening import build_listeners
from bot.slack.clients import TokenRefused
from bot.slack.inbox import Inbox
from bot.slack.once import Once
from bot.slack.socket import SocketConnection

logger = logging.getLogger(__name__)

DRAIN_SECONDS = 5.0


@asynccontextmanager
async def build_runtime(settings: Settings) -> AsyncIterator[None]:
    """All of the bot over Socket Mode; on leaving, take no more, finish what is begun, close.

    Raises ConfigurationError when a credential is refused or the database is not migrated.
    """
    async with AsyncExitStack() as stack:
        ports = await open_ports(settings, stack)
        await _configure_subscriptions(settings, ports)
        jobs = Jobs(settings, ports)
        inbox = Inbox()
        app = build_listeners(settings, ports, jobs.nudge, inbox, Once(ports.clock))
        stack.push_async_callback(jobs.drain)
        stack.push_async_callback(inbox.drain, DRAIN_SECONDS)
        connection = SocketConnection(
            app, ports.slack.client, settings.slack_app_token, ports.clock
        )
        stack.push_async_callback(connection.close)
        jobs.start()
        stack.callback(jobs.stop_firing)
        try:
            await connection.open()
        except TokenRefused as error:
            raise refused("SLACK_APP_TOKEN", error) from None
        _ready(settings)
        yield


async def _configure_subscriptions(settings: Settings, ports: Ports) -> None:
    async with ports.store.begin() as transaction:
        await transaction.subscriptions.replace_configured(settings.channels)


def _ready(settings: Settings) -> None:
    logger.info("ready", extra={"action": "ready", "repositories": len(settings.repositories)})
