"""Pages of the event log: their events, their cursors, and what can't be read."""

import json
import logging
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
from pydantic import ValidationError

from bot.domain.errors import MergeQueueProtocolError
from bot.domain.event_records import EventPage, EventRecord, UnreadableEvent, read_event
from bot.domain.repository import RepositoryName
from bot.domain.resource import LARGEST_NUMBER, Resource
from bot.merge_queue.errors import http_date
from bot.merge_queue.models import problems, read
from bot.ports import ServiceCounts

logger = logging.getLogger(__name__)

_NAME = r'\s*;\s*([^\s=;,"<>]+)'
_VALUE = r'(?:\s*=\s*("(?:[^"\\]|\\.)*"|[^\s;,"]+))?'
_PARAMETER = re.compile(_NAME + _VALUE, re.DOTALL)
_LINK = re.compile(rf"<([^<>]*)>((?:{_NAME}{_VALUE})*)", re.DOTALL)

REMEMBERED = 10_000
"""Polls overlap and return the same event repeatedly; so many are remembered."""

_LOGGED = 20


class EventLogAnswer(Resource):
    """Endpoint 6; its events are read one by one."""

    events: tuple[Any, ...]


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
    for sent in read(EventLogAnswer, response).events:
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


def _unreadable(sent: Any, error: ValidationError) -> UnreadableEvent:  # noqa: ANN401 - anything the service may send
    event_id = sent.get("id") if isinstance(sent, dict) else None
    is_id = type(event_id) is int and 0 <= event_id <= LARGEST_NUMBER
    return UnreadableEvent(problems(error), sent, event_id if is_id else None)


def _previous_cursor(link: str) -> str | None:
    """The page can be used without a way back."""
    try:
        return cursor_of("prev", link)
    except MergeQueueProtocolError:
        return None


def cursor_of(relation: str, header: str) -> str | None:
    """The cursor of the first link with this relation in a `Link` header (RFC 8288), or None.

    Only the cursor is taken, as the address of a link may be of another origin. Raises
    MergeQueueProtocolError when the link has none, or when nothing in the header is a link:
    otherwise the rest of the list would be lost silently.
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
            return _cursor(target)
    return None


def _cursor(target: str) -> str:
    try:
        return parse_qs(urlsplit(target).query)["cursor"][0]
    except (ValueError, KeyError):
        raise MergeQueueProtocolError("a link to another page carries no cursor") from None


class Unreadable:
    """Counts and logs each event that could not be read in full, once."""

    def __init__(self, counts: ServiceCounts) -> None:
        self._counts = counts
        self._known: dict[tuple[str, str], None] = {}

    def note(self, repository: RepositoryName, page: EventPage) -> None:
        lost = [one for one in page.unreadable if self._is_new(repository, _identity(one))]
        partly = [one for one in page.incomplete if self._is_new(repository, str(one.event_id))]
        self._counts.unreadable_events += len(lost)
        self._counts.unreadable_metadata += len(partly)
        if lost or partly:
            details = {
                "action": "events_unreadable",
                "repository": repository,
                "unreadable_events": len(lost),
                "unreadable_metadata": len(partly),
                "event_ids": [event.event_id for event in lost][:_LOGGED],
                "problems": sorted({event.problem for event in lost})[:_LOGGED],
                "metadata_event_ids": [event.event_id for event in partly][:_LOGGED],
                "metadata_types": sorted({event.type for event in partly})[:_LOGGED],
            }
            logger.warning("Events of the log could not be read in full", extra=details)

    def _is_new(self, repository: RepositoryName, identity: str) -> bool:
        key = (str(repository), identity)
        if key in self._known:
            return False
        self._known[key] = None
        if len(self._known) > REMEMBERED:
            del self._known[next(iter(self._known))]
        return True


def _identity(event: UnreadableEvent) -> str:
    return json.dumps(event.raw if event.event_id is None else event.event_id, sort_keys=True)
