"""The 13 requests of the API document, built and held to its limits; no I/O.

Every function raises InvalidRequest, naming the field, when a limit of the document (Limits,
and Event log query parameters) is not kept; nothing is sent then.
"""

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from urllib.parse import urlencode

from bot.domain.errors import InvalidRequest
from bot.domain.event_log import LARGEST_PAGE, PULL_REQUEST_END, Window
from bot.domain.pauses import REASON_LIMIT
from bot.domain.repository import RepositoryName

BASE_REF_MAX_LENGTH = 255


@dataclass(frozen=True, slots=True)
class Request:
    """One request, without the credential.

    `endpoint` is a short fixed name for logs and counters. `target` is the path below the
    service's address, with the query. `may_send` is asked just before the request is sent.
    """

    endpoint: str
    method: str
    target: str
    body: bytes | None = None
    may_send: Callable[[], bool] | None = field(default=None, repr=False, compare=False)

    @property
    def is_read(self) -> bool:
        return self.method in {"GET", "OPTIONS"}


@dataclass(frozen=True, slots=True)
class EventFilter:
    """What of the log is asked for: all event types when `types` is empty."""

    types: Collection[str] = ()
    pull_request: int | None = None
    base_ref: str | None = None


def status_request(repository: RepositoryName, branch: str | None = None) -> Request:
    """Endpoint 1."""
    query = "" if branch is None else _encoded({"branch": branch})
    return _get("status", repository, "merge-queue/status", query)


def set_pause_request(repository: RepositoryName, reason: str) -> Request:
    """Endpoint 2."""
    return _put("set_pause", repository, "merge-queue/pause", reason)


def delete_pause_request(repository: RepositoryName) -> Request:
    """Endpoint 3."""
    return Request("delete_pause", "DELETE", _path(repository, "merge-queue/pause"))


def get_pause_request(repository: RepositoryName) -> Request:
    """Endpoint 4."""
    return _get("get_pause", repository, "merge-queue/pause")


def rules_request(repository: RepositoryName) -> Request:
    """Endpoint 5."""
    return _get("rules", repository, "queues/configuration")


def event_page_request(
    repository: RepositoryName,
    window: Window,
    wanted: EventFilter,
    *,
    cursor: str | None = None,
    per_page: int = LARGEST_PAGE,
) -> Request:
    """Endpoint 6. Both ends of the window are always sent, and the filters with every cursor."""
    query = (
        f"received_from={_in_query(window.received_from)}"
        f"&received_to={_in_query(window.received_to)}"
        f"&per_page={_checked_per_page(per_page)}"
    )
    if wanted.pull_request is not None:
        query += f"&pull_request={_checked_pull_request(wanted.pull_request)}"
    if wanted.base_ref is not None:
        query += "&" + _encoded({"base_ref": _checked_base_ref(wanted.base_ref)})
    if cursor is not None:
        query += "&" + _encoded({"cursor": _checked_cursor(cursor)})
    return _get("event_page", repository, "logs", query + _types(frozenset(wanted.types)))


def branches_request(repository: RepositoryName, window: Window) -> Request:
    """Endpoint 7, with both ends of the window."""
    query = f"start_at={_in_query(window.received_from)}&end_at={_in_query(window.received_to)}"
    return _get("branches", repository, "queues/branches", query)


def application_request() -> Request:
    """Endpoint 8."""
    return Request("application", "GET", "/application")


def set_queue_pause_request(repository: RepositoryName, reason: str) -> Request:
    """Endpoint 9, deprecated."""
    return _put("set_queue_pause", repository, "queue/pause", reason)


def delete_queue_pause_request(repository: RepositoryName) -> Request:
    """Endpoint 10, deprecated."""
    return Request("delete_queue_pause", "DELETE", _path(repository, "queue/pause"))


def get_queue_pause_request(repository: RepositoryName) -> Request:
    """Endpoint 11, deprecated."""
    return _get("get_queue_pause", repository, "queue/pause")


def post_queue_pause_delete_request(repository: RepositoryName) -> Request:
    """Endpoint 12, deprecated."""
    return Request("post_queue_pause_delete", "POST", _path(repository, "queue/pause/delete"))


def is_offered_request(repository: RepositoryName, rest: str) -> Request:
    """Ask for the methods of a path: whether a service has it, without using it."""
    return Request("is_offered", "OPTIONS", _path(repository, rest))


def queues_request(repository: RepositoryName) -> Request:
    """Endpoint 13, deprecated."""
    return _get("queues", repository, "queues")


def timestamp(moment: datetime) -> str:
    """RFC 3339 in UTC with microseconds, as the service writes its own times."""
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def _in_query(moment: datetime) -> str:
    """Without `urlencode`, which looks at each character: asked for twice with each look."""
    return timestamp(moment).replace(":", "%3A")


@lru_cache(maxsize=256)
def _types(types: frozenset[str]) -> str:
    """As part of a query. Asked for with each look, and the same for most repositories."""
    return "".join(f"&{_encoded({'event_type': one})}" for one in sorted(types))


def _encoded(query: Mapping[str, str]) -> str:
    try:
        return urlencode(query)
    except UnicodeEncodeError as error:
        raise InvalidRequest(None, "the text cannot be sent", field="query") from error


def _get(endpoint: str, repository: RepositoryName, rest: str, query: str = "") -> Request:
    path = _path(repository, rest)
    return Request(endpoint, "GET", f"{path}?{query}" if query else path)


def _put(endpoint: str, repository: RepositoryName, rest: str, reason: str) -> Request:
    if len(reason) > REASON_LIMIT:
        raise InvalidRequest(
            None, f"a reason has at most {REASON_LIMIT} characters", field="reason"
        )
    try:
        body = json.dumps({"reason": reason}, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise InvalidRequest(None, "the reason cannot be sent as text", field="reason") from error
    return Request(endpoint, "PUT", _path(repository, rest), body)


def _path(repository: RepositoryName, rest: str) -> str:
    # Parsed again: a RepositoryName can be made without `parse`, and it decides the path.
    checked = RepositoryName.parse(repository)
    return f"/repos/{checked.owner}/{checked.name}/{rest}"


def _checked_per_page(per_page: int) -> int:
    if not 1 <= per_page <= LARGEST_PAGE:
        raise InvalidRequest(None, f"a page has 1 to {LARGEST_PAGE} events", field="per_page")
    return per_page


def _checked_pull_request(number: int) -> int:
    if not 1 <= number < PULL_REQUEST_END:
        raise InvalidRequest(
            None, f"a pull request number is from 1 to {PULL_REQUEST_END - 1}", field="pull_request"
        )
    return number


def _checked_base_ref(base_ref: str) -> str:
    if not 1 <= len(base_ref) <= BASE_REF_MAX_LENGTH:
        raise InvalidRequest(
            None, f"a base ref has 1 to {BASE_REF_MAX_LENGTH} characters", field="base_ref"
        )
    return base_ref


def _checked_cursor(cursor: str) -> str:
    if not cursor:
        raise InvalidRequest(None, "a cursor is never empty", field="cursor")
    return cursor
