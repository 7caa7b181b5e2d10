"""A workspace that is wired but not started, and a way to call its Web API without sockets."""

import json
from typing import Any

import pytest

from bot.sandbox.slack.server import SlackSandbox
from bot.sandbox.slack.web_api.request_bodies import Received
from bot.sandbox.slack.wire import ControlRefusal, Json, SlackRefusal
from tests.support.workspace_manifest import make_manifest

BOT = "xoxb-sandbox"
APP = "xapp-sandbox"


def refused(code: str) -> pytest.RaisesExc[ControlRefusal | SlackRefusal]:
    """Hold that Slack refuses with this code."""
    return pytest.RaisesExc((ControlRefusal, SlackRefusal), check=lambda error: error.code == code)


class Desk:
    """Calls methods of a workspace as its Web API would, and reads the answers."""

    def __init__(self, sandbox: SlackSandbox) -> None:
        self.sandbox = sandbox

    def call(self, method: str, token: Any = BOT, **arguments: Any) -> Json:
        response = self.sandbox.web_api.respond(method, Received(arguments, token))
        body: Json = json.loads(response.text or "")
        return body

    def error(self, method: str, token: Any = BOT, **arguments: Any) -> str:
        body = self.call(method, token, **arguments)
        assert body["ok"] is False, body
        return str(body["error"])

    def post(self, channel: str = "C0MERGEQ", **arguments: object) -> str:
        body = self.call("chat.postMessage", channel=channel, **{"text": "Hi", **arguments})
        assert body["ok"] is True, body
        return str(body["ts"])


@pytest.fixture
def desk() -> Desk:
    return Desk(SlackSandbox(make_manifest(), rate_limits="off"))


def make_desk(*scopes: str, **features: Any) -> Desk:
    return Desk(SlackSandbox(make_manifest(scopes, **features), rate_limits="off"))
