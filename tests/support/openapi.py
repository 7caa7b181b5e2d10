"""Whether an answer is as an OpenAPI document says."""

import re
from typing import Any

from jsonschema_rs import Draft202012Validator


def require_documented(document: Any, method: str, path: str, status: int, answer: object) -> None:
    """Fail if the document has no such answer, or describes it otherwise."""
    operation = _operation(document, path)[method]
    assert str(status) in operation["responses"], f"{method} {path} answers {status}: unknown"
    described = operation["responses"][str(status)]["content"]["application/json"]["schema"]
    # References lead from the root of what is validated.
    schema = {**described, "components": document["components"]}
    problems = [error.message for error in Draft202012Validator(schema).iter_errors(answer)]
    assert not problems, f"{method} {path} {status}: {problems}"


def _operation(document: Any, path: str) -> Any:
    for pattern, operations in document["paths"].items():
        if re.fullmatch(re.sub(r"\{[^}]+\}", "[^/]+", pattern), path):
            return operations
    raise AssertionError(f"{path} isn't in the document")
