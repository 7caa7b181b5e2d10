"""Answers read with pydantic: bytes in, values of the domain out; no I/O.

What can do without a field does; elements of lists that cannot be read are left out. Everything
here raises MergeQueueProtocolError for an answer of which nothing can be read.
"""

import json
import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any, TypeVar

import httpx
from pydantic import ValidationError

from bot.domain.errors import MergeQueueProtocolError
from bot.domain.events import EventPage, QueueEvent, UnreadableEvent
from bot.domain.queue import Application, Pause, Queue, QueueRule, QueueStatus
from bot.domain.resource import LARGEST_NUMBER, Foretold, Later, Readable, Resource, Several
from bot.merge_queue.errors import http_date, is_html
from bot.merge_queue.pagination import cursor_of

T = TypeVar("T")
R = TypeVar("R", bound=Resource)


class _RulesAnswer(Resource):
    configuration: Several[Readable[QueueRule]]


class _BranchesAnswer(Resource):
    base_refs: Several[Readable[str]]


class _QueuesAnswer(Resource):
    queues: Several[Readable[Queue]]


class _PauseAnswer(Resource):
    paused: Later[bool | None] = None
    reason: Later[str | None] = None
    paused_at: Foretold = None


class _QueuePause(Resource):
    reason: Later[str | None] = None
    pause_date: Foretold = None


class _QueuePauseAnswer(Resource):
    # No element is left out: what cannot be read is no sign that the queue is not paused.
    queue_pause: Several[_QueuePause]


class _EventLogAnswer(Resource):
    events: tuple[Any, ...]


_LONGEST_NUMBER = 100
_NUL = re.compile(rb"(?<!\\)((?:\\\\)*)\\u0000")
_SURROGATE = re.compile("[\ud800-\udfff]")


def read_status(response: httpx.Response) -> QueueStatus:
    status, left_out = _read(response, QueueStatus)
    _check_not_lost((*status.batches, *status.waiting_pull_requests), left_out)
    return status.model_copy(update={"unreadable": len(left_out)}) if left_out else status


def read_rules(response: httpx.Response) -> tuple[QueueRule, ...]:
    answer, left_out = _read(response, _RulesAnswer)
    return _check_not_lost(answer.configuration, left_out)


def read_branches(response: httpx.Response) -> tuple[str, ...]:
    answer, left_out = _read(response, _BranchesAnswer)
    return _check_not_lost(answer.base_refs, left_out)


def read_queues(response: httpx.Response) -> tuple[Queue, ...]:
    answer, left_out = _read(response, _QueuesAnswer)
    return _check_not_lost(answer.queues, left_out)


def read_application(response: httpx.Response) -> Application:
    return _read(response, Application)[0]


def read_clock_ahead(response: httpx.Response, now: datetime) -> timedelta | None:
    """How far our clock is ahead of the service's, which dates its refusals as well."""
    date = http_date(response.headers.get("date", ""))
    return None if date is None else now - date


def read_pause(response: httpx.Response, now: datetime) -> Pause | None:
    """The pause in force, None when the answer says that there is none.

    Later services answer 200 with `paused` false, or without the fields of a pause.
    """
    sent = _read(response, _PauseAnswer)[0]
    is_told = sent.paused_at is not None or sent.reason is not None
    if not (is_told if sent.paused is None else sent.paused):
        return None
    return _pause(sent.reason, sent.paused_at, now)


def read_queue_pause(response: httpx.Response, now: datetime) -> Pause | None:
    """The latest of the array; the document does not say of how many."""
    sent = _read(response, _QueuePauseAnswer)[0].queue_pause
    pauses = [_pause(one.reason, one.pause_date, now) for one in sent]
    return max(pauses, key=lambda pause: pause.paused_at, default=None)


def _pause(reason: str | None, at: datetime | None, now: datetime) -> Pause:
    """A pause in force whose time isn't told is one of the time when that was read."""
    return Pause(reason=reason or "", paused_at=at or now, is_dated=at is not None)


def read_is_offered(response: httpx.Response) -> bool:
    """Whether the service has a path, by its answer to OPTIONS."""
    return response.status_code not in {HTTPStatus.NOT_FOUND, HTTPStatus.GONE}


def read_event_page(response: httpx.Response, *, asked_cursor: str | None) -> EventPage:
    """One page of the log. No element of it, whatever it is, makes the page unreadable.

    A page that is none, or whose next cursor is the one that was asked for, is an error: to pass
    over it would lose events silently.
    """
    link = response.headers.get("link", "")
    next_cursor = cursor_of("next", link)
    if next_cursor is not None and next_cursor == asked_cursor:
        raise MergeQueueProtocolError("the next page has the cursor of this one")
    read = [_read_event(sent) for sent in _read(response, _EventLogAnswer)[0].events]
    return EventPage(
        events=tuple(event for event in read if isinstance(event, QueueEvent)),
        next_cursor=next_cursor,
        served_at=http_date(response.headers.get("date", "")),
        unreadable=tuple(event for event in read if isinstance(event, UnreadableEvent)),
        previous_cursor=_previous_cursor(link),
    )


def _previous_cursor(link: str) -> str | None:
    """The way back is a convenience: without it the page can be read all the same."""
    try:
        return cursor_of("prev", link)
    except MergeQueueProtocolError:
        return None


def _read_event(sent: Any) -> QueueEvent | UnreadableEvent:  # noqa: ANN401 - anything the service may send
    try:
        return QueueEvent.model_validate(sent)
    except ValidationError as error:
        event_id = sent.get("id") if isinstance(sent, dict) else None
        is_id = type(event_id) is int and 0 <= event_id <= LARGEST_NUMBER
        return UnreadableEvent(_problems(error), sent, event_id if is_id else None)


def _read(response: httpx.Response, model: type[R]) -> tuple[R, Sequence[ValidationError]]:
    """The value, and why elements of its lists were left out."""
    body = _without_nul(response.content)
    left_out: list[ValidationError] = []
    try:
        return model.model_validate_json(body, context=left_out), left_out
    except ValidationError as error:
        problem = _problems(error)
        is_json = error.errors(include_url=False)[0]["type"] != "json_invalid"
    if not is_json:
        try:
            return model.model_validate(_read_leniently(body), context=left_out), left_out
        except ValidationError as error:
            problem = _problems(error)
        except (ValueError, RecursionError):
            problem = "a web page came instead of JSON" if is_html(response) else problem
    # Not raised from the library's error, which holds what was sent.
    raise MergeQueueProtocolError(problem)


def _check_not_lost(elements: tuple[T, ...], left_out: Sequence[ValidationError]) -> tuple[T, ...]:
    """The elements, unless none is left of those that were sent."""
    if left_out and not elements:
        raise MergeQueueProtocolError(_problems(left_out[-1]))
    return elements


def _without_nul(body: bytes) -> bytes:
    """Replace NUL characters: PostgreSQL refuses to store them."""
    return _NUL.sub(rb"\1\\ufffd", body) if b"\\u0000" in body else body


def _read_leniently(body: bytes) -> Any:  # noqa: ANN401 - anything the service may send
    """JSON with what a strict reader refuses.

    A byte order mark, bytes that are not UTF-8, halves of surrogate pairs, deep nesting, NaN
    and numbers of thousands of digits.
    """
    sent = json.loads(
        body.decode("utf-8-sig", "replace"), parse_int=_bounded, parse_constant=lambda _name: None
    )
    return json.loads(_SURROGATE.sub("\ufffd", json.dumps(sent, ensure_ascii=False)))


def _bounded(digits: str) -> int | None:
    return int(digits) if len(digits) <= _LONGEST_NUMBER else None


def _problems(error: ValidationError) -> str:
    """The first three problems as "field.field: what is wrong"; quotes nothing of the body."""
    told = error.errors(include_url=False, include_context=False, include_input=False)
    lines = [
        ": ".join(filter(None, (".".join(str(part) for part in one["loc"]), one["msg"])))
        for one in told[:3]
    ]
    return "; ".join(lines)[:300]
