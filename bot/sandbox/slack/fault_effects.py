"""What an armed fault does to one request: fail it, spoil its answer, or make it wait."""

import asyncio
from dataclasses import dataclass

from aiohttp import web

from bot.sandbox.slack.faults import CALL_FAULTS, ERRORS, Fault, Faults

_RUN_FIRST = {"bare_ok", "drop_after_accept", "invalid_json", "truncate", "slow"}
_SERVER_ERROR = 500
_HTML = "<!DOCTYPE html><html><head><title>Server Error</title></head><body>500</body></html>"
_INTERNAL_ERROR = {"ok": False, "error": "internal_error"}


@dataclass(frozen=True)
class Strike:
    """The fault that strikes one request, or none."""

    fault: Fault | None

    @property
    def name(self) -> str | None:
        return self.fault.name if self.fault else None

    @property
    def error(self) -> str | None:
        """What the list of calls shows of it."""
        return self.fault.code if self.fault and self.name == "refuse" else self.name

    @property
    def prevents(self) -> bool:
        """Say whether the request must not be carried out."""
        if self.fault is None or self.fault.carried_out:
            return False
        return self.fault.name not in _RUN_FIRST

    async def before(self) -> None:
        if self.fault is not None and self.fault.name == "slow":
            await asyncio.sleep(self.fault.seconds)

    def failure(self, request: web.Request) -> web.StreamResponse:
        """Answer a request with the fault's error, or not at all."""
        if self.name == "rate_limit" and self.fault is not None:
            return rate_limited(self.fault.retry_after)
        if self.name == "refuse" and self.fault is not None:
            body = {"ok": False, "error": self.fault.code}
            return web.json_response(body, status=self.fault.status)
        if self.name == "internal_error":
            return web.json_response(_INTERNAL_ERROR)
        if self.name == "http_500":
            return web.json_response(_INTERNAL_ERROR, status=_SERVER_ERROR)
        if self.name == "html_500":
            return web.Response(text=_HTML, content_type="text/html", status=_SERVER_ERROR)
        return _dropped(request)

    def after(self, request: web.Request, response: web.Response) -> web.StreamResponse:
        """Give the answer of a request that was carried out, spoiled if the fault says so."""
        if self.name == "drop_after_accept":
            return _dropped(request)
        if self.name in ERRORS:
            return self.failure(request)
        whole = response.text or ""
        if self.name == "truncate":
            return web.Response(text=whole[: len(whole) // 2], content_type="application/json")
        if self.name == "bare_ok":
            # As a proxy or a gateway between may answer.
            return web.json_response({"ok": True})
        if self.name == "invalid_json":
            return web.Response(text="<!-- not JSON -->", content_type="application/json")
        return response


class Striker:
    """Lets armed faults strike requests, each named by its method or as `response_url`."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults

    def next_for(self, name: str, channel: str | None = None) -> Strike:
        return Strike(self._faults.take(CALL_FAULTS, name, channel))


def rate_limited(seconds: int) -> web.Response:
    """Answer 429 with `Retry-After` in whole seconds."""
    body = {"ok": False, "error": "ratelimited"}
    return web.json_response(body, status=429, headers={"Retry-After": str(seconds)})


def _dropped(request: web.Request) -> web.Response:
    """Close the connection; the response given back finds nowhere to go."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()
