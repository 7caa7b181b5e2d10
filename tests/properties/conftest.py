"""The database server that some properties are shown on."""

from tests.support.database_fixtures import postgres_database, postgres_server, postgres_url

__all__ = ["postgres_database", "postgres_server", "postgres_url"]
