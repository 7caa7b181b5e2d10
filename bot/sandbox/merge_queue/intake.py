"""What every request to the sandbox goes through: counting, faults, errors as JSON."""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from email.utils import formatdate

from aiohttp import web
from aiohttp.typedefs import Middleware

from bot.sandbox.merge_queue.api import PREFIX, refuse
from bot.sandbox.merge_queue.controls import Controls, SeenRequest
from bot.sandbox.merge_queue.credentials import Refusal
from bot.sandbox.merge_queue.faults import Fault

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_PAGE = "<!doctype html><title>{0}</title><h1>{0}</h1><p>The service is not available.</p>"


class Intake:
    """The one middleware of the sandbox."""

    def __init__(self, controls: Controls) -> None:
        self._controls = controls

    @property
    def middleware(self) -> Middleware:
        """Give what aiohttp takes: a function it recognises as a middleware of its newer kind."""

        @web.middleware
        async def receive(request: web.Request, handler: Handler) -> web.StreamResponse:
            if not request.path.startswith(f"{PREFIX}/"):
                return await _answer(request, handler)
            return await self._receive(request, handler)

        return receive

    async def _receive(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        controls = self._controls
        has_cursor = "cursor" in request.query
        fault = controls.faults.meet(request.method, request.path, has_cursor=has_cursor)
        controls.catch_up()
        wrong_by = 0.0
        if fault is None:
            response = await _answer(request, handler)
        elif fault.kind == "wrong_date":
            response = await _answer(request, handler)
            wrong_by = fault.seconds
        else:
            response = await _fail(request, handler, fault)
        response.headers["Date"] = self._date(wrong_by)
        closed = request.transport is None or request.transport.is_closing()
        status = 0 if closed else response.status
        controls.count_request(SeenRequest(request.method, request.path_qs, status))
        return response

    def _date(self, wrong_by: float) -> str:
        return formatdate(time.time() + self._controls.ahead + wrong_by, usegmt=True)


async def _answer(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except Refusal as refusal:
        return refuse(refusal)
    except web.HTTPException as error:
        response = refuse(Refusal(error.status, error.reason))
        for name in ("Allow", "Location"):
            if name in error.headers:
                response.headers[name] = error.headers[name]
        return response


async def _fail(request: web.Request, handler: Handler, fault: Fault) -> web.StreamResponse:
    match fault.kind:
        case "drop_before":
            return _close(request)
        case "drop_after_accept":
            await _answer(request, handler)
            return _close(request)
        case "slow":
            await asyncio.sleep(fault.seconds)
            return await _answer(request, handler)
        case "truncate":
            return await _truncate(request, await _answer(request, handler))
        case "endless_links":
            return await _on_its_first_page(request, handler, fault)
        case _:
            if fault.carried_out:
                await _answer(request, handler)
            return _false_answer(fault)


def _false_answer(fault: Fault) -> web.Response:
    status = fault.status or 500
    match fault.kind:
        case "html_error":
            page = _PAGE.format(f"Error {status}")
            return web.Response(status=status, text=page, content_type="text/html")
        case "rate_limit":
            response = refuse(Refusal(429, "Too many requests"))
            if fault.retry_after is not None:
                response.headers["Retry-After"] = fault.retry_after
            return response
        case "malformed":
            return web.Response(text='{"events": [', content_type="application/json")
        case "stale_cursor":
            return refuse(Refusal(fault.status or 422, "cursor: no longer valid"))
        case _ if fault.body is not None:
            return web.json_response(fault.body, status=status)
        case _:
            return refuse(Refusal(status, "Armed failure"))


async def _on_its_first_page(
    request: web.Request, handler: Handler, fault: Fault
) -> web.StreamResponse:
    """Give the first page of an endless log, whatever is asked for."""
    first = request.url.without_query_params("cursor")
    response = await _answer(request.clone(rel_url=first.relative()), handler)
    following = request.url.update_query(cursor=f"more-{fault.hits}")
    response.headers["Link"] = f'<{following}>; rel="next"'
    return response


def _close(request: web.Request) -> web.Response:
    """Close the connection: what is returned is never sent."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


async def _truncate(request: web.Request, whole: web.StreamResponse) -> web.StreamResponse:
    """Announce the whole answer, send half of it, and close."""
    body = whole.body if isinstance(whole, web.Response) else None
    content = body if isinstance(body, bytes) else b'{"detail": "cut"}'
    half = web.StreamResponse(status=whole.status, headers={"Content-Type": "application/json"})
    half.content_length = len(content)
    await half.prepare(request)
    await half.write(content[: math.ceil(len(content) / 2)])
    if request.transport is not None:
        request.transport.close()
    return half
