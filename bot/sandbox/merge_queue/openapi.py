"""The OpenAPI document that the sandbox publishes about itself."""

from collections.abc import Sequence

from bot.sandbox.merge_queue.openapi_schemas import MOMENT, STRING, SchemaWriter, ref
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
    """Write the document: the 13 endpoints with their parameters, bodies and answers."""
    pause, old_pause = f"{_REPOSITORY}/merge-queue/pause", f"{_REPOSITORY}/queue/pause"
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
        },
        "components": {
            "schemas": SchemaWriter(dialect, event_types).schemas(),
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def _path(**operations: Json) -> Json:
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
    path: Json = {"parameters": shared}
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


def _body() -> Json:
    return {"requestBody": {"required": True, "content": _content("PauseRequest")}}


def _old(operation: Json) -> Json:
    return operation | {"deprecated": True}
