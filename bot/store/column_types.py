"""How domain values are stored as columns, the same on both databases."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from functools import lru_cache
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import BigInteger, Dialect, Text
from sqlalchemy.types import TypeDecorator, TypeEngine
from typing_extensions import TypeForm, override

from bot.domain.event_records import EventDetails
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import DigestTime

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

_NOT_STORABLE = re.compile("[\x00\ud800-\udfff]")
"""PostgreSQL stores no NUL in text, and a lone surrogate has no UTF-8 form."""

_Stored = TypeEngine[Any] | type[TypeEngine[Any]]


class UtcTime(TypeDecorator[datetime]):
    """An aware time as whole microseconds since 1970 in UTC.

    Integers compare and return exactly on both databases, whatever their time zone settings. A
    naive time is refused with ValueError.
    """

    impl: _Stored = BigInteger
    cache_ok: bool | None = True

    @override
    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        if value is None:
            return None
        try:
            return (value - EPOCH) // MICROSECOND
        except TypeError as error:
            raise ValueError("a stored time is aware") from error

    @override
    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        return None if value is None else EPOCH + value * MICROSECOND


class OutsideText(TypeDecorator[str]):
    """Text from outside: characters that no database can store become U+FFFD."""

    impl: _Stored = Text
    cache_ok: bool | None = True

    @override
    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else _NOT_STORABLE.sub("\ufffd", value)


class AsText(TypeDecorator[Any]):
    """A value stored as `str` writes it and `parse` reads it."""

    impl: _Stored = Text
    cache_ok: bool | None = True

    def __init__(self, parse: Callable[[str], object]) -> None:
        super().__init__()
        self.parse = parse

    @override
    def process_bind_param(self, value: object, dialect: Dialect) -> str | None:
        return None if value is None else str(value)

    @override
    def process_result_value(self, value: str | None, dialect: Dialect) -> object:
        return None if value is None else self.parse(value)

    @override
    def coerce_compared_value(self, op: Any, value: Any) -> TypeEngine[Any]:
        return self


def _digest_time(text: str) -> DigestTime:
    at, _, zone = text.partition(" ")
    return DigestTime(time.fromisoformat(at), zone)


Repository = AsText(RepositoryName)
DigestAt = AsText(_digest_time)


class Json(TypeDecorator[Any]):
    """A value of that type as JSON, in ASCII, so that any string fits."""

    impl: _Stored = Text
    cache_ok: bool | None = True

    def __init__(self, kind: TypeForm[Any]) -> None:
        super().__init__()
        self.kind = kind
        self._adapter: TypeAdapter[Any] = TypeAdapter(kind)

    @override
    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        return None if value is None else _compact(self._adapter.dump_python(value, mode="json"))

    @override
    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        return None if value is None else self._adapter.validate_python(json.loads(value))


class Details(TypeDecorator[EventDetails]):
    """The details of an event, as JSON."""

    impl: _Stored = Text
    cache_ok: bool | None = True

    @override
    def process_bind_param(self, value: EventDetails | None, dialect: Dialect) -> str | None:
        return None if value is None else _compact(value.stored())

    @override
    def process_result_value(self, value: str | None, dialect: Dialect) -> EventDetails | None:
        return None if value is None else EventDetails.model_validate(json.loads(value))


class SortedSet(TypeDecorator[frozenset[Any]]):
    """A set of words or numbers as a sorted JSON array, so that equal sets have equal text."""

    impl: _Stored = Text
    cache_ok: bool | None = True

    @override
    def process_bind_param(self, value: frozenset[Any] | None, dialect: Dialect) -> str:
        return _compact(sorted(value or ()))

    @override
    def process_result_value(self, value: str | None, dialect: Dialect) -> frozenset[Any]:
        return _members(value) if value else frozenset()


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


@lru_cache(maxsize=1000)
def _members(stored: str) -> frozenset[Any]:
    """Cached: most subscriptions have the same topics, and are read with each event."""
    return frozenset(json.loads(stored))
