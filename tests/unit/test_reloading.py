"""Reloading where no file holds settings."""

from unittest.mock import AsyncMock

from bot.config import GivenSettings
from bot.runtime.reloading import Reloading
from tests.support.settings import ENOUGH


async def test_the_demo_which_has_no_settings_file_never_reloads() -> None:
    apply = AsyncMock()
    reloading = Reloading(GivenSettings.model_validate(ENOUGH), apply)
    for _ in range(3):
        await reloading.run()
    assert reloading.is_valid
    apply.assert_not_awaited()
