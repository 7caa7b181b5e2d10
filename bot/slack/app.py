"""The Bolt app: made here, with its middleware and listeners, and nowhere at import time."""

import asyncio
import logging
import re
import uuid
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from http import HTTPStatus
from typing import Any, Protocol

from pydantic import SecretStr
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.middleware.request_verification.async_request_verification import (
    AsyncRequestVerification,
)
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.signature import SignatureVerifier
from slack_sdk.web.async_client import AsyncWebClient
from structlog.contextvars import bound_contextvars
from typing_extensions import override

from bot.messages.blocks import sentence
from bot.messages.errors import TOO_FAST, defect
from bot.messages.pause_form import result_modal
from bot.ports import UNMEASURED, Measures
from bot.slack.background import Background, Json, person
from bot.slack.once import SHOWN, request_key
from bot.slack.web_api.clients import Identity

logger = logging.getLogger(__name__)

BURST = 40
"""Requests that one person may send at once."""

EACH_SECONDS = 1.0
"""After that one may come in so many seconds: what people do by hand comes nowhere near."""

TOLD_AGAIN_SECONDS = 10.0
"""Who presses buttons too fast is told so no more often."""

MOST_PEOPLE = 10_000

FROM_PEOPLE = ("block_actions", "shortcut", "message_action")
"""The interactions that are counted: a form takes one of these to be opened."""


class Gate:
    """What goes no further than its acknowledgement, if it gets one.

    Nothing is taken for which there is no room: Slack shows an error to whoever acted, and sends
    events again. What one person sends too fast is acknowledged; the acknowledgement of a command
    says so, and who presses buttons hears of it once in a while. What came before is acknowledged.
    """

    def __init__(self, background: Background) -> None:
        self._background = background
        # Those who sent nothing for longest are forgotten.
        self._free_at: OrderedDict[str, float] = OrderedDict()
        self._told_at: dict[str, float] = {}

    async def middleware(
        self, req: AsyncBoltRequest, next_: Callable[[], Awaitable[BoltResponse]]
    ) -> BoltResponse:
        if self._background.inbox.is_overrun:
            return BoltResponse(status=HTTPStatus.SERVICE_UNAVAILABLE)
        is_command = "command" in req.body
        is_limited = is_command or req.body.get("type") in FROM_PEOPLE
        if is_limited and not self._admits(person(req.body)):
            self._tell(req.body, is_command=is_command)
            return BoltResponse(status=HTTPStatus.OK, body=TOO_FAST if is_command else "")
        if not self._background.once.is_new(req):
            return BoltResponse(status=HTTPStatus.OK)
        return await next_()

    def _admits(self, user_id: str) -> bool:
        now = asyncio.get_running_loop().time()
        free_at = max(self._free_at.get(user_id, now), now)
        if free_at - now > (BURST - 1) * EACH_SECONDS:
            return False
        self._free_at[user_id] = free_at + EACH_SECONDS
        self._free_at.move_to_end(user_id)
        if len(self._free_at) > MOST_PEOPLE:
            forgotten, _ = self._free_at.popitem(last=False)
            self._told_at.pop(forgotten, None)
        return True

    def _tell(self, body: Json, *, is_command: bool) -> None:
        user_id, now = person(body), asyncio.get_running_loop().time()
        if now - self._told_at.get(user_id, float("-inf")) < TOLD_AGAIN_SECONDS:
            return
        self._told_at[user_id] = now
        extra = {"action": "person_too_fast", "actor": user_id}
        logger.warning("a person sends requests too fast", extra=extra)
        if not is_command:
            self._background.tell(body, sentence(TOO_FAST))


bolt_logger = logging.getLogger("slack_bolt.app")


class Listeners(Protocol):
    """A class of listeners."""

    def register(self, app: AsyncApp) -> None: ...


class App(AsyncApp):
    """Measures each acknowledgement; what is logged meanwhile names the request."""

    def __init__(self, measures: Measures, **how: Any) -> None:  # noqa: ANN401 - as Bolt's own
        super().__init__(**how)
        self._measures = measures

    @override
    async def async_dispatch(self, req: AsyncBoltRequest) -> BoltResponse:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        key = request_key(req.body)
        known = {} if key is None else {"request": key.digest[:SHOWN]}
        with bound_contextvars(**known):
            answer = await super().async_dispatch(req)
        if answer.status == HTTPStatus.OK:
            self._measures.acknowledged(loop.time() - begun)
        return answer


def build_app(
    identity: Identity,
    listeners: Iterable[Listeners],
    background: Background,
    *,
    signing_secret: SecretStr | None = None,
    measures: Measures = UNMEASURED,
) -> App:
    """An app whose listeners acknowledge, hand their work to `background` and return.

    With `signing_secret` it takes nothing over HTTP that is not signed with it; without one it is
    for Socket Mode. `process_before_response` spares the ten milliseconds that Bolt otherwise
    waits between looks at a listener, and the acknowledgements that it loses when a listener
    fails right after one.
    """
    bolt_logger.addFilter(_is_worth_logging)
    known = AuthorizeResult(
        enterprise_id=identity.enterprise_id,
        team_id=identity.team_id,
        bot_user_id=identity.user_id,
        bot_id=identity.bot_id,
        bot_token=background.client.token,
    )

    async def authorize() -> AuthorizeResult:
        """Known since the start: no auth.test within the three seconds of the first request."""
        return known

    app = App(
        measures,
        # Without one Bolt reads all source files up to here, to be called like one of them.
        name="mqbot",
        # Bolt gives each request a copy of this client, with the token that authorize returns.
        client=AsyncWebClient(
            base_url=background.client.base_url,
            session=background.client.session,
            retry_handlers=[],
        ),
        authorize=authorize,
        # Ours stands in the place of Bolt's.
        request_verification_enabled=False,
        before_authorize=_Verification(signing_secret) if signing_secret else None,
        # No functions of workflows are offered, so no request has a token of one.
        attaching_function_token_enabled=False,
        process_before_response=True,
        logger=bolt_logger,
    )
    app.use(Gate(background).middleware)
    for some in listeners:
        some.register(app)
    # Slack sends an event again that nobody acknowledged, and ends by switching events off.
    app.event(re.compile(".*"))(_acknowledge)
    app.error(_Failures(background).on_error)
    return app


class _Verifier(SignatureVerifier):
    """Slack's own; what is no number or no ASCII is a wrong signature and not a failure."""

    @override
    def is_valid(self, body: str | bytes, timestamp: str | None, signature: str | None) -> bool:
        try:
            return super().is_valid(body, timestamp, signature)
        except (TypeError, ValueError):
            return False


class _Verification(AsyncRequestVerification):
    def __init__(self, signing_secret: SecretStr) -> None:
        super().__init__(signing_secret.get_secret_value(), base_logger=bolt_logger)
        self._lenient = _Verifier(signing_secret.get_secret_value())

    @property
    @override
    def verifier(self) -> SignatureVerifier:
        return self._lenient


class _Failures:
    """What a listener fails with is logged, and told to whoever waits for an answer."""

    def __init__(self, background: Background) -> None:
        self._background = background

    async def on_error(self, error: Exception, body: Json) -> BoltResponse | None:
        """None for an event, which Slack then sends again."""
        self._background.once.forget(body)
        reference = uuid.uuid4().hex[:8]
        kind = str(body.get("type"))
        fields = {"action": "listener_failed", "payload_type": kind, "reference": reference}
        logger.error("a listener failed", extra=fields, exc_info=error)
        if kind == "view_submission":
            # Unanswered, Slack would say that it cannot connect and ask to submit it again.
            view = dict(result_modal(defect(reference), None).view)
            return BoltResponse(
                status=HTTPStatus.OK, body={"response_action": "update", "view": view}
            )
        if "command" in body or kind in FROM_PEOPLE:
            self._background.tell(body, defect(reference))
            return BoltResponse(status=HTTPStatus.OK)
        return None


async def _acknowledge(ack: AsyncAck) -> None:
    await ack()


def _is_worth_logging(record: logging.LogRecord) -> bool:
    """Bolt warns of a token in the environment that it does not need.

    Of a request with a wrong signature it logs the body, with what a person typed in it.
    """
    said = record.getMessage()
    return "will be unused" not in said and not said.startswith("Invalid request signature")
