"""The steps that a run tries."""

import pytest

from tests.support.steps import tried


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """`at` is each of the steps that a test is marked with, or some of them."""
    marker = metafunc.definition.get_closest_marker("steps")
    if marker is not None:
        steps, every = marker.args
        metafunc.parametrize("at", tried(steps, every, metafunc.config))
