"""What the service is sent, and its answers read from bytes; no I/O.

Unreadable elements of lists are left out; unreadable answers raise MergeQueueProtocolError.
"""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, Generic, TypeVar
from urllib.parse import parse_qs, urlsplit

import httpx
from pydantic import AliasChoices, BaseModel, Field, PlainSerializer, ValidationError

from bot.domain.errors import InvalidRequest, MergeQueueProtocolError
from bot.domain.event_log import LARGEST_PAGE, PULL_REQUEST_END
from bot.domain.event_records import EventLogAnswer, EventPage
from bot.domain.freezing import ScheduledFreeze
from bot.domain.pauses import REASON_LIMIT
from bot.domain.queue import Pause, Queue, QueueRule, QueueStatus
from bot.domain.repository import RepositoryName
from bot.domain.resource import Foretold, Later, Readable, Resource, Several, problems
from bot.merge_queue.errors import http_date, is_html

T = TypeVar("T")
R = TypeVar("R", bound=Resource)


def _in_utc(moment: datetime) -> str:
    """RFC 3339 with microseconds, as the service writes its own times."""
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


# Text with a length limit must be encodable, too: pydantic checks both.
Text = Annotated[str, Field(min_length=1)]
Time = Annotated[datetime, PlainSerializer(_in_utc)]


class Sent(BaseModel):
    """What requests carry, within the document's limits (endpoints 1, 2, 6, 7, 9, and freezes)."""

    start_at: Time | None = None
    end_at: Time | None = None
    received_from: Time | None = None
    received_to: Time | None = None
    reason: str | None = Field(None, max_length=REASON_LIMIT)
    branch: Text | None = None
    per_page: int | None = Field(None, ge=1, le=LARGEST_PAGE)
    pull_request: int | None = Field(None, ge=1, lt=PULL_REQUEST_END)
    base_ref: str | None = Field(None, min_length=1, max_length=255)
    cursor: Text | None = None
    event_type: list[Text] | None = None


def checked(**values: Any) -> Mapping[str, Any]:  # noqa: ANN401 - checked by the model
    """The values; raises InvalidRequest, which names the field, beyond the document's limits."""
    try:
        return Sent(**values).model_dump(exclude_none=True)
    except ValidationError as error:
        (problem, *_) = error.errors(include_url=False)
        raise InvalidRequest(None, problem["msg"], field=str(problem["loc"][0])) from None


class PauseAnswer(Resource):
    """A pause, or an array of them (endpoints 9 and 11), none of which is left out.

    An unreadable pause doesn't mean that the queue is running. Newer services answer without a
    pause, with `paused` false or missing.
    """

    paused: Later[bool | None] = None
    reason: Later[str | None] = None
    paused_at: Annotated[
        Foretold, Field(validation_alias=AliasChoices("paused_at", "pause_date"))
    ] = None
    queue_pause: Several["PauseAnswer"] = ()

    def in_force(self, now: datetime) -> Pause | None:
        """The latest pause. One without a time gets the time `now`."""
        is_given = self.paused_at is not None or self.reason is not None
        is_paused = is_given if self.paused is None else self.paused
        pauses = [
            Pause(
                reason=one.reason or "",
                paused_at=one.paused_at or now,
                is_dated=one.paused_at is not None,
            )
            for one in (*([self] if is_paused else []), *self.queue_pause)
        ]
        return max(pauses, key=lambda pause: pause.paused_at, default=None)


LISTS = AliasChoices("configuration", "base_refs", "branches", "queues", "scheduled_freezes")


class ListAnswer(Resource, Generic[T]):
    """Endpoints 5, 7 and 13, and two that the document doesn't have."""

    elements: Several[Readable[T]] = Field(validation_alias=LISTS)


def read(model: type[R], response: httpx.Response) -> R:
    return _read(model, response)[0]


def _read_list(model: type[ListAnswer[T]], response: httpx.Response) -> tuple[T, ...]:
    """Raises MergeQueueProtocolError if no element of the list can be read."""
    answer, left_out = _read(model, response)
    return _not_lost(answer.elements, left_out)


read_rules = partial(_read_list, ListAnswer[QueueRule])
read_names = partial(_read_list, ListAnswer[str])
read_queues = partial(_read_list, ListAnswer[Queue])
read_freezes = partial(_read_list, ListAnswer[ScheduledFreeze])


def read_status(response: httpx.Response) -> QueueStatus:
    status, left_out = _read(QueueStatus, response)
    _not_lost((*status.batches, *status.waiting_pull_requests), left_out)
    return status.model_copy(update={"unreadable": len(left_out)}) if left_out else status


def _not_lost(elements: tuple[T, ...], left_out: Sequence[ValidationError]) -> tuple[T, ...]:
    if left_out and not elements:
        raise MergeQueueProtocolError(problems(left_out[-1]))
    return elements


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


_LONGEST_NUMBER = 100
_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")
_SURROGATE = re.compile("[\ud800-\udfff]")


def _parsed(body: bytes) -> Any:  # noqa: ANN401 - anything the service may send
    """JSON as services may send it: NaN, numbers of thousands of digits, a byte order mark.

    Characters that can't be stored are replaced: NUL, which PostgreSQL refuses, halves of surrogate
    pairs, and bytes that are not UTF-8.
    """
    text = body.decode("utf-8-sig", "replace")
    if r"\u0000" in text:
        text = _NUL.sub(r"\1\\ufffd", text)
    sent = json.loads(
        text,
        parse_int=lambda digits: int(digits) if len(digits) <= _LONGEST_NUMBER else None,
        parse_constant=lambda _name: None,
    )
    if r"\ud" not in text.lower():
        return sent
    return json.loads(_SURROGATE.sub("\ufffd", json.dumps(sent, ensure_ascii=False)))


def read_event_page(
    response: httpx.Response, repository: RepositoryName, *, asked_cursor: str | None
) -> EventPage:
    """One page of the log. It is an error if it leads to `asked_cursor`: the rest would be lost."""
    link = response.headers.get("link", "")
    next_cursor = cursor_of("next", link)
    if next_cursor is not None and next_cursor == asked_cursor:
        raise MergeQueueProtocolError("the next page has the cursor of this one")
    previous_cursor = None
    # The page can be used without a way back.
    with suppress(MergeQueueProtocolError):
        previous_cursor = cursor_of("prev", link)
    return replace(
        read(EventLogAnswer, response).page(repository),
        next_cursor=next_cursor,
        previous_cursor=previous_cursor,
        served_at=http_date(response.headers.get("date", "")),
    )


_NAME = r'\s*;\s*([^\s=;,"<>]+)'
_VALUE = r'(?:\s*=\s*("(?:[^"\\]|\\.)*"|[^\s;,"]+))?'
_PARAMETER = re.compile(_NAME + _VALUE, re.DOTALL)
_LINK = re.compile(rf"<([^<>]*)>((?:{_NAME}{_VALUE})*)", re.DOTALL)


def cursor_of(relation: str, header: str) -> str | None:
    """The cursor of the first link with this relation in a `Link` header (RFC 8288), or None.

    Only the cursor is taken, as the address may be of another origin. MergeQueueProtocolError: the
    link has none, or nothing is a link. Otherwise the rest of the list would be lost silently.
    """
    links = list(_LINK.finditer(header))
    if not links and header.strip(" \t,"):
        raise MergeQueueProtocolError("the Link header cannot be read")
    for target, text, *_ in (link.groups() for link in links):
        # The first of several parameters with one name counts.
        pairs = reversed(_PARAMETER.findall(text))
        parameters = {name.lower(): value.strip('"') for name, value in pairs}
        # A link with an anchor is about another resource than this answer.
        if relation in parameters.get("rel", "").lower().split() and "anchor" not in parameters:
            try:
                return parse_qs(urlsplit(target).query)["cursor"][0]
            except (ValueError, KeyError):
                raise MergeQueueProtocolError("a link has no cursor") from None
    return None
