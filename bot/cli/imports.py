"""How modules are imported that stay to the end of the process."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

DRAWING = ("rich", "pygments")
"""What structlog and httpx import when it is there, for colours that a server has no use for."""


@contextmanager
def without(libraries: tuple[str, ...]) -> Iterator[None]:
    """What is imported meanwhile finds none of `libraries` that is not in use already."""
    modules: dict[str, Any] = sys.modules
    unused = [one for one in libraries if one not in modules]
    modules.update(dict.fromkeys(unused))
    try:
        yield
    finally:
        for one in unused:
            del modules[one]


@contextmanager
def imported_for_good() -> Iterator[None]:
    """Modules stay to the end: no collection looks through them, neither now nor afterwards."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def imported_for_serving() -> Iterator[None]:
    """What a server is made of is imported for good, and without what it has no use for."""
    with imported_for_good(), without(DRAWING):
        yield
