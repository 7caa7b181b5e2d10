"""Reading control requests: from this machine only, with the fields that are asked for."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from aiohttp import web

from bot.sandbox.merge_queue.controls import FreezeTerms, NewPullRequest, SentEvent
from bot.sandbox.merge_queue.credentials import Refusal
from bot.sandbox.merge_queue.faults import Fault

Body = dict[str, Any]
Made = TypeVar("Made", Fault, NewPullRequest, FreezeTerms, SentEvent)

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def guard(request: web.Request) -> None:
    """Refuse who does not call this machine by a loopback name, or comes from a foreign page."""
    name, separator, port = request.host.rpartition(":")
    host = name if separator and port.isdigit() else request.host
    origin = request.headers.get("Origin")
    if host not in _LOOPBACK or origin not in (None, f"http://{request.host}"):
        raise Refusal(403, "Only by a loopback name, from this machine")


async def read_body(request: web.Request) -> Body:
    """Read a JSON object; refuse with 400 what is none, and with 403 whom `guard` refuses.

    The content type is required because a foreign page cannot send it without asking first.
    """
    guard(request)
    if request.content_type != "application/json":
        raise Refusal(400, "Content-Type must be application/json")
    try:
        body = json.loads(await request.read())
    except ValueError as error:
        raise Refusal(400, "not valid JSON") from error
    if not isinstance(body, dict):
        raise Refusal(400, "a JSON object is required")
    return body


def text(body: Body, name: str, default: str) -> str:
    """Take a text out of a body; refuse anything else with 400."""
    value = body.get(name, default)
    if not isinstance(value, str):
        raise Refusal(400, f"{name}: a string is required")
    return value


def optional_text(body: Body, name: str) -> str | None:
    return None if body.get(name) is None else text(body, name, "")


def number(body: Body, name: str) -> float:
    """Take a number that is not negative out of a body; refuse anything else with 400."""
    value = body.get(name)
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < 10**9:
        raise Refusal(400, f"{name}: a number, not negative, is required")
    return value


def with_times(body: Body, *names: str) -> Body:
    """Turn the date-times of a body into values; refuse with 400 what has no offset."""
    try:
        times = {name: datetime.fromisoformat(body[name]) for name in names if body.get(name)}
    except (TypeError, ValueError) as error:
        raise Refusal(400, "a time is an RFC 3339 date-time") from error
    if any(when.tzinfo is None for when in times.values()):
        raise Refusal(400, "a time needs its offset")
    return body | times


def made(kind: type[Made], body: Mapping[str, Any]) -> Made:
    """Build what a body describes; refuse with 400 fields it has not and values it cannot take."""
    known = {field.name for field in fields(kind)} - {"hits"}
    unknown = sorted(set(body) - known)
    if unknown:
        raise Refusal(400, f"unknown fields: {', '.join(unknown)}")
    hints = get_type_hints(kind)
    for name, value in body.items():
        if not _fits(value, hints[name]):
            raise Refusal(400, f"{name}: not a value it takes")
    try:
        return kind(**body)
    except (TypeError, ValueError) as error:
        raise Refusal(400, str(error)) from error


def _fits(value: object, hint: Any) -> bool:  # noqa: ANN401  (a type hint may be any object)
    """Judge a JSON value by a type hint of the kinds that these dataclasses use."""
    origin = get_origin(hint)
    if origin in (UnionType, Union):
        return any(_fits(value, alternative) for alternative in get_args(hint))
    if origin is Sequence:
        (inner,) = get_args(hint)
        return isinstance(value, list) and all(_fits(part, inner) for part in value)
    if origin is Mapping:
        return isinstance(value, dict)
    if hint in (int, float):
        return isinstance(value, int | hint) and not isinstance(value, bool)
    return hint is object or isinstance(value, hint)
