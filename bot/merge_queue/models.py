"""Requests and answers of the API document, validated with pydantic; no I/O.

Requests beyond the document's limits raise InvalidRequest, which names the field. Unreadable
elements of lists are left out; unreadable answers raise MergeQueueProtocolError.
"""

import json
import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Annotated, Any, TypeVar

import httpx
from pydantic import BaseModel, Field, ValidationError

from bot.domain.errors import InvalidRequest, MergeQueueProtocolError
from bot.domain.event_log import LARGEST_PAGE, PULL_REQUEST_END
from bot.domain.event_records import EventRecord
from bot.domain.events import EventPage, UnreadableEvent, read_event
from bot.domain.freezing import ScheduledFreeze
from bot.domain.pauses import REASON_LIMIT
from bot.domain.queue import (
    Application,
    Pause,
    Queue,
    QueuedDetails,
    QueueRule,
    QueueStatus,
    RemovalImpact,
)
from bot.domain.repository import RepositoryName
from bot.domain.resource import LARGEST_NUMBER, Foretold, Later, Readable, Resource, Several
from bot.merge_queue.errors import http_date, is_html
from bot.merge_queue.pagination import cursor_of

READS = frozenset({"GET", "OPTIONS"})

SUCCESS = frozenset({HTTPStatus.OK})
CREATED = frozenset({HTTPStatus.OK, HTTPStatus.CREATED})
REMOVED = frozenset({HTTPStatus.OK, HTTPStatus.NO_CONTENT})
ANY = range(1000)
NOT_BROKEN = frozenset(range(HTTPStatus.INTERNAL_SERVER_ERROR)) - {HTTPStatus.TOO_MANY_REQUESTS}


@dataclass(frozen=True, slots=True)
class Call:
    """One request, without the credential.

    `endpoint`: a short fixed name for logs and counters.
    `path`: below the service's address.
    `expected`: the statuses whose answers are read; all others are errors.
    `may_send`: called just before each attempt.
    `repository`: decides which credential is sent.
    """

    endpoint: str
    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    json: Mapping[str, Any] | None = None
    expected: Container[int] = SUCCESS
    may_send: Callable[[], bool] | None = None
    repository: RepositoryName | None = None

    @classmethod
    def about(
        cls,
        repository: RepositoryName,
        endpoint: str,
        method: str,
        path: str,
        **more: Any,  # noqa: ANN401 - the other fields
    ) -> "Call":
        """`path`: below the repository's. Raises InvalidRequest for an invalid name."""
        # Parsed again: it decides the path, and a RepositoryName can be made without `parse`.
        name = RepositoryName.parse(repository)
        path = f"/repos/{name.owner}/{name.name}/{path}"
        return cls(endpoint, method, path, repository=repository, **more)

    @property
    def is_read(self) -> bool:
        return self.method in READS


Text = Annotated[str, Field(min_length=1)]
"""Text with a length limit must be encodable, too: pydantic checks both."""


class PauseBody(BaseModel):
    """The body of endpoints 2 and 9."""

    reason: str = Field(max_length=REASON_LIMIT)


class StatusQuery(BaseModel):
    """The query of endpoint 1."""

    branch: Text | None


class EventQuery(BaseModel):
    """The query of endpoint 6. The filters and both ends go with every cursor."""

    received_from: str
    received_to: str
    per_page: int = Field(ge=1, le=LARGEST_PAGE)
    pull_request: int | None = Field(ge=1, lt=PULL_REQUEST_END)
    base_ref: str | None = Field(min_length=1, max_length=255)
    cursor: Text | None
    event_type: list[Text]


M = TypeVar("M", bound=BaseModel)


def checked(model: type[M], **values: Any) -> Mapping[str, Any]:  # noqa: ANN401 - checked by the model
    try:
        return model(**values).model_dump(exclude_none=True)
    except ValidationError as error:
        (problem, *_) = error.errors(include_url=False)
        raise InvalidRequest(None, problem["msg"], field=str(problem["loc"][0])) from None


def timestamp(moment: datetime) -> str:
    """RFC 3339 in UTC with microseconds, as the service writes its own times."""
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


T = TypeVar("T")
R = TypeVar("R", bound=Resource)


class _RulesAnswer(Resource):
    configuration: Several[Readable[QueueRule]]


class _BranchesAnswer(Resource):
    base_refs: Several[Readable[str]]


class _QueuedBranchesAnswer(Resource):
    branches: Several[Readable[str]]


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
    # No element is left out: an unreadable pause doesn't mean that the queue is running.
    queue_pause: Several[_QueuePause]


class _FreezesAnswer(Resource):
    scheduled_freezes: Several[Readable[ScheduledFreeze]]


class _EventLogAnswer(Resource):
    events: tuple[Any, ...]


_LONGEST_NUMBER = 100
_NUL = re.compile(rb"(?<!\\)((?:\\\\)*)\\u0000")
_SURROGATE = re.compile("[\ud800-\udfff]")


def read_status(response: httpx.Response) -> QueueStatus:
    status, left_out = _read(response, QueueStatus)
    if not left_out:
        return status
    _check_not_lost((*status.batches, *status.waiting_pull_requests), left_out)
    return status.model_copy(update={"unreadable": len(left_out)})


def read_rules(response: httpx.Response) -> tuple[QueueRule, ...]:
    answer, left_out = _read(response, _RulesAnswer)
    return _check_not_lost(answer.configuration, left_out)


def read_branches(response: httpx.Response) -> tuple[str, ...]:
    answer, left_out = _read(response, _BranchesAnswer)
    return _check_not_lost(answer.base_refs, left_out)


def read_queued_branches(response: httpx.Response) -> tuple[str, ...]:
    answer, left_out = _read(response, _QueuedBranchesAnswer)
    return _check_not_lost(answer.branches, left_out)


def read_queued_details(response: httpx.Response) -> QueuedDetails:
    return _read(response, QueuedDetails)[0]


def read_removal_impact(response: httpx.Response) -> RemovalImpact:
    return _read(response, RemovalImpact)[0]


def read_queues(response: httpx.Response) -> tuple[Queue, ...]:
    answer, left_out = _read(response, _QueuesAnswer)
    return _check_not_lost(answer.queues, left_out)


def read_application(response: httpx.Response) -> Application:
    return _read(response, Application)[0]


def read_clock_ahead(response: httpx.Response, now: datetime) -> timedelta | None:
    """How far our clock is ahead of the service's."""
    date = http_date(response.headers.get("date", ""))
    return None if date is None else now - date


def read_freezes(response: httpx.Response) -> tuple[ScheduledFreeze, ...]:
    answer, left_out = _read(response, _FreezesAnswer)
    return _check_not_lost(answer.scheduled_freezes, left_out)


def read_freeze(response: httpx.Response) -> ScheduledFreeze:
    return _read(response, ScheduledFreeze)[0]


def read_pause(response: httpx.Response, now: datetime) -> Pause | None:
    """The pause in force. Newer services answer 200 without one, with `paused` false or missing."""
    sent = _read(response, _PauseAnswer)[0]
    is_given = sent.paused_at is not None or sent.reason is not None
    if not (is_given if sent.paused is None else sent.paused):
        return None
    return _pause(sent.reason, sent.paused_at, now)


def read_queue_pause(response: httpx.Response, now: datetime) -> Pause | None:
    """The latest pause of the array."""
    sent = _read(response, _QueuePauseAnswer)[0].queue_pause
    pauses = [_pause(one.reason, one.pause_date, now) for one in sent]
    return max(pauses, key=lambda pause: pause.paused_at, default=None)


def _pause(reason: str | None, at: datetime | None, now: datetime) -> Pause:
    """A pause without a time gets the time at which it was read."""
    return Pause(reason=reason or "", paused_at=at or now, is_dated=at is not None)


def read_is_offered(response: httpx.Response) -> bool:
    """Whether the service has the path, from its answer to OPTIONS."""
    return response.status_code not in {HTTPStatus.NOT_FOUND, HTTPStatus.GONE}


def read_event_page(
    response: httpx.Response, repository: RepositoryName, *, asked_cursor: str | None
) -> EventPage:
    """One page of the log; unreadable events are listed apart.

    It is an error if the next cursor is `asked_cursor`: the rest would be lost silently.
    """
    link = response.headers.get("link", "")
    next_cursor = cursor_of("next", link)
    if next_cursor is not None and next_cursor == asked_cursor:
        raise MergeQueueProtocolError("the next page has the cursor of this one")
    events: list[EventRecord] = []
    incomplete: list[EventRecord] = []
    unreadable: list[UnreadableEvent] = []
    for sent in _read(response, _EventLogAnswer)[0].events:
        try:
            event, is_complete = read_event(sent, repository)
        except ValidationError as error:
            unreadable.append(_unreadable(sent, error))
        else:
            events.append(event)
            if not is_complete:
                incomplete.append(event)
    return EventPage(
        events=tuple(events),
        next_cursor=next_cursor,
        served_at=http_date(response.headers.get("date", "")),
        unreadable=tuple(unreadable),
        previous_cursor=_previous_cursor(link),
        incomplete=tuple(incomplete),
    )


def _previous_cursor(link: str) -> str | None:
    """The page can be used without a way back."""
    try:
        return cursor_of("prev", link)
    except MergeQueueProtocolError:
        return None


def _unreadable(sent: Any, error: ValidationError) -> UnreadableEvent:  # noqa: ANN401 - anything the service may send
    event_id = sent.get("id") if isinstance(sent, dict) else None
    is_id = type(event_id) is int and 0 <= event_id <= LARGEST_NUMBER
    return UnreadableEvent(_problems(error), sent, event_id if is_id else None)


def _read(response: httpx.Response, model: type[R]) -> tuple[R, Sequence[ValidationError]]:
    """The value, and the errors of list elements that were left out."""
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
    # Not raised `from` the library's error, which holds the body.
    raise MergeQueueProtocolError(problem)


def _check_not_lost(elements: tuple[T, ...], left_out: Sequence[ValidationError]) -> tuple[T, ...]:
    """The elements. Raises MergeQueueProtocolError if all were left out."""
    if left_out and not elements:
        raise MergeQueueProtocolError(_problems(left_out[-1]))
    return elements


def _without_nul(body: bytes) -> bytes:
    """Replace NUL characters: PostgreSQL refuses to store them."""
    return _NUL.sub(rb"\1\\ufffd", body) if b"\\u0000" in body else body


def _read_leniently(body: bytes) -> Any:  # noqa: ANN401 - anything the service may send
    """Read JSON that a strict reader refuses.

    It may have a byte order mark, bytes that are not UTF-8, halves of surrogate pairs, deep
    nesting, NaN and numbers of thousands of digits.
    """
    sent = json.loads(
        body.decode("utf-8-sig", "replace"), parse_int=_bounded, parse_constant=lambda _name: None
    )
    return json.loads(_SURROGATE.sub("\ufffd", json.dumps(sent, ensure_ascii=False)))


def _bounded(digits: str) -> int | None:
    return int(digits) if len(digits) <= _LONGEST_NUMBER else None


def _problems(error: ValidationError) -> str:
    """The first three problems as "field.field: problem", without quoting the body."""
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    lines = [
        ": ".join(filter(None, (".".join(str(part) for part in one["loc"]), one["msg"])))
        for one in problems[:3]
    ]
    return "; ".join(lines)[:300]
