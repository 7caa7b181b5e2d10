"""The schema of all tables: naming rules and common kinds of columns."""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Index,
    Integer,
    MetaData,
)
from sqlalchemy.sql.elements import TextClause
from sqlalchemy.types import TypeEngine

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

_Kind = TypeEngine[Any] | type[TypeEngine[Any]]


def row_number(name: str) -> Column[int]:
    """SQLite numbers rows by itself only in an INTEGER column, which holds 64 bits there."""
    return Column(name, BigInteger().with_variant(Integer, "sqlite"), primary_key=True)


def key(kind: _Kind, *names: str) -> Iterator[Column[Any]]:
    """Columns of the primary key."""
    return (Column(name, kind, primary_key=True, autoincrement=False) for name in names)


def required(kind: _Kind, *names: str) -> Iterator[Column[Any]]:
    return (Column(name, kind, nullable=False) for name in names)


def optional(kind: _Kind, *names: str) -> Iterator[Column[Any]]:
    return (Column(name, kind) for name in names)


def partial_index(
    *columns: Column[Any], where: ColumnElement[bool] | TextClause, unique: bool = False
) -> Index:
    """A partial index.

    PostgreSQL's own argument would import SQLAlchemy's whole PostgreSQL side, which slows a start
    on SQLite. The migrations create the schema, and set it for both databases.
    """
    return Index(None, *columns, unique=unique, sqlite_where=where)
