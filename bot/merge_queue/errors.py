"""The errors that answers stand for, and their detail for people.

The API document leaves the body open: an object, plain text, a gateway's web page, or nothing.
"""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import httpx

from bot.domain import errors

DETAIL_MAX_LENGTH = 300
_LONGEST_BODY = 64 * 1024
_NAMES = ("detail", "message", "error", "errors", "title")
_WEB_PAGE = re.compile(rb"\s*(?:\xef\xbb\xbf)?\s*<")

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
    kind = _REFUSALS.get(status, errors.MergeQueueRefused)
    if kind is errors.InvalidRequest:
        field = next((name for name, _ in _said(response) if name), None)
        return errors.InvalidRequest(status, said, field=field)
    return kind(status, said)


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
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    moment = http_date(text)
    if moment is None and headers.get("x-ratelimit-remaining") == "0":
        try:
            moment = datetime.fromtimestamp(float(headers.get("x-ratelimit-reset", "")), UTC)
        except (ValueError, OverflowError, OSError):
            return None
    since = http_date(headers.get("date", "")) or now
    return None if moment is None else max(0.0, (moment - since).total_seconds())


def http_date(text: str) -> datetime | None:
    """A date as in RFC 9110, section 5.6.7, in UTC; None if it is invalid."""
    try:
        moment = parsedate_to_datetime(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError, IndexError, TypeError):
        return None


def detail(response: httpx.Response) -> str:
    """The service's explanation: one line of at most 300 characters, never blank."""
    if is_html(response):
        return f"{_phrase(response)} (a web page)"
    problems = [f"{field}: {text}" if field else text for field, text in _said(response) if text]
    # Half of a surrogate pair can't be encoded.
    text = "; ".join(problems[:5]).encode("utf-8", "replace").decode()
    line = " ".join("".join(one if one.isprintable() else " " for one in text).split())
    if len(line) > DETAIL_MAX_LENGTH:
        line = f"{line[: DETAIL_MAX_LENGTH - 1]}…"
    return line or _phrase(response)


def _said(response: httpx.Response) -> Sequence[tuple[str, str]]:
    """Field and sentence of each problem. A body that isn't JSON is a sentence.

    A problem is a sentence, or `{"loc": ["body", "reason"], "msg": "…"}`.
    """
    text = response.content[:_LONGEST_BODY].decode("utf-8-sig", "replace")
    try:
        sent = json.loads(text)
    except (ValueError, RecursionError):
        return [("", text)]
    while isinstance(sent, Mapping):
        sent = next((sent[name] for name in _NAMES if sent.get(name)), "")
    found = []
    for one in sent if isinstance(sent, list) else [sent]:
        problem = one if isinstance(one, Mapping) else {"msg": one}
        path, said = problem.get("loc"), problem.get("msg")
        names = [name for name in path if isinstance(name, str)] if isinstance(path, list) else []
        found.append((names[-1] if names else "", said if isinstance(said, str) else ""))
    return found


def is_html(response: httpx.Response) -> bool:
    is_said = "html" in response.headers.get("content-type", "").lower()
    return is_said or _WEB_PAGE.match(response.content) is not None


def _phrase(response: httpx.Response) -> str:
    return f"{response.status_code} {response.reason_phrase}".rstrip()
