"""HTTP delivery: signed requests to the app's address, and events sent again."""

import asyncio
import contextlib
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Mapping
from functools import partial
from typing import NamedTuple
from urllib.parse import urlencode

import aiohttp

from bot.sandbox.slack.delivering.background import Background, FirstFate, settle
from bot.sandbox.slack.delivering.delivery import (
    NOT_CONNECTED,
    TIMEOUT,
    AcknowledgementMissed,
    AppNotConnected,
    Payload,
    Terms,
)
from bot.sandbox.slack.delivering.interaction_payloads import VERIFICATION_TOKEN
from bot.sandbox.slack.faults import LOSE_PAYLOAD, REPEAT_PAYLOAD
from bot.sandbox.slack.wire import Json

VERIFICATION_PAUSE_SECONDS = 0.1
_ANSWER_BYTES = 1024 * 1024
_OK = 200
_FORM = "application/x-www-form-urlencoded"
_JSON = "application/json"


class RequestUrlRefused(Exception):
    """The address did not give the challenge back."""


class _NotDelivered(Exception):
    """Why Slack would send an event again; `is_final` when the app asks not to."""

    def __init__(self, reason: str, *, is_final: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_final = is_final


class RequestUrl:
    """Sends each payload to one address, signed as Slack signs, once the address is verified.

    docs.slack.dev/apis/events-api/using-http-request-urls
    """

    def __init__(self, signing_secret: str, terms: Terms) -> None:
        self._signing_secret = signing_secret
        self._terms = terms
        self._url: str | None = None
        self._session: aiohttp.ClientSession | None = None
        self._background = Background()

    def sign_with(self, signing_secret: str) -> None:
        """From now on, sign with this one, as after *Regenerate* on the app's page."""
        self._signing_secret = signing_secret

    @property
    def connections(self) -> int:
        """One when there is a verified address."""
        return int(self._url is not None)

    async def use(self, url: str) -> None:
        """Verify an address and send everything there from now on; raises RequestUrlRefused."""
        challenge = secrets.token_urlsafe(40)
        asked = {"token": VERIFICATION_TOKEN, "challenge": challenge, "type": "url_verification"}
        try:
            answer = await self._post(url, json.dumps(asked), _JSON, {})
        except _NotDelivered as error:
            raise RequestUrlRefused(error.reason) from None
        # Slack takes the challenge as JSON or as plain text.
        if challenge not in {answer.get("challenge"), answer.get("text")}:
            raise RequestUrlRefused("challenge_failed")
        self._url = url
        self._terms.on_connections()

    def use_when_answered(self, url: str) -> None:
        """The same in the background, until the app has started and answers."""
        self._background.start(self._verify_until_answered(url))

    async def _verify_until_answered(self, url: str) -> None:
        while True:
            with contextlib.suppress(RequestUrlRefused):
                await self.use(url)
                return
            await asyncio.sleep(VERIFICATION_PAUSE_SECONDS)

    async def deliver(self, payload: Payload) -> Json:
        """Send a command or interaction, once (see `Delivery`)."""
        try:
            content = await self._send(payload, {})
        except _NotDelivered as error:
            if error.reason == "connection_failed":
                raise AppNotConnected from None
            raise AcknowledgementMissed from None
        return content if payload.answerable else {}

    async def _send(self, payload: Payload, headers: Mapping[str, str]) -> Json:
        if self._url is None:
            raise _NotDelivered("connection_failed")
        if self._terms.faults.take(LOSE_PAYLOAD):
            await asyncio.sleep(self._terms.ack_seconds)
            raise _NotDelivered("http_timeout")
        text, content_type = _encoded(payload)
        is_repeated = self._terms.faults.take(REPEAT_PAYLOAD) is not None
        content = await self._post(self._url, text, content_type, headers)
        if is_repeated:
            await self._post(self._url, text, content_type, headers)
        return content

    async def _post(
        self, url: str, text: str, content_type: str, headers: Mapping[str, str]
    ) -> Json:
        body = text.encode()
        signed = _signature(self._signing_secret, body)
        if self._session is None:
            self._session = aiohttp.ClientSession(
                timeout=aiohttp.ClientTimeout(total=self._terms.ack_seconds)
            )
        try:
            async with self._session.post(
                url,
                data=body,
                headers={**headers, **signed, "Content-Type": content_type},
                allow_redirects=False,
            ) as answer:
                said = await answer.content.read(_ANSWER_BYTES)
                if answer.status != _OK:
                    is_final = answer.headers.get("X-Slack-No-Retry") == "1"
                    raise _NotDelivered("http_error", is_final=is_final)
                return _content(answer.content_type, said)
        except TimeoutError:
            raise _NotDelivered("http_timeout") from None
        except aiohttp.ClientError:
            raise _NotDelivered("connection_failed") from None

    def announce(self, payload: Payload) -> asyncio.Future[str | None]:
        """Send an event in the background and up to three times more (see `Delivery`)."""
        return self._background.announce(partial(self._announce, payload))

    async def _announce(self, payload: Payload, first: FirstFate) -> None:
        headers: dict[str, str] = {}
        for attempt, delay in enumerate((*self._terms.event_retry_seconds, None), 1):
            try:
                await self._send(payload, headers)
            except _NotDelivered as error:
                is_unconnected = error.reason == "connection_failed"
                settle(first, NOT_CONNECTED if is_unconnected else TIMEOUT)
                if delay is None or error.is_final:
                    return
                await asyncio.sleep(delay)
                headers = {
                    "X-Slack-Retry-Num": str(attempt),
                    "X-Slack-Retry-Reason": error.reason,
                }
            else:
                settle(first, None)
                return

    async def stop(self) -> None:
        """End what is still being sent."""
        await self._background.stop()
        if self._session is not None:
            await self._session.close()
            self._session = None


def _signature(signing_secret: str, body: bytes) -> dict[str, str]:
    """Sign as docs.slack.dev/authentication/verifying-requests-from-slack says."""
    timestamp = str(int(time.time()))
    signed = b":".join((b"v0", timestamp.encode(), body))
    digest = hmac.new(signing_secret.encode(), signed, hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": timestamp, "X-Slack-Signature": f"v0={digest}"}


class _Encoded(NamedTuple):
    """The body of a request."""

    text: str
    content_type: str


def _encoded(payload: Payload) -> _Encoded:
    """Write events as JSON, commands as a form, interactions as JSON in a form."""
    if payload.kind == "events_api":
        return _Encoded(json.dumps(payload.body), _JSON)
    if payload.kind == "slash_commands":
        return _Encoded(urlencode(payload.body), _FORM)
    form = urlencode({"payload": json.dumps(payload.body)})
    return _Encoded(form, _FORM)


def _content(content_type: str, said: bytes) -> Json:
    """Read what an acknowledgement carries: JSON, or the text of an answer."""
    text = said.decode(errors="replace")
    if content_type != _JSON:
        return {"text": text} if text else {}
    try:
        content = json.loads(text or "{}")
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}
