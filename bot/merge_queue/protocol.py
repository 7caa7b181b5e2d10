"""Deciphering of answers: bytes in, values or errors of ours out; no I/O.

Requests are built in `bot.merge_queue.requests`, links read in `bot.merge_queue.links`, errors
sorted in `bot.merge_queue.refusals`.
"""

import json
import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any, TypeVar

from pydantic import JsonValue, TypeAdapter, ValidationError

from bot.domain.errors import MergeQueueProtocolError
from bot.domain.events import EventPage, QueueEvent, UnreadableEvent
from bot.domain.queue import (
    Application,
    Pause,
    Queue,
    QueuePause,
    QueueRule,
    QueueStatus,
)
from bot.domain.resource import Foretold, Later, Moment, Number, Resource, Several
from bot.merge_queue.answer import Answer
from bot.merge_queue.links import Link, cursor_of, links_in
from bot.merge_queue.logged_events import LoggedEvent
from bot.merge_queue.refusals import http_date, refusal

T = TypeVar("T")


class _RulesAnswer(Resource):
    configuration: Several[QueueRule]


class _BranchesAnswer(Resource):
    base_refs: Several[str]


class _QueuePauseAnswer(Resource):
    queue_pause: Several[QueuePause]


class _QueuesAnswer(Resource):
    queues: Several[Queue]


class _PauseAnswer(Resource):
    paused: Later[bool | None] = None
    reason: Later[str | None] = None
    paused_at: Foretold = None


class _EventLogAnswer(Resource):
    events: tuple[LoggedEvent, ...]


class _AnythingLogged(Resource):
    # Not JsonValue, which has a limit of depth that one element would break for all.
    events: tuple[Any, ...]


_STATUS = TypeAdapter(QueueStatus)
_RULES = TypeAdapter(_RulesAnswer)
_BRANCHES = TypeAdapter(_BranchesAnswer)
_APPLICATION = TypeAdapter(Application)
_PAUSE = TypeAdapter(_PauseAnswer)
_QUEUE_PAUSE = TypeAdapter(_QueuePauseAnswer)
_QUEUES = TypeAdapter(_QueuesAnswer)
_EVENT_LOG = TypeAdapter(_EventLogAnswer)
_ANYTHING_LOGGED = TypeAdapter(_AnythingLogged)
_ID: TypeAdapter[int] = TypeAdapter(Number)
_TEXT = TypeAdapter(str)
_MOMENT: TypeAdapter[datetime] = TypeAdapter(Moment)

_LONGEST_NUMBER = 100
_NUL = re.compile(rb"(?<!\\)((?:\\\\)*)\\u0000")
_SURROGATE = re.compile("[\ud800-\udfff]")


def read_status(answer: Answer) -> QueueStatus:
    """The status without the elements that cannot be read, unless that leaves nothing of it."""
    _require_success(answer)
    try:
        return _read(answer, _STATUS)
    except MergeQueueProtocolError:
        status = _read_without_bad_elements(answer.body)
        if status is None:
            raise
        return status


def _read_without_bad_elements(body: bytes) -> QueueStatus | None:
    try:
        sent = _read_leniently(_without_nul(body))
    except (ValueError, RecursionError):
        return None
    left_out = 0
    while True:
        try:
            status = _STATUS.validate_python(sent)
        except ValidationError as error:
            places = {_element(problem["loc"]) for problem in error.errors(include_url=False)}
            if () in places:
                return None
            for *way, index in sorted(places, reverse=True):
                del _at(sent, way)[index]
            left_out += len(places)
        else:
            is_empty = not status.batches and not status.waiting_pull_requests
            if left_out and is_empty:
                return None
            return status.model_copy(update={"unreadable": left_out})


def _element(place: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """The way to the innermost element of an array that `place` lies in; () for none."""
    indexes = [depth for depth, part in enumerate(place) if isinstance(part, int)]
    return place[: indexes[-1] + 1] if indexes else ()


def _at(sent: Any, way: Sequence[int | str]) -> Any:  # noqa: ANN401 - anything the service may send
    for part in way:
        sent = sent[part]
    return sent


def read_rules(answer: Answer) -> tuple[QueueRule, ...]:
    return _decipher(answer, _RULES).configuration


def read_branches(answer: Answer) -> tuple[str, ...]:
    return _decipher(answer, _BRANCHES).base_refs


def read_application(answer: Answer) -> Application:
    return _decipher(answer, _APPLICATION)


def read_clock_ahead(answer: Answer) -> timedelta | None:
    """How far our clock is ahead of the service's, which dates its refusals as well."""
    date = http_date(answer.header("date") or "")
    return None if date is None else answer.received_at - date


def read_queue_pauses(answer: Answer) -> tuple[QueuePause, ...]:
    return _decipher(answer, _QUEUE_PAUSE).queue_pause


def read_queues(answer: Answer) -> tuple[Queue, ...]:
    return _decipher(answer, _QUEUES).queues


def read_pause(answer: Answer) -> Pause | None:
    """The pause in force, None when the answer says that there is none.

    Later services answer 200 with `paused` false, or without the fields of a pause. A pause in
    force whose time isn't told is one of the time when that was read.
    """
    sent = _decipher(answer, _PAUSE)
    told = sent.paused_at is not None or sent.reason is not None
    if not (told if sent.paused is None else sent.paused):
        return None
    return Pause(
        reason=sent.reason or "",
        paused_at=sent.paused_at or answer.received_at,
        is_dated=sent.paused_at is not None,
    )


def read_removal(answer: Answer) -> None:
    """204, or 200 with whatever body: the pause is lifted."""
    if answer.status not in {HTTPStatus.NO_CONTENT, HTTPStatus.OK}:
        raise refusal(answer)


def read_is_offered(answer: Answer) -> bool:
    """Whether the service has a path, by its answer to OPTIONS: any but "not found" and "gone"."""
    if (
        answer.status == HTTPStatus.TOO_MANY_REQUESTS
        or answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR
    ):
        raise refusal(answer)
    return answer.status not in {HTTPStatus.NOT_FOUND, HTTPStatus.GONE}


def read_event_page(answer: Answer, *, asked_cursor: str | None) -> EventPage:
    """One page of the log. No element of it, whatever it is, makes the page unreadable.

    Raises MergeQueueProtocolError when the answer is no event log at all (not JSON, no array of
    events), or when the next cursor is the one that was asked for. To pass over such a page
    would lose events without a word.
    """
    _require_success(answer)
    links = links_in(answer.headers.get("link", ()))
    next_cursor = cursor_of("next", links)
    if next_cursor is not None and next_cursor == asked_cursor:
        raise MergeQueueProtocolError("the next page has the cursor of this one")
    events, unreadable = _read_events(answer)
    served_at = http_date(answer.header("date") or "")
    return EventPage(events, next_cursor, served_at, unreadable, _previous_cursor(links))


def _previous_cursor(links: Sequence[Link]) -> str | None:
    """The way back is a comfort: a link to it that cannot be read costs no page."""
    try:
        return cursor_of("prev", links)
    except MergeQueueProtocolError:
        return None


def _read_events(answer: Answer) -> tuple[tuple[QueueEvent, ...], tuple[UnreadableEvent, ...]]:
    try:
        return _EVENT_LOG.validate_json(_without_nul(answer.body)).events, ()
    except ValidationError:
        sent = _read(answer, _ANYTHING_LOGGED).events
    read = [_read_event(element) for element in sent]
    events = tuple(event for event in read if isinstance(event, QueueEvent))
    return events, tuple(event for event in read if isinstance(event, UnreadableEvent))


def _read_event(sent: JsonValue) -> QueueEvent | UnreadableEvent:
    try:
        return QueueEvent.model_validate(sent)
    except ValidationError as error:
        known = sent if isinstance(sent, dict) else {}
        return UnreadableEvent(
            problem=_problems(error),
            raw=sent,
            event_id=_read_field(_ID, known.get("id")),
            type=_read_field(_TEXT, known.get("type")),
            received_at=_read_field(_MOMENT, known.get("received_at")),
        )


def _read_field(adapter: TypeAdapter[T], sent: JsonValue) -> T | None:
    try:
        return adapter.validate_python(sent)
    except ValidationError:
        return None


def _require_success(answer: Answer) -> None:
    if answer.status != HTTPStatus.OK:
        raise refusal(answer)


def _decipher(answer: Answer, adapter: TypeAdapter[T]) -> T:
    _require_success(answer)
    return _read(answer, adapter)


def _read(answer: Answer, adapter: TypeAdapter[T]) -> T:
    """Raise MergeQueueProtocolError, which names fields and quotes nothing of the body.

    Not raised `from` the validation error, since that one holds what was sent.
    """
    body = _without_nul(answer.body)
    try:
        return adapter.validate_json(body)
    except ValidationError as error:
        problems = _problems(error)
        is_json = error.errors(include_url=False, include_input=False)[0]["type"] != "json_invalid"
    if not is_json:
        try:
            return adapter.validate_python(_read_leniently(body))
        except ValidationError as error:
            problems = _problems(error)
        except (ValueError, RecursionError):
            pass
    if not is_json and "html" in (answer.header("content-type") or "").lower():
        problems = "a web page came instead of JSON"
    raise MergeQueueProtocolError(problems)


def _without_nul(body: bytes) -> bytes:
    """No text of ours may hold a NUL: PostgreSQL refuses to store it."""
    # One byte is looked for ten times as fast as six, and a page of events seldom has it.
    is_there = b"\\" in body and b"\\u0000" in body
    return _NUL.sub(rb"\1\\ufffd", body) if is_there else body


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
    """The first three problems as "field.field: what is wrong"."""
    told = error.errors(include_url=False, include_context=False, include_input=False)
    lines = [
        ": ".join(filter(None, (".".join(str(part) for part in one["loc"]), one["msg"])))
        for one in told[:3]
    ]
    return "; ".join(lines)[:300]
