"""The vendor's published schemas of responses, in two versions.

`april` is the one of the API document's days, `august` the latest known. The files hold the shapes
of the vendor's OpenAPI document (2026-04-07 and 2026-08-17) without its prose: one schema a line.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator

VINTAGES = ("april", "august")

_TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=12)
_FORMATS: Mapping[str, st.SearchStrategy[str]] = {
    "date-time": st.integers(1_600_000_000, 1_900_000_000).map(
        lambda at: datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")
    ),
    "uuid": st.uuids().map(str),
    "uuid4": st.uuids(version=4).map(str),
}
_SCALARS: Mapping[str, st.SearchStrategy[Any]] = {
    "integer": st.integers(0, 2**31),
    "number": st.floats(0, 1e9),
    "boolean": st.booleans(),
    "null": st.none(),
}
_LEAST: Mapping[str, Any] = {
    "date-time": "2026-07-20T11:59:00Z",
    "uuid": "c0ffee00-0000-4000-8000-000000000009",
    "string": "",
    "integer": 0,
    "boolean": False,
    "array": [],
}


@cache
def shapes(vintage: str) -> Mapping[str, Any]:
    """The published schemas by name."""
    path = Path(__file__).parent / "samples" / f"published_{vintage}.json"
    shapes: Mapping[str, Any] = json.loads(path.read_text("utf-8"))
    return shapes


@cache
def event_shapes(vintage: str) -> Mapping[str, str]:
    """The name of the schema of each event type."""
    of_one = shapes(vintage)["EventsResponse"]["properties"]["events"]["items"]["oneOf"]
    names = [_name(one) for one in of_one]
    return {shapes(vintage)[name]["properties"]["type"]["const"]: name for name in names}


def problems(vintage: str, name: str, sent: object) -> list[str]:
    """Where `sent` is not of the published shape."""
    found = _validator(vintage, name).iter_errors(sent)
    return [f"{error.instance_path}: {error.message}" for error in found]


@cache
def _validator(vintage: str, name: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": shapes(vintage)})


def answers(vintage: str, name: str) -> st.SearchStrategy[Any]:
    """Anything that the published schema `name` allows, with and without what is optional."""
    return _named(vintage, name)


@cache
def _named(vintage: str, name: str) -> st.SearchStrategy[Any]:
    return st.deferred(lambda: _made(vintage, shapes(vintage)[name]))


def _made(vintage: str, schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    if "$ref" in schema:
        return _named(vintage, _name(schema))
    if several := schema.get("anyOf", schema.get("oneOf")):
        return st.one_of([_made(vintage, one) for one in several])
    if given := [schema["const"]] if "const" in schema else schema.get("enum"):
        return st.sampled_from(given)
    return _of_type(vintage, schema)


def _of_type(vintage: str, schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    match schema.get("type"):
        case None:
            return st.none() | _TEXTS
        case "array":
            return st.lists(_made(vintage, schema.get("items", {})), max_size=2)
        case "object":
            return _objects(vintage, schema)
        case "string":
            return _FORMATS.get(schema.get("format", ""), _TEXTS)
        case scalar:
            return _SCALARS[scalar]


def _name(schema: Mapping[str, Any]) -> str:
    return str(schema["$ref"].rpartition("/")[2])


def _objects(vintage: str, schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    fields = {name: _made(vintage, one) for name, one in schema.get("properties", {}).items()}
    if not fields and "additionalProperties" in schema:
        values = schema["additionalProperties"]
        return st.dictionaries(_TEXTS, _made(vintage, {} if values is True else values), max_size=2)
    required = {name: fields[name] for name in schema.get("required", ())}
    return st.fixed_dictionaries(
        required, optional={name: one for name, one in fields.items() if name not in required}
    )


def metadata_shape(vintage: str, event_type: str) -> str | None:
    """The name of the schema of an event type's metadata; None when it isn't published."""
    name = event_shapes(vintage).get(event_type)
    if name is None:
        return None
    of_metadata = shapes(vintage)[name]["properties"]["metadata"]
    return _name(of_metadata)


def completed(vintage: str, name: str, sent: Mapping[str, Any]) -> dict[str, Any]:
    """`sent` with the required fields that it lacks: null, empty or false, as may be."""
    whole: dict[str, Any] = _completed(vintage, shapes(vintage)[name], dict(sent))
    return whole


def _completed(vintage: str, schema: Mapping[str, Any], sent: object) -> Any:
    for one in schema.get("anyOf", ()):
        if ("$ref" in one or one.get("type") == "array") and sent is not None:
            return _completed(vintage, one, sent)
    if "$ref" in schema:
        return _completed(vintage, shapes(vintage)[_name(schema)], sent)
    if isinstance(sent, list):
        return [_completed(vintage, schema.get("items", {}), one) for one in sent]
    fields = schema.get("properties")
    if not isinstance(sent, dict) or fields is None:
        return sent
    reported = {name: _completed(vintage, fields.get(name, {}), one) for name, one in sent.items()}
    lacking = [name for name in schema.get("required", ()) if name not in reported]
    return reported | {name: _least(vintage, fields[name]) for name in lacking}


def _least(vintage: str, schema: Mapping[str, Any]) -> Any:
    if "$ref" in schema:
        return _least(vintage, shapes(vintage)[_name(schema)])
    if "anyOf" in schema:
        null = {"type": "null"}
        return None if null in schema["anyOf"] else _least(vintage, schema["anyOf"][0])
    if "enum" in schema:
        return schema["enum"][0]
    if schema["type"] == "object":
        return _completed(vintage, schema, {})
    return _LEAST[schema.get("format", schema["type"])]
