"""Statements put together once, and run with other values each time.

To put a statement together costs more than all else about it, and what runs with each event, post
and poll runs often. On SQLite such a statement goes to the driver without anything in between.
"""

from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from sqlalchemy import BindParameter, ColumnElement, Dialect, Executable, Table, bindparam
from sqlalchemy.dialects import sqlite
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.types import TypeDecorator, TypeEngine

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql

    Insert: TypeAlias = sqlite.Insert | postgresql.Insert

Insertion = Callable[[Table], "Insert"]
Process = Callable[[Any], Any]
Columns = Mapping[str, Sequence[object]]
"""Values for many rows by their names: as many for each name as there are rows."""

LARGEST_LIST = 512
"""Values in one list; far below both databases' limit of 32,766."""


def insert_on(*, is_sqlite: bool) -> Insertion:
    """An INSERT that can say what to do with a row that exists."""
    if is_sqlite:
        return sqlite.insert
    # Its import brings all of PostgreSQL's drivers with it.
    insert: Insertion = import_module("sqlalchemy.dialects.postgresql").insert
    return insert


class Prepared:
    """`build` makes the statement, with `bindparam` for what changes, for one of the databases."""

    def __init__(self, build: Callable[[Insertion], Executable]) -> None:
        self._build = build

    @cached_property
    def of_postgresql(self) -> Executable:
        return self._build(insert_on(is_sqlite=False))

    @cached_property
    def _of_sqlite(self) -> Executable:
        return self._build(insert_on(is_sqlite=True))

    def for_sqlite(self, dialect: Dialect) -> "ForSqlite":
        """`dialect` is the same each time, but for what changes nothing here."""
        return self._compiled or self._compile(dialect)

    _compiled: "ForSqlite | None" = None

    def _compile(self, dialect: Dialect) -> "ForSqlite":
        self._compiled = ForSqlite.of(self._of_sqlite, dialect)
        return self._compiled


class PreparedInsert:
    """An INSERT that passes over the rows that are there; `key` is a column that tells them apart.

    SQLite counts what it inserts. PostgreSQL, given many rows at once, only tells their keys.
    """

    def __init__(
        self, build: Callable[[Insertion], "Insert"], key: Callable[[], ColumnElement[Any]]
    ) -> None:
        self.counting = Prepared(build)
        self.telling = Prepared(lambda insert: build(insert).returning(key()))


class PreparedList:
    """A statement with a list of values, prepared for some lengths; shorter lists are filled up."""

    def __init__(
        self,
        name: str,
        value_type: TypeEngine[Any],
        build: Callable[[Insertion, list[BindParameter[Any]]], Executable],
    ) -> None:
        self._name = name
        self._type = value_type
        self._build = build

    def of(self, values: Iterable[object]) -> Iterable[tuple[Prepared, Mapping[str, object]]]:
        """What to run, and the list's values by their names; nothing for an empty list."""
        wanted = list(values)
        for start in range(0, len(wanted), LARGEST_LIST):
            some = wanted[start : start + LARGEST_LIST]
            length = 1 << (len(some) - 1).bit_length()
            some += some[-1:] * (length - len(some))
            yield self._prepared(length), {f"{self._name}_{k}": one for k, one in enumerate(some)}

    @cache  # noqa: B019  # these are constants of modules, and there are ten lengths
    def _prepared(self, length: int) -> Prepared:
        names = [f"{self._name}_{k}" for k in range(length)]
        return Prepared(
            lambda insert: self._build(insert, [bindparam(one, type_=self._type) for one in names])
        )


@dataclass(frozen=True, slots=True)
class ForSqlite:
    """A statement as the driver takes it.

    `slots`: for each value its name, what it is when none is given, and what makes it the
    driver's. `row`: makes a row of a statement that reads.
    """

    sql: str
    names: frozenset[str]
    slots: Sequence[tuple[str, object, Process | None]]
    row: Callable[[Iterable[Any]], Any] | None
    from_driver: Sequence[tuple[int, Process]]

    @classmethod
    def of(cls, statement: Executable, dialect: Dialect) -> "ForSqlite":
        # All that is run can be compiled, which the library's types do not say.
        compiled: SQLCompiler = cast("Any", statement).compile(dialect=dialect)
        names = compiled.positiontup or []
        to_driver = {
            name: _bind_processor(bind.type, dialect) for name, bind in compiled.binds.items()
        }
        given = compiled.params
        columns = _columns_of(statement)
        from_driver = [
            (index, process)
            for index, column in enumerate(columns)
            if (process := _result_processor(column.type, dialect)) is not None
        ]
        return cls(
            str(compiled),
            frozenset(names),
            [(name, processed(to_driver[name], given[name]), to_driver[name]) for name in names],
            _row_of([column.key for column in columns]) if columns else None,
            from_driver,
        )

    def parameters(self, values: Mapping[str, object]) -> tuple[object, ...]:
        """Raises KeyError for a value that the statement does not take."""
        if not self.names.issuperset(values):
            raise KeyError(*sorted(values.keys() - self.names))
        return tuple(
            [
                given
                if name not in values
                else values[name]
                if process is None
                else process(values[name])
                for name, given, process in self.slots
            ]
        )

    def rows(self, found: Sequence[Sequence[Any]]) -> list[Any]:
        make = self.row
        if make is None or not found:
            return []
        if not self.from_driver:
            return [make(each) for each in found]
        columns: list[Iterable[Any]] = list(zip(*found, strict=True))
        for index, process in self.from_driver:
            columns[index] = map(process, columns[index])
        return [make(each) for each in zip(*columns, strict=True)]


def processed(process: Process | None, value: object) -> object:
    return value if process is None else process(value)


def _columns_of(statement: Executable) -> Sequence[Any]:
    """Of what is read, and of what RETURNING names."""
    return list(cast("Any", statement).exported_columns)


def _row_of(names: Sequence[str]) -> Callable[[Iterable[Any]], Any]:
    made = cast("Any", namedtuple)("Row", names)  # noqa: PYI024  # the names are those of columns
    make: Callable[[Iterable[Any]], Any] = made._make
    return make


def _result_processor(column_type: TypeEngine[Any], dialect: Dialect) -> Process | None:
    known = column_type.dialect_impl(dialect)
    # SQLite tells no types of its own with what it reads.
    process: Process | None = known.result_processor(dialect, None)
    if (
        isinstance(known, TypeDecorator)
        and type(known).process_result_value is not TypeDecorator.process_result_value
        and known.impl_instance.result_processor(dialect, None) is None
    ):
        return cast("Process", known.process_result_value)
    return process


def _bind_processor(value_type: TypeEngine[Any], dialect: Dialect) -> Process | None:
    """One of our own types is asked without what the library has around it, and no dialect."""
    known = value_type.dialect_impl(dialect)
    process: Process | None = known.bind_processor(dialect)
    if (
        isinstance(known, TypeDecorator)
        and type(known).process_bind_param is not TypeDecorator.process_bind_param
        and known.impl_instance.bind_processor(dialect) is None
    ):
        return cast("Process", known.process_bind_param)
    return process
