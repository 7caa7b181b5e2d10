"""The workspace as one local server: binds its port, wires its parts, starts and stops."""

import random
import time
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path

from aiohttp import web

from bot.sandbox.slack.acting.interactions import Interactions
from bot.sandbox.slack.acting.people import People
from bot.sandbox.slack.acting.response_urls import ResponseUrls
from bot.sandbox.slack.acting.standing import Standing
from bot.sandbox.slack.acting.submissions import Submissions
from bot.sandbox.slack.control.api import ControlApi
from bot.sandbox.slack.control.arrangement import Arrangement
from bot.sandbox.slack.control.arrangement_api import ArrangementApi
from bot.sandbox.slack.control.fault_control import FaultControl
from bot.sandbox.slack.control.page import Page
from bot.sandbox.slack.control.requests import answering, unknown_path
from bot.sandbox.slack.control.sight import Sight
from bot.sandbox.slack.control.stage import Stage, StageApi
from bot.sandbox.slack.delivering.app_events import AppEvents
from bot.sandbox.slack.delivering.delivery import Delivery, Terms
from bot.sandbox.slack.delivering.request_url import RequestUrl
from bot.sandbox.slack.delivering.socket_mode import SocketMode
from bot.sandbox.slack.fault_effects import Striker
from bot.sandbox.slack.faults import Faults
from bot.sandbox.slack.guard import guard
from bot.sandbox.slack.state.installation import Installation
from bot.sandbox.slack.state.manifest import Manifest
from bot.sandbox.slack.state.payloads import Payloads
from bot.sandbox.slack.state.seed import APP_ID, BOT_ID, BOT_USER_ID, default_workspace
from bot.sandbox.slack.state.triggers import TRIGGER_SECONDS, Triggers
from bot.sandbox.slack.state.views import Views
from bot.sandbox.slack.state.workspace import Change
from bot.sandbox.slack.web_api.api import WebApi
from bot.sandbox.slack.web_api.calls import Call, CallLog
from bot.sandbox.slack.web_api.credentials import Credentials
from bot.sandbox.slack.web_api.methods.method import TIER_3, Method
from bot.sandbox.slack.web_api.rate_limits import RateLimiter, RateLimits
from bot.sandbox.slack.wire import Json, SlackRefusal

ACK_SECONDS = 3.0
EVENT_RETRY_SECONDS = (0.0, 60.0, 300.0)
_BODY_BYTES = 4 * 1024 * 1024
_STOP_SECONDS = 1.0


class SlackSandbox:
    """A local Slack workspace that clients reach by address and tokens alone.

    `manifest`: the app's manifest.yml (its path, or the mapping it holds); only what it declares
    is offered, sent and allowed. `bot_token`, `app_token`: the only two
    tokens that are known, until `credentials` gets more.
    `ack_seconds`: how long the app has to acknowledge. `trigger_seconds`: how long it may open a
    modal for what somebody did, with a trigger that `refusals_use_triggers` or not: see
    `Triggers`. `event_retry_seconds`: the waits before an unacknowledged event
    is sent again. `rate_limits`: "posting" (chat.postMessage only),
    "all" (every method by its tier) or "off". Where the manifest switches Socket Mode off, what
    happens is sent in requests signed with `signing_secret`: to `request_url`, verified as soon
    as the app answers there, or to the address that `request_url.use` verifies at once.

    In-process tests use `people` (what persons do), `sight` (what one person sees), `faults`,
    `calls` and `arrangement` (more people, channels, user groups); all of them answer what the
    control API answers and raise ControlRefusal where it refuses. They change `terms` where the
    app is to have more or less time.
    """

    def __init__(  # noqa: PLR0913 - each is an option of the workspace, given by its name
        self,
        manifest: Path | str | Mapping[str, object],
        *,
        bot_token: str = "xoxb-sandbox",  # noqa: S107 - opens nothing but this local workspace
        app_token: str = "xapp-sandbox",  # noqa: S107 - opens nothing but this local workspace
        ack_seconds: float = ACK_SECONDS,
        trigger_seconds: float = TRIGGER_SECONDS,
        refusals_use_triggers: bool = False,
        event_retry_seconds: tuple[float, ...] = EVENT_RETRY_SECONDS,
        rate_limits: RateLimits = "posting",
        request_url: str | None = None,
        signing_secret: str = "sandbox-signing-secret",  # noqa: S107 - signs nothing but local requests
    ) -> None:
        chance = random.Random()
        declared = Manifest.read(manifest)
        workspace = default_workspace(declared.bot_name, declared.name)
        self.bot_token = bot_token
        self.app_token = app_token
        self.signing_secret = signing_secret
        self._first_request_url = request_url
        self.installation = Installation(
            workspace=workspace,
            manifest=declared,
            payloads=Payloads(workspace, APP_ID, BOT_ID, BOT_USER_ID),
            views=Views(workspace, chance),
            triggers=Triggers(
                time.monotonic, chance, trigger_seconds, used_by_refusals=refusals_use_triggers
            ),
            chance=chance,
        )
        self.calls = CallLog()
        self._faults = Faults()
        self.terms = Terms(
            self._faults,
            ack_seconds,
            event_retry_seconds,
            on_connections=lambda: workspace.notify(Change("app")),
        )
        self.socket_mode = SocketMode(APP_ID, chance, self.terms)
        self.request_url = RequestUrl(signing_secret, self.terms)
        self.delivery: Delivery = (
            self.socket_mode if declared.socket_mode_enabled else self.request_url
        )
        self.faults = FaultControl(self._faults, self.socket_mode)
        self.credentials = Credentials(bot_token, app_token, declared.bot_scopes)
        limiter = RateLimiter(rate_limits, time.monotonic)
        self._striker = Striker(self._faults)
        self.web_api = WebApi(
            self.installation, self.credentials, limiter, self._striker, self.calls
        )
        self.web_api.add_method(
            "apps.connections.open",
            Method(self._open_connection, TIER_3, ("connections:write",), ("app",)),
        )
        self._wire_people()
        self.stage: Stage | None = None
        self._runner: web.AppRunner | None = None

    def _wire_people(self) -> None:
        installation = self.installation
        delivery = self.delivery
        standing = Standing(installation)
        self.response_urls = ResponseUrls(installation, time.monotonic, self._striker, self.calls)
        self.app_events = AppEvents(installation, delivery, self._faults)
        installation.workspace.on_change(self.app_events.on_change)
        interactions = Interactions(installation, delivery, self.response_urls, standing)
        self._submissions = Submissions(installation, delivery, self.response_urls, standing)
        self.people = People(
            installation, interactions, self._submissions, self.app_events, standing
        )
        self.sight = Sight(installation, delivery, standing)
        self._page = Page(installation.workspace, self.sight, standing)
        self.arrangement = Arrangement(installation)
        self._control = ControlApi(self.people, interactions, self.sight, self.faults, self.calls)

    @property
    def url(self) -> str:
        """Give the page's address, with a slash at its end."""
        return self.installation.base_url

    @property
    def api_url(self) -> str:
        """Give the Web API's address for clients, ending in `/api/`."""
        return f"{self.installation.base_url}api/"

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> None:
        """Bind and serve; port 0 lets the system choose. Raises OSError when it is taken."""
        app = web.Application(client_max_size=_BODY_BYTES, middlewares=[guard])
        app.on_response_prepare.append(_lower_header_names)
        app.add_routes(
            [
                web.route("*", "/api/{method}", self.web_api.handle),
                web.get("/socket/{ticket}", self.socket_mode.handle),
                web.post("/response/{key}", self.response_urls.handle),
                *self._control.routes(),
                *ArrangementApi(self.arrangement).routes(),
                *StageApi(lambda: self.stage).routes(),
                *self._page.routes(),
                web.route("*", "/control/{path:.*}", answering(unknown_path)),
            ]
        )
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=_STOP_SECONDS)
        await self._runner.setup()
        site = web.TCPSite(self._runner, host, port)
        await site.start()
        bound = self._runner.addresses[0][1]
        shown = f"[{host}]" if ":" in host else host
        self.installation.base_url = f"http://{shown}:{bound}/"
        if self._first_request_url is not None:
            self.request_url.use_when_answered(self._first_request_url)

    async def stop(self) -> None:
        """Close every connection and give the port back; safe to call twice."""
        if self._runner is None:
            return
        self._page.stop()
        await self._submissions.stop()
        await self.socket_mode.stop()
        await self.request_url.stop()
        await self._runner.cleanup()
        self._runner = None

    def _open_connection(self, installation: Installation, _call: Call) -> Json:
        """Hand out a WebSocket address (docs.slack.dev/reference/methods/apps.connections.open)."""
        if not installation.manifest.socket_mode_enabled:
            raise SlackRefusal("forbidden_team")
        address = installation.base_url.replace("http", "ws", 1)
        ticket = self.socket_mode.new_ticket()
        return {"url": f"{address}socket/{ticket}?app_id={installation.app_id}"}


async def _lower_header_names(_request: web.Request, response: web.StreamResponse) -> None:
    """Name headers as HTTP/2 does, by which most clients reach Slack.

    https://www.rfc-editor.org/rfc/rfc9113#section-8.2
    """
    if response.status == HTTPStatus.SWITCHING_PROTOCOLS:
        return
    named = [(name.lower(), value) for name, value in response.headers.items()]
    response.headers.clear()
    response.headers.extend(named)
