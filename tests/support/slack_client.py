"""A local Slack workspace, and the bot's client of its Web API."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import ClientSession
from pydantic import SecretStr

from bot.cli.manifest import manifest_path
from bot.runtime.clock import SystemClock
from bot.sandbox.slack.server import SlackSandbox
from bot.slack.web_api.clients import LimitedWebClient, Limits, open_session


@asynccontextmanager
async def workspace(**settings: Any) -> AsyncIterator[SlackSandbox]:
    sandbox = SlackSandbox(manifest_path(), **settings)
    await sandbox.start()
    try:
        yield sandbox
    finally:
        await sandbox.stop()


def client_in(
    session: ClientSession,
    slack: SlackSandbox,
    *,
    token: str | None = None,
    limits: Limits | None = None,
) -> LimitedWebClient:
    """A client whose connections are those of `session`."""
    secret = SecretStr(token or slack.bot_token)
    base_url = slack.api_url
    return LimitedWebClient(session, SystemClock(), token=secret, base_url=base_url, limits=limits)


@asynccontextmanager
async def client_of(slack: SlackSandbox) -> AsyncIterator[LimitedWebClient]:
    async with open_session() as session:
        yield client_in(session, slack)
