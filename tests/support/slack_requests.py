"""Requests as Slack sends them over HTTP, signed or not."""

import hashlib
import hmac
import json
from dataclasses import dataclass
from io import BytesIO
from urllib.parse import urlencode

import aiohttp

from tests.support.shown import Json

SECRET = "8f742231b10e8888abcd99yyyzzz85a5"


def signed(body: bytes, at: int | str, secret: str = SECRET) -> dict[str, str]:
    """The headers of a body that Slack sends at this time."""
    digest = hmac.new(secret.encode(), b"v0:%s:%s" % (str(at).encode(), body), hashlib.sha256)
    return {
        "X-Slack-Request-Timestamp": str(at),
        "X-Slack-Signature": f"v0={digest.hexdigest()}",
        "Content-Type": "application/x-www-form-urlencoded",
    }


def command(text: str, *, trigger_id: str = "1.2.a", response_url: str = "") -> bytes:
    fields = {
        "command": "/mq",
        "text": text,
        "user_id": "U0ALICE",
        "user_name": "alice",
        "team_id": "T0ACME",
        "channel_id": "C0MERGEQ",
        "response_url": response_url,
        "trigger_id": trigger_id,
    }
    return urlencode(fields).encode()


def event(event_id: str = "Ev1", *, user: str = "U0ALICE") -> bytes:
    opened: Json = {"type": "app_home_opened", "user": user, "tab": "home", "channel": "D1"}
    body = {"type": "event_callback", "team_id": "T0ACME", "event_id": event_id, "event": opened}
    return json.dumps(body).encode()


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back."""

    status: int
    text: str
    content_type: str

    @property
    def json(self) -> Json:
        found: Json = json.loads(self.text)
        return found


async def send(
    session: aiohttp.ClientSession, url: str, body: bytes, headers: dict[str, str]
) -> Answer:
    async with session.post(url, data=BytesIO(body), headers=headers) as answer:
        return Answer(answer.status, await answer.text(), answer.content_type)
