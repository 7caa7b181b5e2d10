"""The connection to Slack's Web API: one session, and a client that never retries."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector
from pydantic import SecretStr
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.domain.errors import BotError
from bot.domain.pacing import retry_delay
from bot.ports import UNMEASURED, Clock, Measures
from bot.slack.web_api.failures import CREDENTIAL_CODES, FAILURES, read_failure
from bot.slack.web_api.limits import LimitedWebClient, Limits, Reach

logger = logging.getLogger(__name__)

Client = AsyncWebClient
"""For code outside `bot.slack`, which may not import the SDK."""

_MAY_BE_MISSING = "a post may be missing if Slack's answer to it was lost."

LOST_WITHOUT: Mapping[str, str] = {
    "app_mentions:read": "Commands in messages that mention the bot aren't answered.",
    "channels:history": f"In public channels, {_MAY_BE_MISSING}",
    "channels:join": "The bot has to be invited to public channels.",
    "chat:write.public": "Posts in a public channel wait until the bot is in it.",
    "groups:history": f"In private channels, {_MAY_BE_MISSING}",
    "groups:read": "Posts in private channels have no buttons.",
    "im:history": f"Commands in direct messages aren't answered. In those, {_MAY_BE_MISSING}",
    "im:read": "Answers in direct messages have no buttons.",
    "im:write": "Nobody gets reminders and notifications as direct messages.",
    "usergroups:read": "Members of user groups in MQBOT_WHO_MAY_PAUSE are refused.",
}
"""What the bot can't do without each optional scope of the manifest."""

TOTAL_SECONDS = 10.0
CONNECT_SECONDS = 3.0
READ_SECONDS = 8.0
CONNECTIONS = 20
KEEPALIVE_SECONDS = 90.0


def open_session(proxy: str | None = None) -> ClientSession:
    """One session for all calls to Slack.

    Without it, the SDK opens a connection for each call; with it, the SDK ignores its `timeout`.
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
    reach: Reach | None = None,
) -> AsyncWebClient:
    """A Web API client that keeps to Slack's rate limits, `limits` or its own, and never retries.

    `reach` gets to know which calls Slack answered.

    The SDK's default handler would post a message again if the connection is lost after Slack
    accepted it.
    """
    client = LimitedWebClient(
        token=token.get_secret_value(),
        base_url=base_url,
        session=session,
        retry_handlers=[],
        # The SDK asks this logger, not its parents, whether to log requests; `bot.logs` sets it.
        logger=logging.getLogger("slack_sdk"),
        measures=measures,
        limits=limits,
        reach=reach,
    )
    # The session has the proxy; the SDK's would apply to this machine's own addresses, too.
    client.proxy = None
    return client


@dataclass(frozen=True, slots=True)
class Identity:
    """The bot's own ids in Slack, from `auth.test`."""

    team_id: str
    enterprise_id: str | None
    user_id: str
    bot_id: str
    name: str
    scopes: frozenset[str] | None = None
    """What the token may do; None if Slack didn't say."""

    @property
    def home_ids(self) -> frozenset[str]:
        """The ids that mark people of this organisation."""
        ids = {self.team_id, self.enterprise_id}
        return frozenset(one for one in ids if one is not None)


class TokenRefused(BotError):
    """Slack refuses a token; `code` is Slack's."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


async def identify(client: AsyncWebClient, clock: Clock) -> Identity:
    """Ask Slack for the bot's ids, and retry until it answers; raises TokenRefused.

    https://docs.slack.dev/reference/methods/auth.test
    """
    attempt = 0
    while True:
        try:
            answer = await client.auth_test()
            if answer.get("is_enterprise_install"):
                await _choose_workspace(client)
            return _identity(answer)
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


async def _choose_workspace(client: AsyncWebClient) -> None:
    """Name a workspace in every call: with an organisation's token, some methods need one.

    https://docs.slack.dev/reference/methods/auth.teams.list
    """
    answer = await client.auth_teams_list(limit=1000)
    workspaces = sorted(str(one["id"]) for one in answer.get("teams") or ())
    if workspaces:
        client.default_params["team_id"] = workspaces[0]
    logger.info(
        "installed for the whole organisation",
        extra={"action": "org_wide", "workspaces": ", ".join(workspaces)},
    )


def _identity(answer: AsyncSlackResponse) -> Identity:
    return Identity(
        team_id=str(answer["team_id"]),
        enterprise_id=answer.get("enterprise_id"),
        user_id=str(answer["user_id"]),
        bot_id=str(answer["bot_id"]),
        name=str(answer["user"]),
        scopes=granted_scopes(answer),
    )


def granted_scopes(answer: AsyncSlackResponse) -> frozenset[str] | None:
    """The scopes of the token that made the call, from a header; None if Slack didn't say."""
    scopes = answer.headers.get("X-OAuth-Scopes")
    if scopes is None:
        return None
    return frozenset(scope.strip() for scope in scopes.split(",") if scope.strip())
