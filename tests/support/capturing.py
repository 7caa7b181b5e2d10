"""The log that a test captures."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from bot.runtime.logs import CHATTY, OnceAMinute


@contextmanager
def without_repeats(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Capture what the commands would write, who filter what repeats."""
    repeats = OnceAMinute()
    caplog.handler.addFilter(repeats)
    try:
        yield
    finally:
        # All tests of a session share the handler.
        caplog.handler.removeFilter(repeats)


@contextmanager
def logging_restored() -> Iterator[None]:
    """For a test that sets up logging as the commands do: later tests find it as it was."""
    root = logging.getLogger()
    handlers = root.handlers
    level = root.level
    levels = {name: logging.getLogger(name).level for name in CHATTY}
    try:
        yield
    finally:
        root.handlers = handlers
        root.setLevel(level)
        for name, before in levels.items():
            logging.getLogger(name).setLevel(before)
