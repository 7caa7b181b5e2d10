"""What a database makes of a value on its way through."""

import re
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

_NOT_STORABLE = re.compile("[\x00\ud800-\udfff]")

_T = TypeVar("_T")


def as_stored(value: _T) -> _T:
    """The same with all times in UTC and no character that a database cannot store.

    Raises ValueError for a naive time.
    """
    stored: Any = value
    if isinstance(value, datetime):
        if value.utcoffset() is None:
            raise ValueError("a stored time is aware")
        stored = value.astimezone(UTC)
    elif type(value) is str:
        stored = _NOT_STORABLE.sub("\ufffd", str(value))
    elif is_dataclass(value) and not isinstance(value, type):
        changes = {each.name: as_stored(getattr(value, each.name)) for each in fields(value)}
        stored = replace(value, **changes)
    return stored  # type: ignore[no-any-return]  # each branch gives back the type it was given
