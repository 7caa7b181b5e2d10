"""Reloading where no file holds settings."""

from unittest.mock import AsyncMock

from bot.config import GivenSettings
from bot.runtime.reloading import Reloading

SETTINGS = {
    "MQBOT_API_URL": "http://127.0.0.1:1/v1",
    "MQBOT_API_TOKEN": "token",
    "MQBOT_REPOSITORIES": "acme/site",
    "SLACK_BOT_TOKEN": "xoxb-token",
    "SLACK_APP_TOKEN": "xapp-token",
}


async def test_the_demo_which_has_no_settings_file_never_reloads() -> None:
    apply = AsyncMock()
    reloading = Reloading(GivenSettings.model_validate(SETTINGS), apply)
    for _ in range(3):
        await reloading.run()
    assert reloading.is_valid
    apply.assert_not_awaited()
