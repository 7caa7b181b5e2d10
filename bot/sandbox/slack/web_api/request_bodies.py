"""Reads the arguments and the token of a Web API request, in each form that Slack takes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from aiohttp import web

from bot.sandbox.slack.wire import SlackRefusal

_BEARER = "bearer "
_FORMS = {"application/x-www-form-urlencoded", "multipart/form-data"}


@dataclass(frozen=True)
class Received:
    """What a request brought: its arguments, its token, and Slack's remarks on its form."""

    arguments: Mapping[str, object]
    secret: str | None
    warnings: tuple[str, ...] = ()


async def read_request(request: web.Request) -> Received:
    """Read a request.

    A JSON body is only taken with the token in the header, as Slack does. Raises SlackRefusal:
    `invalid_json`, `json_not_object`, `invalid_form_data`, `invalid_post_type`.
    """
    arguments: dict[str, object] = dict(request.query)
    header = request.headers.get("Authorization", "")
    secret = header[len(_BEARER) :].strip() if header.lower().startswith(_BEARER) else None
    warnings: tuple[str, ...] = ()
    if request.content_type == "application/json" and request.can_read_body:
        arguments |= await _read_json(request)
        arguments.pop("token", None)
        warnings = () if request.charset else ("missing_charset",)
    elif request.content_type in _FORMS:
        arguments |= await _read_form(request)
        warnings = ("superfluous_charset",) if request.charset else ()
    elif request.can_read_body and await request.read():
        raise SlackRefusal("invalid_post_type")
    token = arguments.pop("token", None)
    return Received(arguments, secret or (str(token) if token else None), warnings)


async def _read_json(request: web.Request) -> dict[str, object]:
    body = await request.read()
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        raise SlackRefusal("invalid_json") from None
    if not isinstance(content, dict):
        raise SlackRefusal("json_not_object")
    return content


async def _read_form(request: web.Request) -> dict[str, object]:
    try:
        fields = await request.post()
    except ValueError:
        raise SlackRefusal("invalid_form_data") from None
    return {name: value for name, value in fields.items() if isinstance(value, str)}
