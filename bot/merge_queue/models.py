"""The service's answers, as values or errors, read from bytes; no I/O.

Unreadable elements of lists are left out; unreadable answers raise MergeQueueProtocolError.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from itertools import islice
from typing import Generic, NamedTuple, TypeVar
from urllib.parse import parse_qs, urlsplit

import httpx
from pydantic import AliasChoices, Field, ValidationError

from bot.kernel import errors as kernel_errors
from bot.kernel.pacing import http_date
from bot.kernel.repository import RepositoryName
from bot.kernel.storable import storable
from bot.merge_queue import errors as merge_queue_errors
from bot.merge_queue.event_records import EventLogAnswer, EventPage
from bot.merge_queue.freezes import FreezeList, ListedFreeze
from bot.merge_queue.queue import Queue, QueueRule, QueueStatus
from bot.merge_queue.resource import Readable, Resource, Several, TooManyUnreadable, problems
from bot.merge_queue.window import LARGEST_PAGE

T = TypeVar("T")
R = TypeVar("R", bound=Resource)
LONGEST_NUMBER = 100

_REFUSALS: Mapping[int, type[kernel_errors.MergeQueueRefused]] = {
    400: kernel_errors.InvalidRequest,
    401: merge_queue_errors.CredentialRefused,
    403: merge_queue_errors.CredentialRefused,
    404: merge_queue_errors.ResourceNotFound,
    405: merge_queue_errors.NotOffered,
    409: merge_queue_errors.StateConflict,
    410: merge_queue_errors.NotOffered,
    422: kernel_errors.InvalidRequest,
    501: merge_queue_errors.NotOffered,
}
_TEMPORARY = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS}
DETAIL_MAX_LENGTH = 300
_LONGEST_BODY = 64 * 1024
MOST_PROBLEMS = 5
_ERROR_KEYS = ("detail", "msg", "message", "error", "errors", "title", "reason", "description")
_WEB_PAGE = re.compile(rb"\s*(?:\xef\xbb\xbf)?\s*<")


LISTS = AliasChoices("configuration", "base_refs", "branches", "queues", "scheduled_freezes")


class ListAnswer(Resource, Generic[T]):
    """Endpoints 5, 7 and 13, and two that the document doesn't have."""

    elements: Several[Readable[T]] = Field(validation_alias=LISTS)


def read_answer(model: type[R], response: httpx.Response) -> R:
    return _read_answer(model, response).value


def _read_list(model: type[ListAnswer[T]], response: httpx.Response) -> tuple[T, ...]:
    """Raises MergeQueueProtocolError if no element of the list can be read."""
    answer = _read_answer(model, response)
    return _not_lost(answer.value.elements, answer.left_out)


read_rules = partial(_read_list, ListAnswer[QueueRule])
read_names = partial(_read_list, ListAnswer[str])
read_queues = partial(_read_list, ListAnswer[Queue])


def read_freezes(response: httpx.Response) -> FreezeList:
    freezes = _read_list(ListAnswer[ListedFreeze], response)
    return FreezeList(freezes, http_date(response.headers.get("date")))


def read_queue_status(response: httpx.Response) -> QueueStatus:
    status, left_out = _read_answer(QueueStatus, response)
    _not_lost((*status.batches, *status.waiting_pull_requests), left_out)
    if not left_out:
        return status
    return status.model_copy(update={"unreadable": len(left_out)})


def _not_lost(elements: tuple[T, ...], left_out: Sequence[ValidationError]) -> tuple[T, ...]:
    if left_out and not elements:
        raise merge_queue_errors.MergeQueueProtocolError(problems(left_out[-1]))
    return elements


class _Answer(NamedTuple, Generic[R]):
    """An answer that was read."""

    value: R
    left_out: Sequence[ValidationError]  #: the errors of list elements that can't be read


def _read_answer(model: type[R], response: httpx.Response) -> _Answer[R]:
    """Read an answer, without the elements of lists that can't be read.

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
        return _Answer(model.model_validate(sent, context=left_out), left_out)
    except ValidationError as error:
        problem = problems(error)
    except TooManyUnreadable:
        problem = f"{len(left_out):,} elements can't be read, first {problems(left_out[0])}"
    except (ValueError, RecursionError) as error:
        problem = "no JSON"
        if is_html(response):
            problem = "a web page came instead of JSON"
        elif isinstance(error, json.JSONDecodeError):
            problem = f"no JSON from line {error.lineno}, column {error.colno} on"
    # Not raised `from` the library's error, which has the body.
    unreadable = merge_queue_errors.MergeQueueProtocolError(problem)
    unreadable.is_web_page = is_html(response)
    raise unreadable


def read_event_page(
    response: httpx.Response,
    repository: RepositoryName,
    *,
    asked_cursor: str | None,
    per_page: int = LARGEST_PAGE,
) -> EventPage:
    """One page of the log. It is an error if it leads to `asked_cursor`: the rest would be lost.

    So is a page of more events than `per_page`: a million of them would take minutes to read.
    """
    link = response.headers.get("link", "")
    next_cursor = cursor_of("next", link)
    if next_cursor is not None and next_cursor == asked_cursor:
        raise merge_queue_errors.MergeQueueProtocolError("the next page has the cursor of this one")
    previous_cursor = None
    # The page can be used without a way back.
    with suppress(merge_queue_errors.MergeQueueProtocolError):
        previous_cursor = cursor_of("prev", link)
    answer = read_answer(EventLogAnswer, response)
    if len(answer.events) > per_page:
        problem = f"{len(answer.events):,} events in a page, where {per_page} were asked for"
        raise merge_queue_errors.MergeQueueProtocolError(problem)
    return replace(
        answer.page(repository),
        next_cursor=next_cursor,
        previous_cursor=previous_cursor,
        served_at=http_date(response.headers.get("date")),
    )


_PARAMETER_NAME = r'\s*;\s*([^\s=;,"<>]+)'
_VALUE = r'(?:\s*=\s*("(?:[^"\\]|\\.)*"|[^\s;,"]+))?'
_PARAMETER = re.compile(_PARAMETER_NAME + _VALUE, re.DOTALL)
_LINK = re.compile(rf"<([^<>]*)>((?:{_PARAMETER_NAME}{_VALUE})*)", re.DOTALL)


def cursor_of(relation: str, header: str) -> str | None:
    """The cursor of the first link with this relation in a `Link` header (RFC 8288), or None.

    Only the cursor is taken, as the address may be of another origin. MergeQueueProtocolError: the
    link has none, or nothing is a link. Otherwise the rest of the list would be lost silently.
    """
    links = list(_LINK.finditer(header))
    if not links and header.strip(" \t,"):
        raise merge_queue_errors.MergeQueueProtocolError("the Link header cannot be read")
    for target, text, *_ in (link.groups() for link in links):
        # The first of several parameters with one name counts.
        pairs = reversed(_PARAMETER.findall(text))
        parameters = {name.lower(): value.strip('"') for name, value in pairs}
        # A link with an anchor is about another resource than this answer.
        if relation in parameters.get("rel", "").lower().split() and "anchor" not in parameters:
            try:
                return parse_qs(urlsplit(target).query)["cursor"][0]
            except (ValueError, KeyError):
                raise merge_queue_errors.MergeQueueProtocolError("a link has no cursor") from None
    return None


def error_of(
    response: httpx.Response, now: datetime, asked: httpx.URL
) -> kernel_errors.MergeQueueError:
    """The error for a response from the address `asked`, received `now`."""
    status = response.status_code
    headers = response.headers
    said = detail(response)
    # A 403 with the headers of a rate limit is a rate limit.
    is_limit = status == HTTPStatus.FORBIDDEN and (
        "retry-after" in headers or headers.get("x-ratelimit-remaining") == "0"
    )
    is_failure = status >= HTTPStatus.INTERNAL_SERVER_ERROR and status not in _REFUSALS
    if is_limit or is_failure or status in _TEMPORARY:
        wait = retry_after(response, now)
        return merge_queue_errors.MergeQueueUnavailable(said, status=status, retry_after=wait)
    if response.is_redirect and (target := _redirection(response, asked)):
        if (moved := _moved(response, asked)) is not None:
            return moved
        return merge_queue_errors.ServiceMoved(
            f"{_phrase(response)}: it redirects to {target}", target
        )
    if status in _MOVED and "location" not in headers and _REPOSITORY_IN_PATH.search(asked.path):
        # It is moved for good, and nobody says where to.
        return merge_queue_errors.RepositoryMoved(status, said)
    if status < HTTPStatus.BAD_REQUEST:
        return merge_queue_errors.MergeQueueProtocolError(f"unexpected answer: {_phrase(response)}")
    refused = _REFUSALS.get(status, kernel_errors.MergeQueueRefused)(status, said)
    refused.is_web_page = is_html(response)
    if isinstance(refused, kernel_errors.InvalidRequest):
        refused.wrong = refused_values(response)
    return refused


_MOVED = frozenset({HTTPStatus.MOVED_PERMANENTLY, HTTPStatus.PERMANENT_REDIRECT})
_REPOSITORY_IN_PATH = re.compile(r"/repos/([^/]+/[^/]+)(?:/|$)")
_BY_NUMBER = re.compile(r"/repositories/[0-9]+(?:/|$)")


def _moved(response: httpx.Response, asked: httpx.URL) -> merge_queue_errors.RepositoryMoved | None:
    """The error for a redirect within the service, to another repository or to one by its number.

    Hosting platforms redirect so after a repository was renamed
    (https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api).
    """
    target = asked.join(response.headers.get("location", ""))
    if (target.scheme, target.host, target.port) != (asked.scheme, asked.host, asked.port):
        return None
    before = _REPOSITORY_IN_PATH.search(asked.path)
    after = _REPOSITORY_IN_PATH.search(target.path)
    is_other = after is not None and before is not None and after[1] != before[1]
    if before is None or not (is_other or _BY_NUMBER.search(target.path)):
        return None
    moved = merge_queue_errors.RepositoryMoved(response.status_code, detail(response))
    moved.new_name = after[1] if after is not None else None
    return moved


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
    asked = headers.get("retry-after", "").strip()
    reset = headers.get("x-ratelimit-reset", "")
    if asked.isascii() and asked.isdigit():
        return float(asked[:9])
    until = http_date(asked)
    is_spent = headers.get("x-ratelimit-remaining") == "0"
    if until is None and is_spent and reset.isascii() and reset.isdigit():
        until = datetime.fromtimestamp(int(reset[:10]), UTC)
    if until is None:
        return None
    since = http_date(headers.get("date")) or now
    return max(0.0, (until - since).total_seconds())


def detail(response: httpx.Response) -> str:
    """The service's explanation: one line of at most 300 characters, never blank."""
    if is_html(response):
        return f"{_phrase(response)} (a web page)"
    # Half of a surrogate pair can't be encoded.
    text = "; ".join(_problems(response)).encode("utf-8", "replace").decode()
    printable = "".join(letter if letter.isprintable() else " " for letter in text)
    line = " ".join(printable.split())
    if len(line) > DETAIL_MAX_LENGTH:
        line = f"{line[: DETAIL_MAX_LENGTH - 1]}…"
    return line or _phrase(response)


def _problems(response: httpx.Response) -> Sequence[str]:
    """A sentence for each problem. A body that isn't JSON is one.

    The API document leaves the body open: an object, plain text, a gateway's web page, or nothing.
    """
    sent = _error_body(response)
    return list(islice(_sentences(sent), MOST_PROBLEMS))


def _error_body(response: httpx.Response) -> object:
    text = response.content[:_LONGEST_BODY].decode("utf-8-sig", "replace")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _sentences(sent: object, depth: int = 6) -> Iterator[str]:
    """What a body of an error says, whatever its form.

    A problem is a sentence, `{"loc": ["body", "reason"], "msg": "…"}`, or an object that says it
    under another name. An object with none of these names is all that it holds.
    """
    if isinstance(sent, str):
        if sent.strip():
            yield sent
    elif depth == 0:
        return
    elif isinstance(sent, list):
        for problem in sent:
            yield from _sentences(problem, depth - 1)
    elif isinstance(sent, Mapping):
        yield from _of_object(sent, depth)


def _of_object(sent: Mapping[str, object], depth: int) -> Iterator[str]:
    known = [list(_sentences(sent[name], depth - 1)) for name in _ERROR_KEYS if sent.get(name)]
    said = next(filter(None, known), [])
    if said:
        named = _fields(sent)[-1:]
        yield ": ".join([*named, *said[:1]])
        yield from said[1:]
        return
    for name, value in sent.items():
        for sentence in _sentences(value, depth - 1):
            yield f"{name}: {sentence}"


def _fields(problem: Mapping[str, object]) -> list[str]:
    path = problem.get("loc")
    return [name for name in path if isinstance(name, str)] if isinstance(path, list) else []


def refused_values(response: httpx.Response) -> Mapping[str, Collection[int]]:
    """The parameters that are wrong, with the indexes of their refused values.

    `{"detail": [{"loc": ["query", "event_type", 3], "msg": "Input should be …"}]}`
    """
    body = _error_body(response)
    problems = body.get("detail") if isinstance(body, Mapping) else None
    wrong: dict[str, list[int]] = {}
    for problem in problems if isinstance(problems, list) else []:
        path = problem.get("loc") if isinstance(problem, Mapping) else None
        match path:
            case [_, str(name), int(index)]:
                wrong.setdefault(name, []).append(index)
            case _:
                pass
    return wrong


def is_html(response: httpx.Response) -> bool:
    is_said = "html" in response.headers.get("content-type", "").lower()
    return is_said or _WEB_PAGE.match(response.content) is not None


def _phrase(response: httpx.Response) -> str:
    return f"{response.status_code} {response.reason_phrase}".rstrip()
