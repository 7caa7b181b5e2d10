"""What the service may drop, replace or retype without breaking the client, by the models."""

import copy
import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, get_args

import httpx
import pytest
from pydantic import BaseModel, SecretStr

from bot.merge_queue.client import MergeQueueClient
from bot.merge_queue.event_records import EventLogAnswer, EventRecord, _Event
from bot.merge_queue.http import Http
from bot.merge_queue.models import LISTS, ListAnswer
from bot.merge_queue.queue import (
    Application,
    Queue,
    QueuedDetails,
    QueueRule,
    QueueStatus,
    RemovalImpact,
)
from tests.support.clock import FakeClock
from tests.support.make import SITE
from tests.support.samples import sample
from tests.unit.merge_queue.client_under_test import WINDOW

Ask = Callable[[MergeQueueClient], Awaitable[object]]
Path = tuple[str | int, ...]

CHECK = {"name": "unit", "state": "pending", "description": "", "url": None}
DETAILS = {
    "number": 41,
    "position": 2,
    "estimated_time_of_merge": "2026-07-20T12:30:00Z",
    "checks_timeout_at": "2026-07-20T13:00:00Z",
    "queue_rule": {"name": "default", "config": {}},
    "mergeability_check": {
        "ci_state": "pending",
        "checks": [CHECK],
        "conditions_evaluation": {"match": False, "label": "x", "subconditions": []},
    },
}
IMPACT = {"interrupted_batches": 1, "rechecked_pull_requests": 2, "cascaded_pull_requests": 0}


async def events(client: MergeQueueClient) -> object:
    return (await client.event_page(SITE, WINDOW)).events


def parts(name: str) -> dict[str, Any]:
    """An event log as several of two events each: each of its fields is changed in one of them."""
    log = sample(name)
    return {
        f"{name} from {first}": {**log, "events": log["events"][first : first + 2]}
        for first in range(0, len(log["events"]), 2)
    }


RESPONSES: dict[str, tuple[type[BaseModel], Any, Ask]] = {
    **{
        name: (QueueStatus, sample(name), lambda client: client.status(SITE))
        for name in ("status", "status_live")
    },
    **{
        name: (Application, sample(name), lambda client: client.application())
        for name in ("application", "application_live")
    },
    **{
        name: (EventLogAnswer, body, events)
        for name, body in (parts("event_log") | parts("event_log_live")).items()
    },
    "configuration": (
        ListAnswer[QueueRule],
        sample("configuration"),
        lambda client: client.rules(SITE),
    ),
    "queues": (ListAnswer[Queue], sample("queues"), lambda client: client.queues(SITE)),
    "details": (QueuedDetails, DETAILS, lambda client: client.queued_details(SITE, 41)),
    "impact": (RemovalImpact, IMPACT, lambda client: client.removal_impact(SITE, 41)),
}

GONE = object()
ODD = (GONE, None, "odd", -1, 2**70, 2.5, True, [None], [{"odd": 1}], {"odd": [1]})


def model_in(annotation: Any) -> type[BaseModel] | None:
    """The model of a field, or of the elements of its list."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(model_in, get_args(annotation))), None)


def optional(body: Any, model: type[BaseModel] | None, path: Path = ()) -> Iterator[Path]:
    """Where the body has something that its model doesn't require, unread fields included."""
    if isinstance(body, list):
        for index, element in enumerate(body):
            yield from optional(element, model, (*path, index))
    if not isinstance(body, dict):
        return
    for name, value in body.items():
        read_as = "elements" if name in LISTS.choices else name
        field = model.model_fields.get(read_as) if model is not None else None
        inner = model_in(field.annotation) if field is not None else None
        if model is EventLogAnswer and name == "events":
            inner = _Event
        if field is None or not field.is_required():
            yield (*path, name)
        yield from optional(value, inner, (*path, name))


def essential(read: Any, path: Path = ()) -> Iterator[tuple[Path, object]]:
    """What was read of required fields, and the length of each list."""
    if isinstance(read, tuple):
        yield path, len(read)
        for index, element in enumerate(read):
            yield from essential(element, (*path, index))
    elif isinstance(read, BaseModel):
        for name, field in type(read).model_fields.items():
            value = getattr(read, name)
            if isinstance(value, tuple | BaseModel):
                yield from essential(value, (*path, name))
            elif field.is_required():
                yield (*path, name), value
    elif isinstance(read, EventRecord):
        yield path, (read.event_id, read.received_at, read.type)


def tampered(body: Any, path: Path, odd: object) -> Any:
    changed = node = copy.deepcopy(body)
    for step in path[:-1]:
        node = node[step]
    if odd is GONE:
        del node[path[-1]]
    else:
        node[path[-1]] = odd
    return changed


class ChangingService:
    """A client, and the body with which every request of it is answered."""

    def __init__(self) -> None:
        self.body: object = None
        http = Http(
            base_url="http://queue.example/v1",
            token=SecretStr("a-long-enough-key"),
            clock=FakeClock(),
            transport=httpx.MockTransport(self.answer),
            requests_at_once=2,
        )
        self.client = MergeQueueClient(http)

    def answer(self, _request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=json.dumps(self.body))

    async def read(self, body: Any, ask: Ask) -> object:
        self.body = body
        return await ask(self.client)


def kept(found: Any, changed: Path) -> dict[Path, object]:
    """Leave out what is inside the changed field, which may be of another name when read."""
    if isinstance(found, tuple) and len(changed) > 1:
        changed = changed[1:]
    if str(changed[0]).startswith("account") or str(changed[0]).endswith("_account"):
        changed = ("account",)
    return {path: value for path, value in essential(found) if path[: len(changed)] != changed}


@pytest.mark.parametrize("name", sorted(RESPONSES))
async def test_nothing_that_is_not_required_is_needed_to_read_the_rest(name: str) -> None:
    model, body, ask = RESPONSES[name]
    service = ChangingService()
    whole = await service.read(body, ask)
    paths = list(optional(body, model))
    assert paths
    for path in paths:
        for odd in ODD:
            found = await service.read(tampered(body, path, odd), ask)
            where = f"{path} as {'missing' if odd is GONE else odd!r}"
            assert kept(found, path) == kept(whole, path), where
    await service.client.http.aclose()


def required(model: type[BaseModel] | None) -> set[str]:
    if model is None:
        return set()
    fields = model.model_fields.items()
    own = {f"{model.__name__}.{name}" for name, field in fields if field.is_required()}
    inner = {model_in(field.annotation) for _, field in fields} - {model}
    return own.union(*map(required, inner))


def test_only_what_identifies_something_is_required() -> None:
    read: list[type[BaseModel]] = [_Event, *(model for model, _, _ in RESPONSES.values())]
    assert set().union(*map(required, read)) == {
        *("_Event.id", "_Event.received_at", "_Event.type", "EventLogAnswer.events"),
        *("QueueStatus.batches", "QueueStatus.waiting_pull_requests"),
        *("Batch.id", "BatchStatus.code"),
        *("ChecksSummary.passed", "ChecksSummary.total"),
        *("QueuedPullRequest.number", "QueuedPullRequest.queued_at"),
        *("ListAnswer[QueueRule].elements", "QueueRule.name"),
        *("ListAnswer[Queue].elements", "PullRequestQueued.number"),
        "Account.login",
    }
