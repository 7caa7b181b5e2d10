"""`mqbot run`, `web` and `worker` as processes."""

import gc
from contextlib import nullcontext
from pathlib import Path

import pytest

from bot.cli import serving
from bot.config.settings import RunSettings
from tests.support.settings import NOWHERE, settings_in


def test_what_a_start_made_is_left_out_of_searches_for_garbage(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    frozen: list[int] = []

    async def look() -> None:
        frozen.append(gc.get_freeze_count())

    monkeypatch.setattr(serving, "forever", look)
    settings = settings_in({**NOWHERE, "DATABASE_URL": f"sqlite:///{tmp_path}/bot"}, RunSettings)
    try:
        serving.serve(nullcontext(), settings)
    finally:
        gc.unfreeze()
    assert frozen[0] > 10_000
