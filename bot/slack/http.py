"""Receives Slack's signed requests and hands them to the Bolt app."""

import logging
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from http import HTTPStatus
from urllib.parse import parse_qsl

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.signature import Clock, SignatureVerifier

from bot.http.server import keep_connection, read_body
from bot.kernel.configured import AcceptedSecret
from bot.kernel.metrics import UNSCRAPED, Metrics

logger = logging.getLogger(__name__)

EVENTS_PATH = "/slack/events"

LARGEST_SLACK_REQUEST = 1024 * 1024
"""Slack's largest payloads, modals with their state, have a few hundred thousand bytes."""

MOST_FIELDS = 100
"""Fields of a form."""

OLDEST_SECONDS = 5 * 60
"""https://docs.slack.dev/authentication/verifying-requests-from-slack"""

TIMESTAMP = "X-Slack-Request-Timestamp"
SIGNATURE = "X-Slack-Signature"

A_TIMESTAMP = re.compile(r"[0-9]{1,12}")
"""A number for `int` may also have signs, spaces, underscores and digits of other scripts."""

A_SIGNATURE = re.compile(r"v0=[0-9a-f]{64}")

CHECK_BYTES = 1024
"""Slack's check of a certificate has two short fields."""

CERTIFICATE_CHECK = ("ssl_check", "1")
"""The field of a request that is answered without a signature; nothing else happens."""

JSON_TYPE = "application/json"
ENCODINGS = (None, "utf-8", "utf8")
"""Of bodies. Slack names none or UTF-8; a codec that somebody else picks may take minutes."""

UNREADABLE_ERRORS = (AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""Python's and Bolt's errors for a body that isn't one of Slack's payloads."""


FOREIGN = "foreign"
"""How a wrong signature counts on a body that doesn't name the workspace."""


class Refused(Enum):
    """Why a request counts as not Slack's: what the log says, and its sender reads."""

    UNSIGNED = "it isn't signed by Slack"
    CLOCK = "its time and this machine's clock differ by more than five minutes; check the clock"
    ENDED = "it is signed with a secret whose last day in SLACK_SIGNING_SECRET is over"
    SECRET = "its signature doesn't match SLACK_SIGNING_SECRET; check the secret"  # noqa: S105 - a sentence

    @property
    def label(self) -> str:
        """As metrics and the log's field have it."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class _Signed:
    """What the head says of a signature that still has to be verified."""

    timestamp: str
    signature: str


class SlackRequests:
    """One path for everything that Slack sends.

    Answers 503 until `serve`. Looks at the head before it reads a body. A body is decoded after its
    signature is verified.
    """

    def __init__(
        self, signing_secrets: Sequence[AcceptedSecret], metrics: Metrics = UNSCRAPED
    ) -> None:
        self._clock = Clock()
        self._secrets: Sequence[AcceptedSecret] = ()
        self._app: AsyncApp | None = None
        self._home_ids: Collection[str] = ()
        self._requests = metrics.slack_requests
        self._signed_with: AcceptedSecret | None = None
        self.use(signing_secrets)

    def routes(self) -> list[web.RouteDef]:
        return [web.post(EVENTS_PATH, self._on_request)]

    def serve(self, app: AsyncApp, home_ids: Collection[str]) -> None:
        """From now on, hand verified requests to `app`.

        `home_ids`: of the workspace and its organisation; all that Slack sends names one of them.
        """
        self._app = app
        self._home_ids = home_ids

    def use(self, signing_secrets: Sequence[AcceptedSecret]) -> None:
        """From now on, accept requests signed with one of these."""
        if [*signing_secrets] == [*self._secrets]:
            return
        self._secrets = signing_secrets
        # Which of these Slack has isn't known yet.
        self._signed_with = None

    async def _on_request(self, request: web.Request) -> web.StreamResponse:
        if self._app is None:
            raise web.HTTPServiceUnavailable
        signed = self._claimed(request)
        if isinstance(signed, Refused):
            return await self._unsigned(request, signed)
        body = await read_body(request, LARGEST_SLACK_REQUEST)
        try:
            secret = self._secret_of(signed, body)
            if isinstance(secret, Refused):
                return self._refuse(request, secret, self._outcome(secret, body))
            received = _read_request(request, body)
        except UNREADABLE_ERRORS:
            extra = {"action": "request_unreadable", "length": len(body)}
            logger.warning("a request was not understood", extra=extra)
            raise web.HTTPBadRequest from None
        self._note(secret)
        self._requests.labels("accepted").inc()
        answer = await to_aiohttp_response(await self._app.async_dispatch(received))
        if answer.status == HTTPStatus.OK:
            keep_connection(request)
        return answer

    def _secret_of(self, signed: _Signed, body: bytes) -> AcceptedSecret | Refused:
        """The secret that it is signed with."""
        refused = Refused.SECRET
        now = datetime.fromtimestamp(self._clock.now(), UTC)
        for secret in self._secrets:
            verifier = SignatureVerifier(secret.secret.get_secret_value(), self._clock)
            if verifier.is_valid(body, signed.timestamp, signed.signature):
                if secret.counts(now):
                    return secret
                refused = Refused.ENDED
        return refused

    def _note(self, secret: AcceptedSecret) -> None:
        """Log with which secret Slack signs, once, and whenever that changes."""
        if secret != self._signed_with and len(self._secrets) > 1:
            extra = {"action": "signing_secret_used", "entry": secret.entry}
            logger.info("Slack signs with this secret", extra={**extra, "of": len(self._secrets)})
        self._signed_with = secret

    def _claimed(self, request: web.Request) -> _Signed | Refused:
        """The signature that the head claims, if it may be Slack's."""
        timestamp = _only(request, TIMESTAMP)
        signature = _only(request, SIGNATURE)
        if not A_TIMESTAMP.fullmatch(timestamp) or not A_SIGNATURE.fullmatch(signature):
            return Refused.UNSIGNED
        if abs(self._clock.now() - int(timestamp)) > OLDEST_SECONDS:
            return Refused.CLOCK
        return _Signed(timestamp, signature)

    async def _unsigned(self, request: web.Request, refused: Refused) -> web.Response:
        """Refuse it, unless it is a certificate check, which isn't signed.

        https://docs.slack.dev/interactivity/implementing-slash-commands
        """
        length = request.content_length
        if length is not None and length <= CHECK_BYTES:
            body = await read_body(request, CHECK_BYTES)
            fields = parse_qsl(body.decode("ascii", "replace"), max_num_fields=CHECK_BYTES)
            if CERTIFICATE_CHECK in fields:
                return web.Response()
        return self._refuse(request, refused, refused.label)

    def _outcome(self, refused: Refused, body: bytes) -> str:
        """As metrics count it: anybody can send a wrong signature, and sets off no alert so."""
        is_ours = any(home_id.encode() in body for home_id in self._home_ids)
        return FOREIGN if refused is Refused.SECRET and not is_ours else refused.label

    def _refuse(self, request: web.Request, refused: Refused, outcome: str) -> web.Response:
        self._requests.labels(outcome).inc()
        extra = {
            "action": "signature_refused",
            "reason": refused.label,
            "remote": request.remote,
            "length": request.content_length,
        }
        if refused is Refused.CLOCK:
            ours = round(self._clock.now())
            extra["seconds_from_ours"] = int(_only(request, TIMESTAMP)) - ours
        logger.warning("refused a request: %s", refused.value, extra=extra)
        return web.Response(status=HTTPStatus.UNAUTHORIZED, text=f"Refused: {refused.value}.\n")


def _only(request: web.Request, name: str) -> str:
    """The header, empty if it is missing or ambiguous."""
    found = request.headers.getall(name, [])
    return found[0] if len(found) == 1 else ""


def _read_request(request: web.Request, body: bytes) -> AsyncBoltRequest:
    """A verified request as Bolt takes it. Raises UNREADABLE_ERRORS."""
    encoding = request.charset
    if encoding is not None and encoding.lower() not in ENCODINGS:
        raise ValueError(encoding)
    text = body.decode("utf-8")
    is_form = request.content_type != JSON_TYPE and not text.startswith("{")
    if is_form and text.count("&") >= MOST_FIELDS:
        raise ValueError("too many fields")
    received = AsyncBoltRequest(body=text, headers=request.headers)  # type: ignore[arg-type]  # as its own adapter does
    if not received.body:
        # Bolt reads no fields in a form that has “payload” in a text.
        received.body = dict(parse_qsl(text, keep_blank_values=True))
    return received
