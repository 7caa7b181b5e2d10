"""The OpenAPI document of the HTTP API, made from the shapes of its requests and answers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel, JsonValue
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from bot.kernel.attribute_docstrings import attribute_docstrings
from bot.machines import requests
from bot.machines.answers import (
    Acted,
    Answer,
    LogAnswer,
    OutcomeShape,
    Pending,
    Problem,
    Shape,
    StatusAnswer,
    WhyPullRequestAnswer,
    WhyQueueAnswer,
)

VERSION = "1"
PREFIX = f"/api/v{VERSION}/"
DOCUMENT = f"{PREFIX}openapi.json"
OUTCOME_PATH = f"{PREFIX}outcome/{{request}}"

_REFERENCE = "#/components/schemas/{model}"
_ACTED = frozenset({HTTPStatus.OK, HTTPStatus.CONFLICT, HTTPStatus.BAD_GATEWAY})
"""Done or nothing to do, something else in the way, failed for a part of the target."""

_PROBLEMS = (
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.FORBIDDEN,
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNPROCESSABLE_ENTITY,
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.SERVICE_UNAVAILABLE,
)

_MEANT_BY = {
    HTTPStatus.OK: "It is done, or there was nothing to do; or it is read.",
    HTTPStatus.ACCEPTED: "It isn't over yet: ask for the outcome at the address in `Location`.",
    HTTPStatus.CONFLICT: "Something else is in force, and stays.",
    HTTPStatus.BAD_GATEWAY: "It failed, for a part of the target or for all of it.",
    HTTPStatus.BAD_REQUEST: "The body is no JSON object, or a field doesn't fit.",
    HTTPStatus.UNAUTHORIZED: "The token is missing or unknown.",
    HTTPStatus.FORBIDDEN: "The token doesn't permit this.",
    HTTPStatus.NOT_FOUND: "No such request is known.",
    HTTPStatus.REQUEST_TIMEOUT: "The body didn't arrive in time.",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "The body is too large.",
    HTTPStatus.UNPROCESSABLE_ENTITY: "A value isn't accepted, here or by the service.",
    HTTPStatus.TOO_MANY_REQUESTS: "Too many requests in a short time, or too many open ones.",
    HTTPStatus.SERVICE_UNAVAILABLE: "It can't be done now; try again.",
}


@dataclass(frozen=True, slots=True)
class Operation:
    """One path to POST to."""

    name: str
    body: type[requests.MachineRequest]
    answers: tuple[type[Answer], ...]
    is_act: bool

    @property
    def summary(self) -> str:
        return (self.body.__doc__ or "").partition("\n")[0]


OPERATIONS: Sequence[Operation] = (
    Operation("pause", requests.PauseRequest, (Acted,), is_act=True),
    Operation("resume", requests.ResumeRequest, (Acted,), is_act=True),
    Operation("freeze", requests.FreezeRequest, (Acted,), is_act=True),
    Operation("unfreeze", requests.UnfreezeRequest, (Acted,), is_act=True),
    Operation("allow", requests.AllowRequest, (Acted,), is_act=True),
    Operation("status", requests.StatusRequest, (StatusAnswer,), is_act=False),
    Operation("why", requests.WhyRequest, (WhyQueueAnswer, WhyPullRequestAnswer), is_act=False),
    Operation("log", requests.LogRequest, (LogAnswer,), is_act=False),
)


@cache
def document() -> JsonValue:
    """What `/api/v1/openapi.json` answers."""
    paths: dict[str, JsonValue] = {
        f"{PREFIX}{operation.name}": {"post": _posted(operation)} for operation in OPERATIONS
    }
    paths[OUTCOME_PATH] = {"get": _outcome_operation()}
    schemas = _schemas()
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "mqbot",
            "version": VERSION,
            "description": "Pause, freeze and read merge queues through a running mqbot.",
        },
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _posted(operation: Operation) -> JsonValue:
    answers: dict[str, JsonValue] = {}
    statuses = _ACTED if operation.is_act else {HTTPStatus.OK}
    for status in sorted(statuses):
        answers[str(status.value)] = _response(status, *operation.answers)
    if operation.is_act:
        answers[str(HTTPStatus.ACCEPTED.value)] = _response(HTTPStatus.ACCEPTED, Pending)
    return {
        "operationId": operation.name,
        "summary": operation.summary,
        "requestBody": {"required": True, "content": _content(operation.body)},
        "responses": {**answers, **_problems()},
    }


def _outcome_operation() -> JsonValue:
    return {
        "operationId": "outcome",
        "summary": "Says what became of an act, and waits up to ten seconds for it.",
        "parameters": [
            {"name": "request", "in": "path", "required": True, "schema": {"type": "string"}}
        ],
        "responses": {
            str(HTTPStatus.OK.value): _response(HTTPStatus.OK, OutcomeShape),
            str(HTTPStatus.ACCEPTED.value): _response(HTTPStatus.ACCEPTED, Pending),
            str(HTTPStatus.NOT_FOUND.value): _response(HTTPStatus.NOT_FOUND, Problem),
            **_problems(),
        },
    }


def _problems() -> dict[str, JsonValue]:
    return {str(status.value): _response(status, Problem) for status in _PROBLEMS}


def _response(status: HTTPStatus, *shapes: type[Answer]) -> JsonValue:
    return {"description": _MEANT_BY[status], "content": _content(*shapes)}


def _content(*shapes: type[BaseModel]) -> JsonValue:
    references: list[JsonValue] = [
        {"$ref": _REFERENCE.format(model=shape.__name__)} for shape in shapes
    ]
    schema: JsonValue = {"anyOf": references} if references[1:] else references[0]
    return {"application/json": {"schema": schema}}


def _schemas() -> JsonValue:
    sent: JsonSchemaMode = "validation"
    answered: JsonSchemaMode = "serialization"
    shapes: list[tuple[type[BaseModel], JsonSchemaMode]] = []
    for operation in OPERATIONS:
        shapes.append((operation.body, sent))
        shapes += [(shape, answered) for shape in operation.answers]
    shapes += [(shape, answered) for shape in (Pending, OutcomeShape, Problem)]
    _, found = models_json_schema(shapes, ref_template=_REFERENCE)
    schemas: dict[str, Any] = found["$defs"]
    for shape in _all_of(Shape, requests.MachineRequest):
        for name, text in attribute_docstrings(shape).items():
            fields = schemas.get(shape.__name__, {}).get("properties", {})
            if name in fields:
                fields[name] = dict(sorted({**fields[name], "description": text}.items()))
    return schemas


def _all_of(*bases: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for base in bases:
        yield base
        yield from _all_of(*base.__subclasses__())
