"""Requests within the API document's limits, and answers read from bytes; no I/O.

Unreadable elements of lists are left out; unreadable answers raise MergeQueueProtocolError.
"""

import json
import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any, TypeVar

import httpx
from pydantic import AliasChoices, BaseModel, Field, ValidationError

from bot.domain.errors import InvalidRequest, MergeQueueProtocolError
from bot.domain.event_log import LARGEST_PAGE, PULL_REQUEST_END
from bot.domain.freezing import ScheduledFreeze
from bot.domain.pauses import REASON_LIMIT
from bot.domain.queue import Pause, Queue, QueueRule, QueueStatus
from bot.domain.repository import RepositoryName
from bot.domain.resource import Foretold, Later, Readable, Resource, Several
from bot.merge_queue.errors import is_html
from bot.ports import OnAnswer, ignore

SUCCESS = frozenset({HTTPStatus.OK, HTTPStatus.CREATED, HTTPStatus.NO_CONTENT})
NOT_BROKEN = frozenset(range(HTTPStatus.INTERNAL_SERVER_ERROR)) - {HTTPStatus.TOO_MANY_REQUESTS}
ANY = range(1000)


@dataclass(frozen=True, slots=True)
class Call:
    """One request, without the credential.

    `endpoint`: a short fixed name for logs and counters.
    `path`: below the service's address.
    `expected`: the statuses whose answers are read; all others are errors.
    `on_answer`: called with the status of an answer that was read.
    `may_send`: called just before each attempt.
    `repository`: decides which credential is sent.
    """

    endpoint: str
    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    json: Mapping[str, Any] | None = None
    expected: Container[int] = SUCCESS
    on_answer: OnAnswer = ignore
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
        return self.method in {"GET", "OPTIONS"}


Text = Annotated[str, Field(min_length=1)]
"""Text with a length limit must be encodable, too: pydantic checks both."""


class Reason(BaseModel):
    """The reason of a pause (endpoints 2 and 9) or a freeze."""

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
    """The values; raises InvalidRequest, which names the field, beyond the document's limits."""
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


def read(model: type[R], response: httpx.Response) -> R:
    return _read(model, response)[0]


def _read_list(
    model: type[R], listed: Callable[[R], tuple[T, ...]], response: httpx.Response
) -> tuple[T, ...]:
    """A list of the answer. Raises MergeQueueProtocolError if no element can be read."""
    answer, left_out = _read(model, response)
    _check_not_lost(listed(answer), left_out)
    return listed(answer)


class _RulesAnswer(Resource):
    configuration: Several[Readable[QueueRule]]


class _BranchesAnswer(Resource):
    base_refs: Several[Readable[str]]


class _QueuedBranchesAnswer(Resource):
    branches: Several[Readable[str]]


class _QueuesAnswer(Resource):
    queues: Several[Readable[Queue]]


class _FreezesAnswer(Resource):
    scheduled_freezes: Several[Readable[ScheduledFreeze]]


read_rules = partial(_read_list, _RulesAnswer, lambda answer: answer.configuration)
read_branches = partial(_read_list, _BranchesAnswer, lambda answer: answer.base_refs)
read_queued_branches = partial(_read_list, _QueuedBranchesAnswer, lambda answer: answer.branches)
read_queues = partial(_read_list, _QueuesAnswer, lambda answer: answer.queues)
read_freezes = partial(_read_list, _FreezesAnswer, lambda answer: answer.scheduled_freezes)


def read_status(response: httpx.Response) -> QueueStatus:
    status, left_out = _read(QueueStatus, response)
    _check_not_lost((*status.batches, *status.waiting_pull_requests), left_out)
    return status.model_copy(update={"unreadable": len(left_out)}) if left_out else status


_PAUSED_AT = AliasChoices("paused_at", "pause_date")


class _PauseAnswer(Resource):
    """A pause, or an array of them (endpoints 9 and 11), none of which is left out.

    An unreadable pause doesn't mean that the queue is running.
    """

    paused: Later[bool | None] = None
    reason: Later[str | None] = None
    paused_at: Annotated[Foretold, Field(validation_alias=_PAUSED_AT)] = None
    queue_pause: Several["_PauseAnswer"] = ()


def read_pause(response: httpx.Response, now: datetime) -> Pause | None:
    """The pause in force, the latest of an array. One without a time gets the time `now`.

    Newer services answer 200 without a pause, with `paused` false or missing.
    """
    sent = read(_PauseAnswer, response)
    is_given = sent.paused_at is not None or sent.reason is not None
    is_paused = is_given if sent.paused is None else sent.paused
    pauses = [
        Pause(
            reason=one.reason or "",
            paused_at=one.paused_at or now,
            is_dated=one.paused_at is not None,
        )
        for one in (*([sent] if is_paused else []), *sent.queue_pause)
    ]
    return max(pauses, key=lambda pause: pause.paused_at, default=None)


_LONGEST_NUMBER = 100
_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")
_SURROGATE = re.compile("[\ud800-\udfff]")


def _read(model: type[R], response: httpx.Response) -> tuple[R, Sequence[ValidationError]]:
    """The value, and the errors of list elements that were left out."""
    left_out: list[ValidationError] = []
    try:
        return model.model_validate(_parsed(response.content), context=left_out), left_out
    except ValidationError as error:
        problem = problems(error)
    except (ValueError, RecursionError) as error:
        web_page = "a web page came instead of JSON"
        problem = web_page if is_html(response) else f"no JSON: {error}"[:300]
    # Not raised `from` the library's error, which holds the body.
    raise MergeQueueProtocolError(problem)


def _parsed(body: bytes) -> Any:  # noqa: ANN401 - anything the service may send
    """JSON as services may send it: NaN, numbers of thousands of digits, a byte order mark.

    Characters that can't be stored are replaced: NUL, which PostgreSQL refuses, halves of surrogate
    pairs, and bytes that are not UTF-8.
    """
    text = body.decode("utf-8-sig", "replace")
    if r"\u0000" in text:
        text = _NUL.sub(r"\1\\ufffd", text)
    sent = json.loads(text, parse_int=_bounded, parse_constant=lambda _name: None)
    if r"\ud" not in text.lower():
        return sent
    return json.loads(_SURROGATE.sub("\ufffd", json.dumps(sent, ensure_ascii=False)))


def _bounded(digits: str) -> int | None:
    return int(digits) if len(digits) <= _LONGEST_NUMBER else None


def _check_not_lost(elements: Sequence[object], left_out: Sequence[ValidationError]) -> None:
    if left_out and not elements:
        raise MergeQueueProtocolError(problems(left_out[-1]))


def problems(error: ValidationError) -> str:
    """The first three problems as "field.field: problem", without quoting the body."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    lines = [
        ": ".join(filter(None, (".".join(str(part) for part in one["loc"]), one["msg"])))
        for one in found[:3]
    ]
    return "; ".join(lines)[:300]
