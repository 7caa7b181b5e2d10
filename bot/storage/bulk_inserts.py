"""Many rows put into SQLite by few statements."""

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from bot.storage.prepared import Columns, ForSqlite, processed

TOGETHER = 16
"""Rows that one statement inserts.

For each statement the database opens and closes the table and all its indices, which takes about as
long as to put a row into them. More rows together than these gain nothing more.
"""

WRITTEN = 64
"""Statements that are not written anew: one for each combination of what rows have in common."""

_INSERT = re.compile(r"(INSERT INTO [^?]* VALUES )\(\?(?:, \?)*\)([^?]*)", re.DOTALL)


class _Value(StrEnum):
    """Where the values of a column stand: in each row, once for all rows, or in the statement.

    Only None is written into the statement: of each that it is given the driver asks anew whether
    something else is to be stored for it, which takes longer than to store a value.
    """

    OF_ROW = "of row"
    OF_ALL = "of all"
    NONE = "none"


class Run(NamedTuple):
    """A statement, its parameters for each time that it is to be run, and how much that changes."""

    sql: str
    sets: Sequence[Sequence[object]]
    rows: int


def runs_of(insert: ForSqlite, columns: Columns, same: Mapping[str, object]) -> list[Run]:
    """What inserts a row for each value of the columns; `same` is so in all rows.

    Raises KeyError for a value that the statement does not take.
    """
    if not insert.names.issuperset(columns) or not insert.names.issuperset(same):
        raise KeyError(*sorted((columns.keys() | same.keys()) - insert.names))
    length = len(next(iter(columns.values())))
    values: list[_Value] = []
    of_all: list[object] = []
    of_rows: list[Iterable[object]] = []
    for name, given, process in insert.slots:
        column = columns.get(name)
        if column is not None and not _is_same(column):
            values.append(_Value.OF_ROW)
            of_rows.append(column if process is None else map(process, column))
            continue
        if column is not None or name in same:
            value = processed(process, same[name] if column is None else column[0])
        else:
            value = given
        values.append(_Value.NONE if value is None else _Value.OF_ALL)
        of_all += [] if value is None else [value]
    rows = list(zip(*of_rows, strict=True)) if of_rows else [()] * length
    return _runs(insert.sql, tuple(values), of_all, rows)


def _runs(
    sql: str, values: tuple[_Value, ...], of_all: Sequence[object], rows: Sequence[Sequence[object]]
) -> list[Run]:
    whole = len(rows) - len(rows) % TOGETHER
    runs: list[Run] = []
    if whole:
        groups = [rows[start : start + TOGETHER] for start in range(0, whole, TOGETHER)]
        sets = [(*of_all, *chain.from_iterable(group)) for group in groups]
        runs.append(Run(_written(sql, values, TOGETHER), sets, whole))
    if whole < len(rows):
        sets = [(*of_all, *row) for row in rows[whole:]]
        runs.append(Run(_written(sql, values, 1), sets, len(sets)))
    return runs


@lru_cache(WRITTEN)
def _written(sql: str, values: tuple[_Value, ...], rows: int) -> str:
    """An INSERT of one row as one of several, to which what they have in common is given once."""
    parts = _INSERT.fullmatch(sql)
    if parts is None:
        msg = f"not an INSERT of one row: {sql}"
        raise ValueError(msg)
    before, after = parts.groups()
    of_all = iter(range(1, len(values) + 1))
    shared = {place: next(of_all) for place, one in enumerate(values) if one is _Value.OF_ALL}
    of_rows = iter(range(len(shared) + 1, len(shared) + rows * len(values) + 1))

    def written(place: int, value: _Value) -> str:
        if value is _Value.NONE:
            return "NULL"
        return f"?{shared[place] if value is _Value.OF_ALL else next(of_rows)}"

    each = (", ".join(written(*one) for one in enumerate(values)) for _ in range(rows))
    return f"{before}{', '.join(f'({row})' for row in each)}{after}"


def _is_same(column: Sequence[object]) -> bool:
    """Whether it is so in each row."""
    return column[0] is column[-1] and column.count(column[0]) == len(column)
