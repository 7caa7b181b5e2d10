"""One heap for all the bots of a test run: what the tests hold is looked through once."""

import gc
from collections.abc import Iterator
from contextlib import nullcontext

import pytest


@pytest.fixture(scope="session", autouse=True)
def shared_heap() -> Iterator[None]:
    """A bot collects garbage once when it is ready, as suits a process that holds nothing else.

    Here that would look through everything that thousands of tests hold, a quarter of a second
    at each of a thousand starts. Bots in processes of their own do it as ever.
    """
    gc.collect()
    gc.freeze()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bot.runtime.settled_heap", nullcontext)
        yield
    gc.unfreeze()
