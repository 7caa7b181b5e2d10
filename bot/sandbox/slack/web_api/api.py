"""The Web API: authenticates a call, runs its method, and answers as Slack does."""

import secrets
from collections.abc import Mapping
from typing import NamedTuple

from aiohttp import web

from bot.sandbox.slack.fault_effects import Striker, rate_limited
from bot.sandbox.slack.state.installation import Installation
from bot.sandbox.slack.web_api.calls import Call, CallLog
from bot.sandbox.slack.web_api.credentials import Credentials, Token
from bot.sandbox.slack.web_api.methods import app, chat, conversations, people, views
from bot.sandbox.slack.web_api.methods.method import Method
from bot.sandbox.slack.web_api.rate_limits import RateLimiter
from bot.sandbox.slack.web_api.request_bodies import Received, read_request
from bot.sandbox.slack.wire import Json, SlackRefusal

_ANONYMOUS = Token("bot", ())


class _Admitted(NamedTuple):
    """A method that a caller may use."""

    method: Method
    token: Token


class WebApi:
    """Answers `/api/<method>`; a method that is not there is Slack's `unknown_method`."""

    def __init__(
        self,
        installation: Installation,
        credentials: Credentials,
        limiter: RateLimiter,
        striker: Striker,
        log: CallLog,
    ) -> None:
        self._installation = installation
        self._credentials = credentials
        self._limiter = limiter
        self._striker = striker
        self._log = log
        self._methods: dict[str, Method] = {
            **app.METHODS,
            **chat.METHODS,
            **conversations.METHODS,
            **people.METHODS,
            **views.METHODS,
        }

    def add_method(self, name: str, method: Method) -> None:
        self._methods[name] = method

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one request, or fail it as an armed fault says."""
        name = request.match_info["method"]
        try:
            received = await read_request(request)
        except SlackRefusal as refusal:
            return _answer(refusal.body(), None)
        strike = self._striker.next_for(name, str(received.arguments.get("channel")))
        await strike.before()
        if strike.prevents:
            entry = self._log.add(name, None, received.arguments)
            entry |= {"ok": False, "error": strike.error}
            if strike.name == "refuse":
                self._installation.triggers.refused(str(received.arguments.get("trigger_id")))
            return strike.failure(request)
        return strike.after(request, self.respond(name, received))

    def respond(self, name: str, received: Received) -> web.Response:
        """Run a call that was read, and write Slack's answer to it."""
        entry = self._log.add(name, None, received.arguments)
        token: Token | None = None
        try:
            method, token = self._admit(name, received)
            entry["token_kind"] = token.kind if method.tokens else None
            call = Call(name, token, received.arguments, list(received.warnings))
            if method.needs_team and self._installation.workspace.team.is_org_wide:
                _require_team(call)
            wait = self._limiter.seconds_to_wait(name, method, call.text("channel"))
            if wait:
                entry |= {"ok": False, "error": "ratelimited"}
                return rate_limited(wait)
            body: Json = {"ok": True, **method.run(self._installation, call)}
            _add_warnings(body, call.warnings)
        except SlackRefusal as refusal:
            body = refusal.body()
            _add_warnings(body, list(received.warnings))
        entry |= {"ok": body["ok"], "error": body.get("error")}
        return _answer(body, token)

    def _admit(self, name: str, received: Received) -> _Admitted:
        method = self._methods.get(name)
        if method is None:
            raise SlackRefusal("unknown_method", fields={"req_method": name})
        if not method.tokens:
            return _Admitted(method, _ANONYMOUS)
        token = self._credentials.recognise(received.secret)
        if token.kind not in method.tokens:
            raise SlackRefusal("not_allowed_token_type")
        token.require_any(method.scopes)
        return _Admitted(method, token)


def _require_team(call: Call) -> None:
    """Raise SlackRefusal, as docs.slack.dev/reference/methods/bots.info and others say."""
    if not call.text("team_id"):
        raise SlackRefusal("missing_argument")


def _add_warnings(body: Json, warnings: list[str]) -> None:
    if warnings:
        body["warning"] = ",".join(warnings)
        body.setdefault("response_metadata", {})["warnings"] = warnings


def _answer(body: Mapping[str, object], token: Token | None) -> web.Response:
    headers = {"X-Slack-Req-Id": secrets.token_hex(16)}
    if token is not None and token.scopes:
        headers["X-OAuth-Scopes"] = ",".join(token.scopes)
    return web.json_response(body, headers=headers)
