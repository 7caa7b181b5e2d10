"""`mqbot run`, `web` and `worker` as processes."""

import asyncio
import gc
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.cli import serving
from bot.cli.main import keeping_imports
from bot.config.settings import RunSettings
from tests.support.capturing import logging_restored
from tests.support.settings import NOWHERE, settings_in


def test_what_a_start_made_is_left_out_of_searches_for_garbage(tmp_path: Path) -> None:
    frozen: list[int] = []

    @asynccontextmanager
    async def stopped_at_once() -> AsyncIterator[None]:
        asyncio.get_running_loop().call_soon(os.kill, os.getpid(), signal.SIGTERM)
        frozen.append(gc.get_freeze_count())
        try:
            yield
        finally:
            frozen.append(gc.get_freeze_count())

    settings = settings_in({**NOWHERE, "DATABASE_URL": f"sqlite:///{tmp_path}/bot"}, RunSettings)
    # Until here, the tests' own start has left out all that was collected.
    gc.unfreeze()
    try:
        with logging_restored():
            serving.serve(stopped_at_once(), settings)
    finally:
        gc.freeze()
    before, after = frozen
    assert before == 0
    assert after > 10_000


def test_garbage_is_searched_for_again_after_imports_that_failed() -> None:
    meanwhile = []

    def import_what_fails() -> None:
        with keeping_imports():
            meanwhile.append(gc.isenabled())
            raise ImportError

    with pytest.raises(ImportError):
        import_what_fails()
    assert meanwhile == [False]
    assert gc.isenabled()
