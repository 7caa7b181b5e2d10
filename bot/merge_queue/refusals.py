"""The meaning of answers that are no success, and the short safe text shown of their body.

The API document leaves the shape of error bodies open: a JSON object with `detail` (a string,
or a list of validation problems), plain text, a web page of some gateway, or nothing.
"""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from http import HTTPStatus
from typing import Any

from bot.domain.errors import (
    CredentialRefused,
    InvalidRequest,
    MergeQueueError,
    MergeQueueProtocolError,
    MergeQueueRefused,
    MergeQueueUnavailable,
    NotOffered,
    ResourceNotFound,
    StateConflict,
)
from bot.merge_queue.answer import Answer

DETAIL_MAX_LENGTH = 300
_LONGEST_DETAIL_BODY = 64 * 1024
_DEEPEST = 4
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\s]+")
_WEB_PAGE = re.compile(rb"\s*(?:\xef\xbb\xbf)?\s*<")


_REFUSALS: Mapping[int, type[MergeQueueRefused]] = {
    HTTPStatus.UNAUTHORIZED: CredentialRefused,
    HTTPStatus.FORBIDDEN: CredentialRefused,
    HTTPStatus.NOT_FOUND: ResourceNotFound,
    HTTPStatus.CONFLICT: StateConflict,
    HTTPStatus.METHOD_NOT_ALLOWED: NotOffered,
    HTTPStatus.GONE: NotOffered,
    HTTPStatus.NOT_IMPLEMENTED: NotOffered,
}


def refusal(answer: Answer) -> MergeQueueError:
    """The error that this answer is."""
    status = answer.status
    if _is_passing(answer):
        return MergeQueueUnavailable(detail(answer), status=status, retry_after=retry_after(answer))
    if status < HTTPStatus.BAD_REQUEST:
        return MergeQueueProtocolError(f"unexpected answer: {_phrase(status)}")
    if status in {HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY}:
        return InvalidRequest(status, detail(answer), field=_field(answer))
    return _REFUSALS.get(status, MergeQueueRefused)(status, detail(answer))


def _is_passing(answer: Answer) -> bool:
    """Whether asking later may help. A 403 with a rate limit's headers is a rate limit."""
    if answer.status == HTTPStatus.FORBIDDEN:
        return "retry-after" in answer.headers or answer.header("x-ratelimit-remaining") == "0"
    return answer.status in {
        HTTPStatus.REQUEST_TIMEOUT,
        HTTPStatus.TOO_EARLY,
        HTTPStatus.TOO_MANY_REQUESTS,
    } or (
        answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR
        and answer.status != HTTPStatus.NOT_IMPLEMENTED
    )


def retry_after(answer: Answer) -> float | None:
    """The wait the service asks for, in seconds: `Retry-After`, or the reset of its rate limit.

    A date is measured from the answer's own `Date`, so that the two clocks need not agree.
    """
    text = (answer.header("retry-after") or "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    moment = http_date(text)
    if moment is None and answer.header("x-ratelimit-remaining") == "0":
        moment = _epoch(answer.header("x-ratelimit-reset") or "")
    if moment is None:
        return None
    since = http_date(answer.header("date") or "") or answer.received_at
    return max(0.0, (moment - since).total_seconds())


@lru_cache(maxsize=8)
def http_date(text: str) -> datetime | None:
    """An HTTP date (RFC 9110, section 5.6.7), aware, in UTC; None when it is not one.

    All answers of a second have the same one.
    """
    try:
        moment = parsedate_to_datetime(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError, IndexError, TypeError):
        return None


def _epoch(text: str) -> datetime | None:
    try:
        return datetime.fromtimestamp(float(text), UTC)
    except (ValueError, OverflowError, OSError):
        return None


def detail(answer: Answer) -> str:
    """What the service says went wrong: one line of at most 300 characters, never blank."""
    body = answer.body
    if _WEB_PAGE.match(body) or "html" in (answer.header("content-type") or "").lower():
        return f"{_phrase(answer.status)} (a web page)"
    said = _said(_json(body)) if body else ""
    line = _UNPRINTABLE.sub(" ", said).strip()
    if len(line) > DETAIL_MAX_LENGTH:
        line = f"{line[: DETAIL_MAX_LENGTH - 1]}…"
    return line or _phrase(answer.status)


def _json(body: bytes) -> Any:  # noqa: ANN401 - anything the service may send
    """The JSON value, or the text itself when it is not JSON."""
    text = body[:_LONGEST_DETAIL_BODY].decode("utf-8-sig", "replace")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _said(sent: Any, depth: int = 0) -> str:  # noqa: ANN401 - anything the service may send
    if isinstance(sent, str):
        return sent.encode("utf-8", "replace").decode()
    if isinstance(sent, list):
        return "; ".join(filter(None, (_problem(item) for item in sent[:5])))
    if isinstance(sent, Mapping) and depth < _DEEPEST:
        for name in ("detail", "message", "error", "errors", "title"):
            if said := _said(sent.get(name), depth + 1):
                return said
    return ""


def _problem(sent: Any) -> str:  # noqa: ANN401 - anything the service may send
    """One validation problem: `{"loc": ["body", "reason"], "msg": "…"}`, or a string."""
    if not isinstance(sent, Mapping):
        return _said(sent) if isinstance(sent, str) else ""
    said = next((_said(sent[name]) for name in ("msg", "message", "detail") if name in sent), "")
    field = _located(sent)
    return f"{field}: {said}" if field and said else said


def _located(sent: Mapping[str, Any]) -> str:
    location = sent.get("loc")
    if not isinstance(location, list):
        return ""
    return next((name for name in reversed(location) if isinstance(name, str)), "")


def _field(answer: Answer) -> str | None:
    sent = _json(answer.body)
    problems = sent.get("detail") if isinstance(sent, Mapping) else None
    if not isinstance(problems, list):
        return None
    located = (_located(item) for item in problems if isinstance(item, Mapping))
    return next(filter(None, located), None)


def _phrase(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)
