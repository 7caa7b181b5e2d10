"""Reads control requests, and writes their answers and refusals."""

import functools
import json
from collections.abc import Awaitable, Callable

from aiohttp import web

from bot.sandbox.slack.wire import ControlRefusal, Json

Handler = Callable[[web.Request], Awaitable[web.Response]]


def answering(run: Callable[[web.Request], Awaitable[Json]]) -> Handler:
    """Make a handler that writes the answer, or the refusal with its HTTP status."""

    @functools.wraps(run)
    async def handler(request: web.Request) -> web.Response:
        try:
            return web.json_response(await run(request))
        except ControlRefusal as refusal:
            return refused(refusal)

    return handler


def refused(refusal: ControlRefusal) -> web.Response:
    body = {"ok": False, "error": refusal.code, "detail": refusal.detail}
    return web.json_response(body, status=refusal.status)


def viewer_of(request: web.Request) -> str:
    """Give the person a reading is for; raises ControlRefusal `missing_user`."""
    user = request.query.get("user")
    if not user:
        raise ControlRefusal("missing_user", "the query must name a user")
    return user


async def body_of(request: web.Request) -> Json:
    """Read a JSON object; raises ControlRefusal `invalid_json`."""
    try:
        body = json.loads(await request.read())
    except (ValueError, RecursionError):
        raise ControlRefusal("invalid_json", "the body is not JSON") from None
    if not isinstance(body, dict):
        raise ControlRefusal("invalid_json", "the body must be a JSON object")
    return body


def texts_of(body: Json, *names: str) -> list[str]:
    """Give fields that must be there as text; raises ControlRefusal `missing_field`."""
    found = []
    for name in names:
        value = body.get(name)
        if not isinstance(value, str) or not value:
            raise ControlRefusal("missing_field", f"{name} must be given as text")
        found.append(value)
    return found


def list_of(body: Json, name: str) -> list[str]:
    value = body.get(name, [])
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ControlRefusal("invalid_field", f"{name} must be a list of texts")
    return value


def flag_of(body: Json, name: str, *, default: bool) -> bool:
    value = body.get(name, default)
    if not isinstance(value, bool):
        raise ControlRefusal("invalid_field", f"{name} must be true or false")
    return value


async def unknown_path(request: web.Request) -> Json:
    """Refuse what the control API does not have, in its own words."""
    detail = f"there is no {request.method} {request.path}"
    raise ControlRefusal("unknown_path", detail, status=404)
