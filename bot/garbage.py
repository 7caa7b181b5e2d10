"""How often Python looks for garbage that counting references does not find."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

YOUNG = 10_000
"""So many containers more than there were are looked through for garbage.

By Python's own 700 that happens with each page of an event log, whose hundred events are nearly all
in use still. What hangs on ten thousand is a few megabytes, and is looked through in a millisecond.
"""

_USUAL = gc.get_threshold()


@contextmanager
def settled_heap() -> Iterator[None]:
    """What was built until here stays to the end: no collection needs to look through it again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, *_USUAL[1:])
    try:
        yield
    finally:
        gc.set_threshold(*_USUAL)
        gc.unfreeze()


@contextmanager
def kept_to_the_end() -> Iterator[None]:
    """For the last thing that a process does: what is there then goes with the process.

    Before it ends Python looks through everything for garbage, which takes half a second of CPU
    for what a bot is made of, five times as much as the rest of a stop.
    """
    try:
        yield
    finally:
        gc.freeze()
