"""The databases that integration tests run on."""

from tests.support.database_fixtures import (
    any_database,
    database,
    postgres_database,
    postgres_server,
    postgres_url,
    sqlite_template,
    sqlite_url,
    store,
)

__all__ = [
    "any_database",
    "database",
    "postgres_database",
    "postgres_server",
    "postgres_url",
    "sqlite_template",
    "sqlite_url",
    "store",
]
