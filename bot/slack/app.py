"""The Bolt app: what every request passes, and what happens when its listener fails."""

import asyncio
import logging
import re
from collections.abc import Callable
from http import HTTPStatus

from pydantic import SecretStr
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.signature import SignatureVerifier
from structlog.contextvars import bound_contextvars
from typing_extensions import override

from bot.messages.blocks import sentence
from bot.messages.errors import TOO_FAST
from bot.messages.pause_form import result_modal
from bot.metrics import UNSCRAPED, Metrics
from bot.slack.background import SHOWN, Background, Json, request_key
from bot.slack.web_api.clients import Identity
from bot.slack.web_api.remembered import Bounded

logger = logging.getLogger(__name__)

BURST = 40
"""Requests that one person may send at once."""

EACH_SECONDS = 1.0
"""After the burst, one request in so many seconds: more than anybody does by hand."""

WARNED_AGAIN_SECONDS = 10.0
"""How often a person who presses buttons too fast gets a message about it."""

MOST_PEOPLE = 10_000

FROM_PEOPLE = ("block_actions", "shortcut", "message_action")
"""The interactions that are counted; nobody gets a form without one of them."""

SIGNED = ("x-slack-request-timestamp", "x-slack-signature")
RETRY, RETRY_REASON = "x-slack-retry-num", "x-slack-retry-reason"
"""https://docs.slack.dev/apis/events-api#retries"""

bolt_logger = logging.getLogger("slack_bolt.app")


class App(AsyncApp):
    """An app whose listeners acknowledge, hand their work to `background` and return.

    HTTP requests must be signed with `signing_secret`. `process_before_response`: otherwise Bolt
    adds up to ten milliseconds, and drops an acknowledgement if the listener fails right after it.
    """

    def __init__(
        self,
        identity: Identity,
        register: Callable[[AsyncApp], None],
        background: Background,
        *,
        signing_secret: SecretStr | None = None,
        metrics: Metrics = UNSCRAPED,
    ) -> None:
        self._background, self._metrics = background, metrics
        secret = signing_secret.get_secret_value() if signing_secret else None
        self._verifier = SignatureVerifier(secret) if secret else None
        self._free_at = Bounded[str, float](MOST_PEOPLE)
        self._warned_at = Bounded[str, float](MOST_PEOPLE)
        known = AuthorizeResult(
            enterprise_id=identity.enterprise_id,
            team_id=identity.team_id,
            bot_user_id=identity.user_id,
            bot_id=identity.bot_id,
        )

        async def authorize() -> AuthorizeResult:
            """Without an auth.test call, which would delay the first acknowledgement."""
            return known

        bolt_logger.addFilter(_is_worth_logging)
        super().__init__(
            # Otherwise Bolt reads source files to find a name.
            name="mqbot",
            authorize=authorize,
            # It fails on odd headers, and logs bodies that it refuses.
            request_verification_enabled=False,
            # The app offers no workflow functions, so no request has a function's token.
            attaching_function_token_enabled=False,
            process_before_response=True,
            logger=bolt_logger,
        )
        register(self)
        # Slack retries events that nobody acknowledges, and finally disables events.
        self.event(re.compile(".*"))(_acknowledge)
        self.error(self.explain)

    @override
    async def async_dispatch(self, req: AsyncBoltRequest) -> BoltResponse:
        """Measures the acknowledgement; log records written meanwhile name the request.

        Checks requests itself: for a function as middleware, Bolt collects everything that it may
        want, which takes longer than the rest.
        """
        begun = asyncio.get_running_loop().time()
        refusal = self._refusal(req, begun)
        if refusal is not None:
            return refusal
        if RETRY in req.headers:
            # It isn't dropped for being one: the first attempt may never have arrived.
            number, reason = req.headers[RETRY][0], req.headers.get(RETRY_REASON, [""])[0]
            extra = {"action": "slack_retries", "number": number[:10], "reason": reason[:40]}
            logger.info("Slack retries a request", extra=extra)
        key = request_key(req.body)
        known = {} if key is None else {"request": key[:SHOWN]}
        with bound_contextvars(**known):
            answer = await super().async_dispatch(req)
        if answer.status == HTTPStatus.OK:
            self._metrics.acknowledgement.observe(asyncio.get_running_loop().time() - begun)
        return answer

    def _refusal(self, req: AsyncBoltRequest, now: float) -> BoltResponse | None:
        """Answer forged requests, all while the inbox is overrun, and those of a fast person.

        Overrun, Slack shows an error, and sends events again.
        """
        if req.body.get("ssl_check") == "1":
            # A certificate check is not signed.
            return BoltResponse(status=HTTPStatus.OK)
        if not self._is_signed(req):
            return BoltResponse(status=HTTPStatus.UNAUTHORIZED)
        if self._background.inbox.is_overrun:
            return BoltResponse(status=HTTPStatus.SERVICE_UNAVAILABLE)
        is_command, user_id = "command" in req.body, req.context.user_id or ""
        if not is_command and req.body.get("type") not in FROM_PEOPLE:
            return None
        free_at = max(self._free_at.get(user_id, now), now)
        if free_at - now <= (BURST - 1) * EACH_SECONDS:
            self._free_at[user_id] = free_at + EACH_SECONDS
            return None
        if now - self._warned_at.get(user_id, float("-inf")) >= WARNED_AGAIN_SECONDS:
            self._warned_at[user_id] = now
            extra = {"action": "person_too_fast", "actor": user_id}
            logger.warning("a person sends requests too fast", extra=extra)
            if not is_command:
                person = self._background.asked_by(user_id, req.body)
                self._background.inbox.hand_over(person.reply(sentence(TOO_FAST)))
        return BoltResponse(status=HTTPStatus.OK, body=TOO_FAST if is_command else "")

    def _is_signed(self, req: AsyncBoltRequest) -> bool:
        """Whether Slack signed it just now. Payloads over a WebSocket are not signed."""
        if self._verifier is None or req.mode == "socket_mode":
            return True
        timestamp, signature = (req.headers.get(name, [""])[0] for name in SIGNED)
        try:
            return self._verifier.is_valid(req.raw_body, timestamp, signature)
        except (TypeError, ValueError):
            # A timestamp that is no number, or a signature that is not ASCII.
            return False

    async def explain(
        self, error: Exception, body: Json, context: AsyncBoltContext
    ) -> BoltResponse | None:
        """Log the failure of a listener, and answer the person who waits.

        None for an event: Slack retries it.
        """
        person = self._background.asked_by(context.user_id or "", body)
        message = self._background.failed(error, person)
        if body.get("type") == "view_submission":
            # Without an answer, Slack would ask the person to submit the form again.
            answer = {"response_action": "update", "view": dict(result_modal(message, None).view)}
            return BoltResponse(status=HTTPStatus.OK, body=answer)
        if "command" not in body and body.get("type") not in FROM_PEOPLE:
            return None
        self._background.inbox.hand_over(person.reply(message))
        return BoltResponse(status=HTTPStatus.OK)


async def _acknowledge(ack: AsyncAck) -> None:
    await ack()


def _is_worth_logging(record: logging.LogRecord) -> bool:
    """Bolt warns that it ignores the token in the environment, which isn't meant for it."""
    return "SLACK_BOT_TOKEN" not in record.getMessage()
