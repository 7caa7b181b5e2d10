"""Many rows put into SQLite by few statements."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, repeat
from typing import NamedTuple

from bot.storage.execution.prepared import Columns, ForSqlite, processed

TOGETHER = 16
"""Rows that one statement inserts.

For each statement the database opens and closes the table and all its indices, which takes about as
long as to put a row into them. More rows together than these gain nothing more.
"""

WRITTEN = 64
"""Statements that are not written anew: one for each combination of columns that are None."""

_INSERT = re.compile(r"(INSERT INTO [^?]* VALUES )\(\?(?:, \?)*\)([^?]*)", re.DOTALL)


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
    nulls: list[bool] = []
    given: list[Iterable[object]] = []
    for name, otherwise, process in insert.slots:
        column = columns.get(name)
        if column is not None and not _is_same(column):
            nulls.append(False)
            given.append(column if process is None else map(process, column))
            continue
        if column is not None or name in same:
            value = processed(process, same[name] if column is None else column[0])
        else:
            value = otherwise
        nulls.append(value is None)
        given += [] if value is None else [repeat(value, length)]
    rows = list(zip(*given, strict=True)) if given else [()] * length
    return _runs(insert.sql, tuple(nulls), rows)


def _runs(sql: str, nulls: tuple[bool, ...], rows: Sequence[Sequence[object]]) -> list[Run]:
    whole = len(rows) - len(rows) % TOGETHER
    runs: list[Run] = []
    if whole:
        groups = [rows[start : start + TOGETHER] for start in range(0, whole, TOGETHER)]
        sets = [tuple(chain.from_iterable(group)) for group in groups]
        runs.append(Run(_written(sql, nulls, TOGETHER), sets, whole))
    if whole < len(rows):
        last = rows[whole:]
        runs.append(Run(_written(sql, nulls, 1), last, len(last)))
    return runs


@lru_cache(WRITTEN)
def _written(sql: str, nulls: tuple[bool, ...], rows: int) -> str:
    """An INSERT of one row as one of several, with what is None in all of them written into it.

    Of each None that it is given the driver asks anew whether something else is to be stored for
    it, which takes longer than to store a value. No value is given once for several places: that
    takes numbered ones, which the driver of Python 3.14 refuses without their names.
    """
    parts = _INSERT.fullmatch(sql)
    if parts is None:
        msg = f"not an INSERT of one row: {sql}"
        raise ValueError(msg)
    before, after = parts.groups()
    row = f"({', '.join('NULL' if is_null else '?' for is_null in nulls)})"
    return f"{before}{', '.join([row] * rows)}{after}"


def _is_same(column: Sequence[object]) -> bool:
    """Whether it is so in each row."""
    return column[0] is column[-1] and column.count(column[0]) == len(column)
