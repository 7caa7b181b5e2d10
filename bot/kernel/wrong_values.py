"""Plain sentences for why pydantic refuses a value."""

from pydantic_core import ErrorDetails

WRONG_TYPES = {
    "bool_parsing": "neither true nor false",
    "bool_type": "neither true nor false",
    "finite_number": "not a number",
    "float_parsing": "not a number",
    "float_type": "not a number",
    "int_from_float": "not a whole number",
    "int_parsing": "not a whole number",
    "int_parsing_size": "not a whole number",
    "int_type": "not a whole number",
    "missing": "is missing",
    "string_pattern_mismatch": "not such a value",
    "string_too_long": "too long",
    "string_too_short": "empty",
    "string_type": "not text",
    "time_delta_parsing": "not a length of time",
    "time_delta_type": "not a length of time",
    "too_short": "empty",
    "tuple_type": "not a list",
}
"""By pydantic's types (https://docs.pydantic.dev/latest/errors/validation_errors)."""

LIMITS = {
    "greater_than": ("gt", "not more than {}"),
    "greater_than_equal": ("ge", "less than {}"),
    "less_than": ("lt", "not less than {}"),
    "less_than_equal": ("le", "more than {}"),
}
"""By pydantic's types: where it has the limit, and what to say of it."""


def why_refused(error: ErrorDetails) -> str:
    """Why pydantic refuses a value."""
    kind = error["type"]
    context = error.get("ctx") or {}
    if kind == "value_error":
        return str(context["error"])
    if kind in LIMITS:
        name, words = LIMITS[kind]
        return words.format(f"{context[name]:,g}")
    return WRONG_TYPES.get(kind, "not such a value")
