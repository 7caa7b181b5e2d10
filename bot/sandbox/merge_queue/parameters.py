"""Reading what a request asks for, within the limits of the API document."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from aiohttp import web

from bot.sandbox.merge_queue.credentials import Refusal
from bot.sandbox.merge_queue.simulation.event_log import Selection
from bot.sandbox.merge_queue.simulation.moments import DAY, Moment, parse_rfc3339

REASON_LIMIT = 255
BASE_REF_LIMIT = 255
PULL_REQUEST_BOUND = 2_147_483_647
PER_PAGE_DEFAULT = 10
PER_PAGE_LIMIT = 100
WIDEST_WINDOW = 93 * DAY
RETENTION = 90 * DAY
"""Older events are left out (https://docs.mergify.com/merge-queue/monitoring/)."""

WIDEST_WINDOW_TEXT = "'received_from' and 'received_to' cannot span more than 93 days"

_OWNER = re.compile(r"[a-zA-Z0-9\-]{1,40}", re.ASCII)
_REPOSITORY = re.compile(r"[\w\-\.]+")
_INTEGER = re.compile(r"-?[0-9]{1,30}", re.ASCII)

Query = Mapping[str, list[str]]
"""The query parameters of a request, each with all its values."""


def repository_name(owner: str, repository: str) -> str:
    """Join the path parameters; raise a 422 refusal when one is outside its limits."""
    if _OWNER.fullmatch(owner) is None:
        raise Refusal(422, "owner: 1 to 40 letters, digits and hyphens")
    if _REPOSITORY.fullmatch(repository) is None:
        raise Refusal(422, "repository: letters, digits, '_', '-' and '.'")
    return f"{owner}/{repository}"


def pull_request_number(sent: str) -> int:
    """Read the number in a path; raise a 422 refusal when it is none."""
    if _INTEGER.fullmatch(sent) is None or not 1 <= int(sent) < PULL_REQUEST_BOUND:
        raise Refusal(422, f"pr_number: an integer from 1 to {PULL_REQUEST_BOUND - 1}")
    return int(sent)


async def json_body(request: web.Request) -> object:
    """Read the body; raise a 422 refusal when it is not JSON."""
    if request.content_type != "application/json":
        raise Refusal(422, "body: Content-Type must be application/json")
    try:
        # Decoded here: `json` would take UTF-16 and UTF-32 too (RFC 8259, section 8.1).
        return json.loads((await request.read()).decode())
    except (ValueError, RecursionError) as error:
        raise Refusal(422, "body: not valid JSON") from error


def pause_reason(body: object) -> str:
    """Take `reason` out of a pause request; raise a 422 refusal when it is missing or too long."""
    if not isinstance(body, dict):
        raise Refusal(422, "body: a JSON object is required")
    reason = body.get("reason")
    if not isinstance(reason, str):
        raise Refusal(422, "reason: a string is required")
    if len(reason) > REASON_LIMIT:
        raise Refusal(422, f"reason: at most {REASON_LIMIT} characters")
    return reason


def one(query: Query, name: str) -> str | None:
    """Give the last value of a parameter that is not a list."""
    values = query.get(name)
    return values[-1] if values else None


def _integer(query: Query, name: str, lowest: int, highest: int) -> int | None:
    text = one(query, name)
    if text is None:
        return None
    if _INTEGER.fullmatch(text) is None or not lowest <= int(text) <= highest:
        raise Refusal(422, f"{name}: an integer from {lowest} to {highest}")
    return int(text)


def moment(query: Query, name: str) -> Moment | None:
    """Read a date-time parameter; raise a 422 refusal when it is not RFC 3339."""
    text = one(query, name)
    if text is None:
        return None
    try:
        return parse_rfc3339(text)
    except ValueError as error:
        raise Refusal(422, f"{name}: an RFC 3339 date-time with an offset") from error


@dataclass(frozen=True, slots=True)
class LogRequest:
    """What a reading of the event log asks for."""

    selection: Selection
    per_page: int
    cursor: str | None


def log_request(query: Query, known_types: tuple[str, ...], now: Moment) -> LogRequest:
    """Read the query of the event log (API document, Event log query parameters)."""
    per_page = _integer(query, "per_page", 1, PER_PAGE_LIMIT)
    received_to = moment(query, "received_to")
    received_to = now if received_to is None else received_to
    received_from = moment(query, "received_from")
    received_from = received_to - DAY if received_from is None else received_from
    if received_to - received_from > WIDEST_WINDOW:
        raise Refusal(422, WIDEST_WINDOW_TEXT)
    types = tuple(dict.fromkeys(query.get("event_type", ())))
    _require_known_types(query.get("event_type", ()), known_types)
    base_ref = one(query, "base_ref")
    if base_ref is not None and not 1 <= len(base_ref) <= BASE_REF_LIMIT:
        raise Refusal(422, f"base_ref: 1 to {BASE_REF_LIMIT} characters")
    selection = Selection(
        received_from=max(received_from, now - RETENTION),
        received_to=received_to,
        types=types,
        pull_request=_integer(query, "pull_request", 1, PULL_REQUEST_BOUND - 1),
        base_ref=base_ref,
    )
    return LogRequest(selection, per_page or PER_PAGE_DEFAULT, one(query, "cursor"))


def _require_known_types(sent: Sequence[str], known: tuple[str, ...]) -> None:
    """Raise a 422 refusal that names each unknown value by its index and says what is allowed."""
    expected = ", ".join(f"'{value}'" for value in known)
    wrong: list[dict[str, object]] = [
        {
            "type": "enum",
            "loc": ["query", "event_type", index],
            "msg": f"Input should be {expected}",
            "input": kind,
            "ctx": {"expected": expected},
        }
        for index, kind in enumerate(sent)
        if kind not in known
    ]
    if wrong:
        raise Refusal(422, wrong)


class Window(NamedTuple):
    """The time about which the branch list is asked."""

    start_at: Moment
    end_at: Moment


def window(query: Query, now: Moment) -> Window:
    """Read `start_at` and `end_at`, one day up to now by default."""
    end_at = moment(query, "end_at")
    if end_at is None:
        end_at = now
    start_at = moment(query, "start_at")
    if start_at is None:
        start_at = end_at - DAY
    return Window(start_at, end_at)
