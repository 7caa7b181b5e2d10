"""The log that a test captures."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from bot.runtime.logs import Repeats


@contextmanager
def without_repeats(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Capture what the commands would write, who filter what repeats."""
    repeats = Repeats()
    caplog.handler.addFilter(repeats)
    try:
        yield
    finally:
        # All tests of a session share the handler.
        caplog.handler.removeFilter(repeats)
