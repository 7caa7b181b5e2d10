"""Keeps foreign pages away: loopback hosts, own origin, and JSON where the page asks."""

import re
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from aiohttp import web

_LOOPBACK = re.compile(r"(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?", re.IGNORECASE)
_OF_THE_PAGE = ("/control/", "/static/")
_FORBIDDEN = 403

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@web.middleware
async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse (403) what a page of another site could make a browser send here.

    A name that resolves to loopback is still a foreign name, hence the check of Host; a plain
    form cannot send JSON, and a script or form elsewhere carries its own Origin. What clients ask
    is guarded too: the tokens that are set by default are known to everybody.
    """
    refusal = _refusal(request)
    if refusal is None:
        return await handler(request)
    body = {"ok": False, "error": "forbidden", "detail": refusal}
    return web.json_response(body, status=_FORBIDDEN)


def _refusal(request: web.Request) -> str | None:
    host = request.headers.get("Host", "")
    if not _LOOPBACK.fullmatch(host):
        return "the Host header must name this machine (127.0.0.1, localhost or [::1])"
    origin = request.headers.get("Origin")
    if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
        return "the Origin must be this server"
    is_json = request.content_type == "application/json"
    if request.method == "POST" and request.path.startswith(_OF_THE_PAGE) and not is_json:
        return "a POST must have the content type application/json"
    return None
