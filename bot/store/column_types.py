"""How domain values are stored as columns, the same on both databases."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, time, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import Any, Generic, TypeVar

from pydantic import JsonValue
from pydantic_core import PydanticSerializationError, from_json, to_json
from sqlalchemy import BigInteger, Dialect, Text
from sqlalchemy.types import TypeDecorator, TypeEngine
from typing_extensions import override

from bot.domain.event_records import EventDetails
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import DigestTime

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

_NOT_STORABLE = re.compile("[\x00\ud800-\udfff]")
"""PostgreSQL stores no NUL in text, and a lone surrogate has no UTF-8 form."""

_Word = TypeVar("_Word", bound=StrEnum)
_Stored = TypeEngine[Any] | type[TypeEngine[Any]]


class UtcTime(TypeDecorator[datetime]):
    """An aware time as whole microseconds since 1970 in UTC.

    Integers compare and return exactly on both databases, whatever their time zone settings. A
    naive time is refused with ValueError.
    """

    impl: _Stored = BigInteger
    cache_ok: bool | None = True

    @override
    def process_bind_param(
        self, value: datetime | None, dialect: Dialect | None = None
    ) -> int | None:
        if value is None:
            return None
        try:
            return (value - EPOCH) // MICROSECOND
        except TypeError as error:
            raise ValueError("a stored time is aware") from error

    @override
    def process_result_value(
        self, value: int | None, dialect: Dialect | None = None
    ) -> datetime | None:
        return None if value is None else EPOCH + value * MICROSECOND


def is_storable(text: str) -> bool:
    """Whether it surely is stored as it is; other text may be, too."""
    return text.isascii() and "\x00" not in text


class OutsideText(TypeDecorator[str]):
    """Text that others wrote: what no database can store becomes U+FFFD instead of an error."""

    impl: _Stored = Text
    cache_ok: bool | None = True

    @override
    def process_bind_param(self, value: str | None, dialect: Dialect | None = None) -> str | None:
        # Nearly all of it: to look for characters that are not there takes longer.
        if value is None or is_storable(value):
            return value
        return _NOT_STORABLE.sub("\ufffd", value)


class CompactJson(TypeDecorator[JsonValue]):
    """JSON as ASCII text without spaces. ASCII, so that any string of the outside fits."""

    impl: _Stored = Text
    cache_ok: bool | None = True

    @override
    def process_bind_param(
        self, value: JsonValue | Mapping[str, Any], dialect: Dialect | None = None
    ) -> str:
        try:
            written = to_json(value)
        except PydanticSerializationError:  # half of a surrogate pair
            return json.dumps(value, separators=(",", ":"))
        if written.isascii():
            return written.decode("ascii")
        return json.dumps(value, separators=(",", ":"))

    @override
    def process_result_value(self, value: str | None, dialect: Dialect | None = None) -> JsonValue:
        if value is None:
            return None
        read: JsonValue
        try:
            read = from_json(value)
        except ValueError:  # the escape of half of a surrogate pair
            read = json.loads(value)
        return read


class Details(CompactJson):
    """What an event tells."""

    @override
    def process_bind_param(self, value: Any, dialect: Dialect | None = None) -> str:
        return super().process_bind_param(value.stored(), dialect)

    @override
    def process_result_value(self, value: str | None, dialect: Dialect | None = None) -> Any:
        return EventDetails.model_validate(super().process_result_value(value, dialect))


class SortedSet(TypeDecorator[frozenset[Any]]):
    """A set of words or numbers as a sorted JSON array, so that equal sets are stored equal."""

    impl: _Stored = Text
    cache_ok: bool | None = True

    @override
    def process_bind_param(
        self, value: frozenset[Any] | None, dialect: Dialect | None = None
    ) -> str:
        return json.dumps(sorted(value or ()), separators=(",", ":"))

    @override
    def process_result_value(
        self, value: str | None, dialect: Dialect | None = None
    ) -> frozenset[Any]:
        return _members(value) if value else frozenset()


@lru_cache(maxsize=1000)
def _members(stored: str) -> frozenset[Any]:
    """Most subscriptions have the same, and each is read with each event."""
    return frozenset(json.loads(stored))


class DigestAt(TypeDecorator[DigestTime]):
    """A time of day in a time zone, as it is typed: "09:00 Europe/Paris"."""

    impl: _Stored = Text
    cache_ok: bool | None = True

    @override
    def process_bind_param(
        self, value: DigestTime | None, dialect: Dialect | None = None
    ) -> str | None:
        return None if value is None else str(value)

    @override
    def process_result_value(
        self, value: str | None, dialect: Dialect | None = None
    ) -> DigestTime | None:
        if value is None:
            return None
        at, _, zone = value.partition(" ")
        return DigestTime(time.fromisoformat(at), zone)


class Repository(TypeDecorator[RepositoryName]):
    """A repository by its name; stored names were parsed before they came here."""

    impl: _Stored = Text
    cache_ok: bool | None = True

    @override
    def process_bind_param(
        self, value: RepositoryName | None, dialect: Dialect | None = None
    ) -> str | None:
        return None if value is None else str(value)

    @override
    def process_result_value(
        self, value: str | None, dialect: Dialect | None = None
    ) -> RepositoryName | None:
        return None if value is None else RepositoryName(value)


class Word(TypeDecorator[_Word], Generic[_Word]):
    """One of a domain enumeration's words."""

    impl: _Stored = Text
    cache_ok: bool | None = True

    def __init__(self, words: type[_Word]) -> None:
        super().__init__()
        self.words = words

    @override
    def process_bind_param(self, value: _Word | None, dialect: Dialect | None = None) -> str | None:
        return None if value is None else value.value

    @override
    def process_result_value(
        self, value: str | None, dialect: Dialect | None = None
    ) -> _Word | None:
        return None if value is None else self.words(value)

    @override
    def coerce_compared_value(self, op: Any, value: Any) -> TypeEngine[Any]:
        return self
