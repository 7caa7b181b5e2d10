"""The schema of all tables: naming rules, and columns that are the same on both databases."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import sqlalchemy as sa
from pydantic import TypeAdapter
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import TypeDecorator, TypeEngine
from typing_extensions import TypeForm, override

from bot.kernel.repository import RepositoryName
from bot.kernel.storable import storable
from bot.merge_queue.event_records import EventDetails

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

_Kind = TypeEngine[Any] | type[TypeEngine[Any]]

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


class StoredValue(TypeDecorator[Any]):
    """A value that `write` turns into a column's and `read` reads back; None is NULL."""

    impl: _Kind = sa.Text
    cache_ok: bool | None = True

    def __init__(self, write: Callable[[Any], object], read: Callable[[Any], object]) -> None:
        super().__init__()
        self.write = write
        self.read = read

    @override
    def process_bind_param(self, value: Any, dialect: sa.Dialect) -> Any:
        return None if value is None else self.write(value)

    @override
    def process_result_value(self, value: Any, dialect: sa.Dialect) -> Any:
        return None if value is None else self.read(value)


class StoredText(TypeDecorator[str]):
    """Text from outside, of which a database can store every character; it is read as it is."""

    impl: _Kind = sa.Text
    cache_ok: bool | None = True

    @override
    def process_bind_param(self, value: Any, dialect: sa.Dialect) -> Any:
        return None if value is None else storable(value)


class StoredJson(StoredValue):
    """A value stored as JSON."""

    cache_ok: bool | None = True


class StoredNumber(StoredValue):
    """A value stored as a number."""

    impl: _Kind = sa.BigInteger
    cache_ok: bool | None = True


def _microseconds(time: datetime) -> int:
    try:
        return (time - EPOCH) // MICROSECOND
    except TypeError as error:
        raise ValueError("a stored time is aware") from error


def compact(value: object) -> str:
    """The value as JSON that both databases can store."""
    text = json.dumps(value, separators=(",", ":"))
    is_storable = r"\u0000" not in text and r"\ud" not in text
    return text if is_storable else json.dumps(storable(value), separators=(",", ":"))


def as_text(read: Callable[[str], object]) -> StoredValue:
    return StoredValue(str, read)


def as_json(kind: TypeForm[Any]) -> StoredValue:
    # Built when it is first used, which saves time at start-up.
    adapter = cache(lambda: TypeAdapter[Any](kind))
    return StoredJson(
        lambda value: compact(adapter().dump_python(value, mode="json")),
        lambda text: adapter().validate_json(text),
    )


UtcTime = StoredNumber(_microseconds, lambda number: EPOCH + number * MICROSECOND)
"""An aware time as whole microseconds since 1970 in UTC, exact on both databases whatever their
time zone settings. A naive time is refused with ValueError."""

OutsideText = StoredText()

SortedSet = StoredJson(
    lambda members: compact(sorted(members)), lambda text: frozenset(json.loads(text))
)
"""A set of words or numbers as a sorted JSON array, so that equal sets have equal text."""

Details = StoredJson(lambda details: details.stored(), EventDetails.model_validate_json)
"""The details of an event, as JSON."""

Repository = as_text(RepositoryName)


def row_number(name: str) -> sa.Column[int]:
    """SQLite numbers rows by itself only in an INTEGER column, which holds 64 bits there."""
    return sa.Column(name, sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True)


def key(kind: _Kind, *names: str) -> Iterator[sa.Column[Any]]:
    return (sa.Column(name, kind, primary_key=True, autoincrement=False) for name in names)


def required(kind: _Kind, *names: str, default: object = None) -> Iterator[sa.Column[Any]]:
    return (sa.Column(name, kind, nullable=False, default=default) for name in names)


def optional(kind: _Kind, *names: str) -> Iterator[sa.Column[Any]]:
    return (sa.Column(name, kind) for name in names)


def table(name: str, comment: str, *items: SchemaItem) -> sa.Table:
    """A table; SQLite gives no number of a deleted row again."""
    made = sa.Table(name, metadata, *items, comment=comment)
    made.dialect_options["sqlite"]["autoincrement"] = made.autoincrement_column is not None
    return made


def partial_index(
    *columns: sa.Column[Any], where: sa.ColumnElement[bool] | sa.TextClause, unique: bool = False
) -> sa.Index:
    return sa.Index(None, *columns, unique=unique, sqlite_where=where)


def require_all_tables() -> None:
    """Raise RuntimeError unless `bot.runtime.schema` was imported, which knows every table."""
    if not metadata.info.get("is_complete"):
        raise RuntimeError("bot.runtime.schema was not imported, so tables are missing")
