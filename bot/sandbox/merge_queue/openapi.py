"""The OpenAPI document that the sandbox publishes about itself."""

from collections.abc import Sequence
from typing import cast

from bot.sandbox.merge_queue.openapi_schemas import MOMENT, STRING, UUID, SchemaWriter, ref
from bot.sandbox.merge_queue.parameters import (
    BASE_REF_LIMIT,
    PER_PAGE_DEFAULT,
    PER_PAGE_LIMIT,
    PULL_REQUEST_BOUND,
)
from bot.sandbox.merge_queue.payloads import Dialect

Json = dict[str, object]

_REPOSITORY = "/repos/{owner}/{repository}"
_ERRORS = {
    "401": "No Bearer token that the service knows",
    "403": "Credential is valid but lacks permission for the resource",
    "404": "Resource does not exist",
    "409": "Request conflicts with the current state of the resource",
    "422": "Request body or parameters are invalid",
}


def document(dialect: Dialect, event_types: Sequence[str]) -> Json:
    """Write the document: all 22 operations with their parameters, bodies and answers.

    Thirteen are of the API document, nine only of the hosted service; the pages of both say which
    are deprecated.
    """
    pause = f"{_REPOSITORY}/merge-queue/pause"
    old_pause = f"{_REPOSITORY}/queue/pause"
    return {
        "openapi": "3.1.0",
        "info": {"title": "Merge Queue Service (sandbox)", "version": "1"},
        "servers": [{"url": "/v1"}],
        "security": [{"bearer": []}],
        "paths": {
            f"{_REPOSITORY}/merge-queue/status": _path(
                get=_operation("Status", _query("branch", STRING)),
            ),
            pause: _path(
                put=_operation("Pause") | _body(),
                delete=_operation(None),
                get=_operation("Pause"),
            ),
            f"{_REPOSITORY}/queues/configuration": _path(get=_operation("QueueRules")),
            f"{_REPOSITORY}/logs": _path(get=_logs()),
            f"{_REPOSITORY}/queues/branches": _path(
                get=_operation("Branches", _query("start_at", MOMENT), _query("end_at", MOMENT)),
            ),
            "/application": {"get": _operation("Application")},
            old_pause: _path(
                put=_old(_operation("QueuePauses") | _body()),
                delete=_old(_operation(None)),
                get=_old(_operation("QueuePauses")),
            ),
            f"{old_pause}/delete": _path(post=_old(_operation(None))),
            f"{_REPOSITORY}/queues": _path(get=_old(_operation("Queues"))),
            **_pull_requests(),
            **_freezes(),
        },
        "components": {
            "schemas": SchemaWriter(dialect, event_types).schemas(),
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def _pull_requests() -> Json:
    """The endpoints of single pull requests, which the hosted service has alone."""
    number: Json = {"type": "integer", "minimum": 1, "exclusiveMaximum": PULL_REQUEST_BOUND}
    named = _in_path("pr_number", number)
    pull_request = f"{_REPOSITORY}/merge-queue/pull/{{pr_number}}"
    return {
        f"{_REPOSITORY}/merge-queue/branches": _path(get=_operation("QueuedBranches")),
        pull_request: _path(named, get=_operation("QueuedDetails")),
        f"{pull_request}/dequeue-impact": _path(named, get=_operation("DequeueImpact")),
        f"{pull_request}/dequeue": _path(named, post=_operation(None)),
    }


def _freezes() -> Json:
    """The endpoints of scheduled freezes, which the hosted service has alone."""
    named = _in_path("freeze_id", UUID)
    every = f"{_REPOSITORY}/scheduled_freeze"
    created = _operation("Freeze")
    created["responses"] = {
        "201": {"description": "Created", "content": _content("Freeze")},
        **_errors(),
    }
    changed = _operation("Freeze")
    changed["responses"] = {
        **cast("Json", changed["responses"]),
        "400": {"description": "The freeze has begun", "content": _content("Error")},
    }
    return {
        every: _path(get=_operation("Freezes"), post=created | _body("FreezeCreation")),
        f"{every}/{{freeze_id}}": _path(
            named,
            patch=changed | _body("FreezeChange"),
            delete=_old(_operation(None)),
        ),
        f"{every}/{{freeze_id}}/delete": _path(
            named, post=_operation(None) | _body("FreezeDeletion", is_required=False)
        ),
    }


def _in_path(name: str, schema: Json) -> Json:
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _path(*own: Json, **operations: Json) -> Json:
    owner: Json = {
        "type": "string",
        "minLength": 1,
        "maxLength": 40,
        "pattern": r"^[a-zA-Z0-9\-]+$",
    }
    repository: Json = {"type": "string", "minLength": 1, "pattern": r"^[\w\-\.]+$"}
    shared = [
        {"name": "owner", "in": "path", "required": True, "schema": owner},
        {"name": "repository", "in": "path", "required": True, "schema": repository},
    ]
    path: Json = {"parameters": [*shared, *own]}
    return path | operations


def _query(name: str, schema: Json) -> Json:
    return {"name": name, "in": "query", "required": False, "schema": schema}


def _logs() -> Json:
    bounds: Json = {"type": "integer", "minimum": 1, "exclusiveMaximum": PULL_REQUEST_BOUND}
    base_ref: Json = {"type": "string", "minLength": 1, "maxLength": BASE_REF_LIMIT}
    per_page: Json = {
        "type": "integer",
        "minimum": 1,
        "maximum": PER_PAGE_LIMIT,
        "default": PER_PAGE_DEFAULT,
    }
    operation = _operation(
        "EventLog",
        _query("pull_request", bounds),
        _query("base_ref", base_ref),
        _query("event_type", {"type": "array", "items": ref("EventType")}),
        _query("received_from", MOMENT),
        _query("received_to", MOMENT),
        _query("cursor", STRING),
        _query("per_page", per_page),
    )
    link: Json = {"description": "Pages by relation: next, prev, first, last", "schema": STRING}
    page: Json = {
        "description": "A page of the log, newest first",
        "headers": {"Link": link},
        "content": _content("EventLog"),
    }
    responses = _errors() | {"200": page}
    return operation | {"responses": responses}


def _operation(success: str | None, *parameters: Json) -> Json:
    """Describe an operation that answers with a component, or with 204 and no body."""
    if success is None:
        responses: Json = {"204": {"description": "Success without body"}}
    else:
        responses = {"200": {"description": "Success", "content": _content(success)}}
    return {"parameters": list(parameters), "responses": responses | _errors()}


def _errors() -> Json:
    described: Json = {}
    for status, meaning in _ERRORS.items():
        described[status] = {"description": meaning, "content": _content("Error")}
    return described


def _content(component: str) -> Json:
    return {"application/json": {"schema": ref(component)}}


def _body(component: str = "PauseRequest", *, is_required: bool = True) -> Json:
    return {"requestBody": {"required": is_required, "content": _content(component)}}


def _old(operation: Json) -> Json:
    return operation | {"deprecated": True}
