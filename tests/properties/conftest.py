"""The database server that some properties are shown on, and the steps that a run tries."""

import pytest

from tests.support.database_fixtures import postgres_database, postgres_server, postgres_url
from tests.support.steps import tried

__all__ = ["postgres_database", "postgres_server", "postgres_url"]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """`at` is each of the steps that a test is marked with, or some of them."""
    marker = metafunc.definition.get_closest_marker("steps")
    if marker is not None:
        steps, every = marker.args
        metafunc.parametrize("at", tried(steps, every, metafunc.config))
