"""The connection to Slack's Web API: one session, and a client that never retries."""

import logging
from dataclasses import dataclass

from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector
from pydantic import SecretStr
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.domain.errors import BotError
from bot.domain.pacing import retry_delay
from bot.ports import UNMEASURED, Clock, Measures
from bot.slack.web_api.failures import CREDENTIAL_CODES, FAILURES, read_failure
from bot.slack.web_api.limits import LimitedWebClient, Limits

logger = logging.getLogger(__name__)

Client = AsyncWebClient
"""For those who hand it on and may not know the SDK: only this package imports it."""

TOTAL_SECONDS = 10.0
CONNECT_SECONDS = 3.0
READ_SECONDS = 8.0
CONNECTIONS = 20
KEEPALIVE_SECONDS = 90.0


def open_session(proxy: str | None = None) -> ClientSession:
    """One session for every call to Slack, the answers to people among them.

    Without it the SDK opens a connection for each call; with it the SDK's own `timeout` is
    ignored, so the limits are here.
    """
    return ClientSession(
        proxy=proxy,
        connector=TCPConnector(limit=CONNECTIONS, keepalive_timeout=KEEPALIVE_SECONDS),
        timeout=ClientTimeout(
            total=TOTAL_SECONDS, sock_connect=CONNECT_SECONDS, sock_read=READ_SECONDS
        ),
        cookie_jar=DummyCookieJar(),
    )


def web_client(
    session: ClientSession,
    *,
    token: SecretStr,
    base_url: str,
    measures: Measures = UNMEASURED,
    limits: Limits | None = None,
) -> AsyncWebClient:
    """A Web API client without retry handlers that keeps to Slack's rate limits.

    Without `limits` it knows only of those that it has met itself.

    The SDK's default handler posts a message again when the connection is lost after Slack
    accepted it; trying again is decided where it can be known what happened.
    """
    client = LimitedWebClient(
        token=token.get_secret_value(),
        base_url=base_url,
        session=session,
        retry_handlers=[],
        # The SDK asks it, and not its parents, whether to write out each request and answer. Of its
        # loggers this is the one whose level `bot.logs` sets.
        logger=logging.getLogger("slack_sdk"),
        measures=measures,
        limits=limits,
    )
    # The SDK takes one from the environment even for this machine's own addresses; the session
    # has the proxy that there is.
    client.proxy = None
    return client


@dataclass(frozen=True, slots=True)
class Identity:
    """Who we are in Slack, from `auth.test`."""

    team_id: str
    enterprise_id: str | None
    user_id: str
    bot_id: str
    name: str

    @property
    def home_ids(self) -> frozenset[str]:
        """The ids by which Slack names people of this organisation."""
        ids = {self.team_id, self.enterprise_id}
        return frozenset(one for one in ids if one is not None)


class TokenRefused(BotError):
    """Slack refuses a token; `code` is Slack's."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


async def identify(client: AsyncWebClient, clock: Clock) -> Identity:
    """Ask Slack who we are, trying again until it answers; raises TokenRefused.

    https://docs.slack.dev/reference/methods/auth.test
    """
    attempt = 0
    while True:
        try:
            return _identity(await client.auth_test())
        except FAILURES as error:
            failure = read_failure(error)
        if failure.code in CREDENTIAL_CODES:
            raise TokenRefused(failure.code)
        attempt += 1
        logger.warning(
            "Slack cannot be reached",
            extra={"action": "slack_refused", "error": failure.code, "attempt": attempt},
        )
        await clock.sleep(retry_delay(attempt, hint=failure.retry_after, jitter=0.5))


def _identity(answer: AsyncSlackResponse) -> Identity:
    return Identity(
        team_id=str(answer["team_id"]),
        enterprise_id=answer.get("enterprise_id"),
        user_id=str(answer["user_id"]),
        bot_id=str(answer["bot_id"]),
        name=str(answer["user"]),
    )
