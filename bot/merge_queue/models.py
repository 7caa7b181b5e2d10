"""The service's answers, as values or errors, read from bytes; no I/O.

Unreadable elements of lists are left out; unreadable answers raise MergeQueueProtocolError.
"""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from typing import Generic, TypeVar
from urllib.parse import parse_qs, urlsplit

import httpx
from pydantic import AliasChoices, Field, ValidationError

from bot.domain import errors
from bot.domain.event_records import EventLogAnswer, EventPage
from bot.domain.freezing import ScheduledFreeze
from bot.domain.pacing import http_date
from bot.domain.queue import Queue, QueueRule, QueueStatus
from bot.domain.repository import RepositoryName
from bot.domain.resource import Readable, Resource, Several, problems, storable

T = TypeVar("T")
R = TypeVar("R", bound=Resource)
LONGEST_NUMBER = 100

_REFUSALS: Mapping[int, type[errors.MergeQueueRefused]] = {
    400: errors.InvalidRequest,
    401: errors.CredentialRefused,
    403: errors.CredentialRefused,
    404: errors.ResourceNotFound,
    405: errors.NotOffered,
    409: errors.StateConflict,
    410: errors.NotOffered,
    422: errors.InvalidRequest,
    501: errors.NotOffered,
}
_TEMPORARY = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS}
DETAIL_MAX_LENGTH = 300
_LONGEST_BODY = 64 * 1024
_NAMES = ("detail", "message", "error", "errors", "title")
_WEB_PAGE = re.compile(rb"\s*(?:\xef\xbb\xbf)?\s*<")


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
        raise errors.MergeQueueProtocolError(problems(left_out[-1]))
    return elements


def _read(model: type[R], response: httpx.Response) -> tuple[R, Sequence[ValidationError]]:
    """The value, and the errors of list elements that were left out.

    JSON may have NaN, numbers of thousands of digits, and a byte order mark. Characters that can't
    be stored, and bytes that are not UTF-8, are replaced.
    """
    left_out: list[ValidationError] = []
    text = response.content.decode("utf-8-sig", "replace")
    try:
        sent = json.loads(
            text,
            parse_int=lambda digits: int(digits) if len(digits) <= LONGEST_NUMBER else None,
            parse_constant=lambda _name: None,
        )
        if r"\u0000" in text or r"\ud" in text.lower():
            sent = storable(sent)
        return model.model_validate(sent, context=left_out), left_out
    except ValidationError as error:
        problem = problems(error)
    except (ValueError, RecursionError) as error:
        web_page = "a web page came instead of JSON"
        problem = web_page if is_html(response) else f"no JSON: {error}"[:300]
    # Not raised `from` the library's error, which holds the body.
    raise errors.MergeQueueProtocolError(problem)


def read_event_page(
    response: httpx.Response, repository: RepositoryName, *, asked_cursor: str | None
) -> EventPage:
    """One page of the log. It is an error if it leads to `asked_cursor`: the rest would be lost."""
    link = response.headers.get("link", "")
    next_cursor = cursor_of("next", link)
    if next_cursor is not None and next_cursor == asked_cursor:
        raise errors.MergeQueueProtocolError("the next page has the cursor of this one")
    previous_cursor = None
    # The page can be used without a way back.
    with suppress(errors.MergeQueueProtocolError):
        previous_cursor = cursor_of("prev", link)
    return replace(
        read(EventLogAnswer, response).page(repository),
        next_cursor=next_cursor,
        previous_cursor=previous_cursor,
        served_at=http_date(response.headers.get("date")),
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
        raise errors.MergeQueueProtocolError("the Link header cannot be read")
    for target, text, *_ in (link.groups() for link in links):
        # The first of several parameters with one name counts.
        pairs = reversed(_PARAMETER.findall(text))
        parameters = {name.lower(): value.strip('"') for name, value in pairs}
        # A link with an anchor is about another resource than this answer.
        if relation in parameters.get("rel", "").lower().split() and "anchor" not in parameters:
            try:
                return parse_qs(urlsplit(target).query)["cursor"][0]
            except (ValueError, KeyError):
                raise errors.MergeQueueProtocolError("a link has no cursor") from None
    return None


def error_of(response: httpx.Response, now: datetime, asked: httpx.URL) -> errors.MergeQueueError:
    """The error for a response from the address `asked`, received `now`."""
    status, headers, said = response.status_code, response.headers, detail(response)
    # A 403 with the headers of a rate limit is a rate limit.
    is_limit = status == HTTPStatus.FORBIDDEN and (
        "retry-after" in headers or headers.get("x-ratelimit-remaining") == "0"
    )
    is_failure = status >= HTTPStatus.INTERNAL_SERVER_ERROR and status not in _REFUSALS
    if is_limit or is_failure or status in _TEMPORARY:
        wait = retry_after(response, now)
        return errors.MergeQueueUnavailable(said, status=status, retry_after=wait)
    if response.is_redirect and (target := _redirection(response, asked)):
        return errors.ServiceMoved(f"{_phrase(response)}: it redirects to {target}", target)
    if status < HTTPStatus.BAD_REQUEST:
        return errors.MergeQueueProtocolError(f"unexpected answer: {_phrase(response)}")
    return _REFUSALS.get(status, errors.MergeQueueRefused)(status, said)


def _redirection(response: httpx.Response, asked: httpx.URL) -> str | None:
    """The new address, without a user or a query, which may be secret."""
    try:
        target = asked.join(response.headers.get("location", ""))
    except httpx.InvalidURL:
        return None
    shown = f"{target.scheme}://{target.netloc.decode('ascii')}{target.path}"
    return shown[:200] if target.host and target != asked else None


def retry_after(response: httpx.Response, now: datetime) -> float | None:
    """The seconds that the service asks to wait: `Retry-After`, or the reset of its rate limit.

    A date is compared with the answer's own `Date`, because the two clocks may differ.
    """
    headers = response.headers
    asked, reset = headers.get("retry-after", "").strip(), headers.get("x-ratelimit-reset", "")
    if asked.isascii() and asked.isdigit():
        return float(asked[:9])
    until = http_date(asked)
    is_spent = headers.get("x-ratelimit-remaining") == "0"
    if until is None and is_spent and reset.isascii() and reset.isdigit():
        until = datetime.fromtimestamp(int(reset[:10]), UTC)
    since = http_date(headers.get("date")) or now
    return None if until is None else max(0.0, (until - since).total_seconds())


def detail(response: httpx.Response) -> str:
    """The service's explanation: one line of at most 300 characters, never blank."""
    if is_html(response):
        return f"{_phrase(response)} (a web page)"
    # Half of a surrogate pair can't be encoded.
    text = "; ".join(_problems(response)[:5]).encode("utf-8", "replace").decode()
    line = " ".join("".join(one if one.isprintable() else " " for one in text).split())
    if len(line) > DETAIL_MAX_LENGTH:
        line = f"{line[: DETAIL_MAX_LENGTH - 1]}…"
    return line or _phrase(response)


def _problems(response: httpx.Response) -> Sequence[str]:
    """A sentence for each problem. A body that isn't JSON is one.

    A problem is a sentence, or `{"loc": ["body", "reason"], "msg": "…"}`. The API document leaves
    the body open: an object, plain text, a gateway's web page, or nothing.
    """
    text = response.content[:_LONGEST_BODY].decode("utf-8-sig", "replace")
    try:
        sent = json.loads(text)
    except (ValueError, RecursionError):
        return [text]
    while isinstance(sent, Mapping):
        sent = next((sent[name] for name in _NAMES if sent.get(name)), "")
    found = []
    for one in sent if isinstance(sent, list) else [sent]:
        problem = one if isinstance(one, Mapping) else {"msg": one}
        path, said = problem.get("loc"), problem.get("msg")
        if isinstance(said, str):
            fields = (
                [name for name in path if isinstance(name, str)] if isinstance(path, list) else []
            )
            found.append(": ".join([*fields[-1:], said]))
    return found


def is_html(response: httpx.Response) -> bool:
    is_said = "html" in response.headers.get("content-type", "").lower()
    return is_said or _WEB_PAGE.match(response.content) is not None


def _phrase(response: httpx.Response) -> str:
    return f"{response.status_code} {response.reason_phrase}".rstrip()
