"""The Bolt app: what every request passes, and what happens when its listener fails."""

import asyncio
import logging
import re
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Protocol

from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from structlog.contextvars import bound_contextvars
from typing_extensions import override

from bot.blocks.blocks import sentence
from bot.blocks.explain import TOO_FAST
from bot.blocks.message import Message
from bot.blocks.modal import result_modal
from bot.kernel.actor import REQUEST_SHOWN
from bot.kernel.bounded import Bounded
from bot.kernel.clock import Clock
from bot.kernel.metrics import UNSCRAPED, Metrics
from bot.slack.conversation import Conversation
from bot.slack.payloads import Json, request_key
from bot.slack.web_api.clients import Identity
from bot.store.paces import MOST_NAMES, Paces

logger = logging.getLogger(__name__)

FROM_PEOPLE = ("block_actions", "shortcut", "message_action")
"""The interactions that are answered with a message; forms are answered in the form."""

FORM = "view_submission"

EVENTS_FROM_PEOPLE = ("app_mention", "message", "app_home_opened")
"""The events that a person causes, whenever they want."""

RATE_LIMITED_EVENTS = "app_rate_limited"
"""https://docs.slack.dev/reference/events/app_rate_limited"""

RETRY_NUMBER_HEADER = "x-slack-retry-num"
RETRY_REASON_HEADER = "x-slack-retry-reason"
"""https://docs.slack.dev/apis/events-api#retries"""

FIRST_ATTEMPT = "0"
"""Over Socket Mode every event has a number, which is 0 for the first attempt."""

bolt_logger = logging.getLogger("slack_bolt.app")


class Inbox(Protocol):
    """Takes work that is done after the acknowledgement."""

    @property
    def is_overrun(self) -> bool:
        """Whether it takes no more."""

    def hand_over(self, work: Coroutine[Any, Any, None]) -> None: ...


class Background(Protocol):
    """Where requests are worked on once they are acknowledged."""

    @property
    def inbox(self) -> Inbox: ...

    def asked_by(self, user_id: str, body: Json) -> Conversation:
        """The conversation with the person who sent `body`, which no handler could read."""

    def failed(self, error: Exception, conversation: Conversation) -> Message:
        """Log a failure, and return what the person gets to read about it."""


@dataclass(frozen=True, slots=True)
class PersonalPace:
    """How fast one person may send requests."""

    burst: int = 40  #: how many at once
    each_seconds: float = 1.0  #: after the burst, one in so many: more than anybody does by hand
    warned_again_seconds: float = 10.0  #: how often a person gets a message about it


class App(AsyncApp):
    """An app whose listeners acknowledge, hand their work to `background` and return.

    Its requests are Slack's: `SlackRequests` and `SocketMode` let no others through.
    `process_before_response`: otherwise Bolt adds up to ten milliseconds, and drops an
    acknowledgement if the listener fails right after it.
    """

    def __init__(
        self,
        identity: Identity,
        register: Callable[[AsyncApp], None],
        background: Background,
        clock: Clock,
        pace: PersonalPace = PersonalPace(),
        *,
        metrics: Metrics = UNSCRAPED,
    ) -> None:
        self._background = background
        self._metrics = metrics
        self._bot_user_id = identity.user_id
        self.paces = Paces("person", pace.burst, pace.each_seconds, clock)
        self._warned_again_seconds = pace.warned_again_seconds
        self._warned_at = Bounded[str, float](MOST_NAMES)
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
            # Every request was verified before its body was parsed.
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
        if req.body.get("type") == RATE_LIMITED_EVENTS:
            # Bolt knows no listener for it. Slack drops our events of a whole minute.
            self._metrics.count_slack_error("events", RATE_LIMITED_EVENTS)
            extra = {"action": "events_rate_limited", "minute": req.body.get("minute_rate_limited")}
            logger.warning("Slack holds back events because there are too many", extra=extra)
            return BoltResponse(status=HTTPStatus.OK)
        number = req.headers.get(RETRY_NUMBER_HEADER, [FIRST_ATTEMPT])[0]
        if number != FIRST_ATTEMPT:
            # It isn't dropped for being one: the first attempt may never have arrived.
            reason = req.headers.get(RETRY_REASON_HEADER, [""])[0]
            extra = {"action": "slack_retries", "number": number[:10], "reason": reason[:40]}
            logger.info("Slack retries a request", extra=extra)
        key = request_key(req.body)
        known = {} if key is None else {"request": key[:REQUEST_SHOWN]}
        with bound_contextvars(**known):
            answer = await super().async_dispatch(req)
        if answer.status == HTTPStatus.OK:
            self._metrics.acknowledgement.observe(asyncio.get_running_loop().time() - begun)
        return answer

    def _refusal(self, req: AsyncBoltRequest, now: float) -> BoltResponse | None:
        """Answer certificate checks, all while the inbox is overrun, and those of a fast person.

        Overrun, Slack shows an error, and sends events again.
        """
        if req.body.get("ssl_check") == "1":
            return BoltResponse(status=HTTPStatus.OK)
        if self._background.inbox.is_overrun:
            return BoltResponse(status=HTTPStatus.SERVICE_UNAVAILABLE)
        user_id = self._sender(req.body, req.context.user_id)
        if user_id is None:
            return None
        if self.paces.admits(user_id):
            return None
        if now - self._warned_at.get(user_id, float("-inf")) >= self._warned_again_seconds:
            self._warned_at[user_id] = now
            extra = {"action": "person_too_fast", "actor": user_id}
            logger.warning("a person sends requests too fast", extra=extra)
            if "command" not in req.body and req.body.get("type") != FORM:
                person = self._background.asked_by(user_id, req.body)
                self._background.inbox.hand_over(person.reply(sentence(TOO_FAST)))
        return BoltResponse(status=HTTPStatus.OK, body=_too_fast(req.body))

    def _sender(self, body: Json, user_id: str | None) -> str | None:
        """The person whose budget the request counts against; None if it is nobody's.

        Everybody has one budget for commands, mentions, direct messages, clicks and forms. What is
        typed into a menu isn't counted: Slack asks for suggestions at every letter.
        """
        if "command" in body or body.get("type") in {*FROM_PEOPLE, FORM}:
            return user_id or ""
        event = body.get("event")
        if not isinstance(event, dict) or event.get("type") not in EVENTS_FROM_PEOPLE:
            return None
        edited = event.get("message")
        said = edited if isinstance(edited, dict) else event
        sender = said.get("user")
        is_a_persons = isinstance(sender, str) and "bot_id" not in said
        return sender if is_a_persons and sender != self._bot_user_id else None

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


def _too_fast(body: Json) -> str | Json:
    """A command is answered below it, and a form in its first field, so that it stays open."""
    if "command" in body:
        return TOO_FAST
    if body.get("type") != FORM:
        return ""
    blocks = (body.get("view") or {}).get("blocks") or []
    fields = [
        block["block_id"]
        for block in blocks
        if block.get("type") == "input" and "block_id" in block
    ]
    return {"response_action": "errors", "errors": {fields[0]: TOO_FAST}} if fields else ""


async def _acknowledge(ack: AsyncAck) -> None:
    await ack()


def _is_worth_logging(record: logging.LogRecord) -> bool:
    """Bolt warns that it ignores the token in the environment, which isn't meant for it."""
    return "SLACK_BOT_TOKEN" not in record.getMessage()
