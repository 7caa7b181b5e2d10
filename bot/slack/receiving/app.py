"""The Bolt app: made here, with its listeners, and nowhere at import time."""

import logging
import re
import uuid
from collections.abc import Iterable
from typing import Any, Protocol

from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.authorization.async_authorize import AsyncAuthorize
from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient
from typing_extensions import override

from bot.messages.errors import defect
from bot.messages.pause import result_modal
from bot.slack.receiving.once import Once, OnceMiddleware
from bot.slack.web_api.clients import Identity

logger = logging.getLogger(__name__)

bolt_logger = logging.getLogger("slack_bolt.app")


def _is_worth_logging(record: logging.LogRecord) -> bool:
    # Bolt looks into the environment for a token too, and warns that it does not need it.
    return "will be unused" not in record.getMessage()


class Listeners(Protocol):
    """A class of listeners."""

    def register(self, app: AsyncApp) -> None: ...


class _Known(AsyncAuthorize):
    """Known since the start: no auth.test within the three seconds of the first request."""

    def __init__(self, result: AuthorizeResult) -> None:
        self._result = result

    @override
    async def __call__(
        self,
        *,
        context: AsyncBoltContext,
        enterprise_id: str | None,
        team_id: str | None,
        user_id: str | None,
        actor_enterprise_id: str | None = None,
        actor_team_id: str | None = None,
        actor_user_id: str | None = None,
    ) -> AuthorizeResult:
        return self._result


def build_app(
    client: AsyncWebClient,
    identity: Identity,
    listeners: Iterable[Listeners],
    once: Once,
) -> AsyncApp:
    """An app whose listeners acknowledge and return, whichever way a request came.

    It believes what it is given: requests over HTTP are verified before they come here, because
    Bolt's own check would write the body of a refused request to the log.

    `process_before_response` spares the ten milliseconds that Bolt otherwise waits between looks
    at a listener, and the acknowledgements it loses when a listener fails right after one.
    """
    bolt_logger.addFilter(_is_worth_logging)
    app = AsyncApp(
        # Without one Bolt reads all source files up to here, to be called like one of them.
        name="mqbot",
        # Bolt gives each request a copy of this client, with the token that authorize returns.
        client=AsyncWebClient(base_url=client.base_url, session=client.session, retry_handlers=[]),
        # Before Bolt's own steps: what came before needs none of them.
        before_authorize=OnceMiddleware(once),
        authorize=_Known(
            AuthorizeResult(
                enterprise_id=identity.enterprise_id,
                team_id=identity.team_id,
                bot_user_id=identity.user_id,
                bot_id=identity.bot_id,
                bot_token=client.token,
            )
        ),
        # No functions of workflows are offered, so no request has a token of one.
        attaching_function_token_enabled=False,
        request_verification_enabled=False,
        process_before_response=True,
        logger=bolt_logger,
    )
    for some in listeners:
        some.register(app)
    # Slack sends an event again that nobody acknowledged, and ends by switching events off.
    app.event(re.compile(".*"))(_acknowledge)

    async def on_error(error: Exception, body: dict[str, Any]) -> BoltResponse | None:
        once.forget(body)
        reference = uuid.uuid4().hex[:8]
        _defect(error, body, reference)
        return _told_in_form(reference) if body.get("type") == "view_submission" else None

    app.error(on_error)
    return app


async def _acknowledge(ack: AsyncAck) -> None:
    await ack()


def _told_in_form(reference: str) -> BoltResponse:
    """Unanswered, Slack would say that it cannot connect and ask to submit the form again."""
    view = result_modal(defect(reference), None)
    return BoltResponse(status=200, body={"response_action": "update", "view": dict(view.view)})


def _defect(error: Exception, body: dict[str, Any], reference: str) -> None:
    logger.error(
        "a listener failed",
        extra={
            "action": "listener_failed",
            "payload_type": str(body.get("type")),
            "reference": reference,
        },
        exc_info=error,
    )
