"""Text that every database can store."""

import re
from typing import Any

_NOT_STORABLE = re.compile("[\x00\ud800-\udfff]")
"""PostgreSQL stores no NUL in text, and a lone surrogate has no UTF-8 form."""


def storable(value: Any) -> Any:  # noqa: ANN401 - anything that JSON can hold
    """The value with U+FFFD for characters that no database can store."""
    if isinstance(value, str):
        return _NOT_STORABLE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {storable(name): storable(member) for name, member in value.items()}
    return [storable(member) for member in value] if isinstance(value, list) else value
