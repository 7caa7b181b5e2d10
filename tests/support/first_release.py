"""The schema of the first release, as statements, from today's tables.

Once it is released, its files never change again: then this module goes.
"""

from collections.abc import Iterator

from sqlalchemy import Dialect, make_url
from sqlalchemy.schema import CreateIndex, CreateTable, ExecutableDDLElement, SetTableComment

import bot.runtime.schema  # noqa: F401 - it makes all tables known
from bot.store.protection import AUDIT_REFUSES_CHANGES
from bot.store.schema import metadata

HEAD = """\
-- The schema of revision 0001_initial. It changes until the first release, then never.
-- `python -m tests.documentation` writes it.
"""

REVISION = (
    (
        "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, "
        "CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
    ),
    "INSERT INTO alembic_version VALUES ('0001_initial')",
)


def sqlite_schema() -> str:
    return _schema(make_url("sqlite://").get_dialect()())


def postgresql_schema() -> str:
    return _schema(make_url("postgresql+psycopg://").get_dialect()())


def _schema(dialect: Dialect) -> str:
    made = [_as_written(element, dialect) for element in _elements(dialect)]
    statements = [*made, *AUDIT_REFUSES_CHANGES[dialect.name], *REVISION]
    return HEAD + "".join(f"{statement};\n" for statement in statements)


def _elements(dialect: Dialect) -> Iterator[ExecutableDDLElement]:
    for table in metadata.sorted_tables:
        yield CreateTable(table)
        if dialect.name == "postgresql" and table.comment:
            yield SetTableComment(table)
        for index in sorted(table.indexes, key=lambda each: str(each.name)):
            # As `bot.store.migrate` does.
            index.dialect_options["postgresql"]["where"] = index.dialect_options["sqlite"]["where"]
            yield CreateIndex(index)


def _as_written(element: ExecutableDDLElement, dialect: Dialect) -> str:
    lines = str(element.compile(dialect=dialect)).strip().splitlines()
    return "\n".join(line.replace("\t", "    ").rstrip() for line in lines)
