"""Settings as a process loads them whose environment holds nothing else."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

import pytest

from bot.config.reading import load_settings
from bot.config.settings import Settings
from bot.sandbox.server import SandboxAddresses

ENOUGH = {
    "MQBOT_API_URL": "https://queue.example/v1",
    "MQBOT_API_TOKEN": "mq-application-key",
    "MQBOT_REPOSITORIES": "acme/site",
    "SLACK_BOT_TOKEN": "xoxb-bot",
    "SLACK_APP_TOKEN": "xapp-app",
}

NOWHERE = {
    **ENOUGH,
    "MQBOT_API_URL": "http://127.0.0.1:9/v1",
    "SLACK_API_URL": "http://127.0.0.1:9/api/",
}
"""Settings that are well formed and lead nowhere."""

Loaded = TypeVar("Loaded", bound=Settings)


def between(services: SandboxAddresses, database_url: str, **more: str) -> dict[str, str]:
    """Settings of a bot that polls one repository of both local services each second."""
    return {
        "MQBOT_API_URL": services.api_url,
        "MQBOT_API_TOKEN": services.api_token,
        "MQBOT_REPOSITORIES": "acme/site",
        "MQBOT_POLL_SECONDS": "1",
        "SLACK_BOT_TOKEN": services.slack_bot_token,
        "SLACK_APP_TOKEN": services.slack_app_token,
        "SLACK_API_URL": services.slack_api_url,
        "DATABASE_URL": database_url,
        **more,
    }


@contextmanager
def only_environment(environ: Mapping[str, str]) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            patch.delenv(name)
        for name, value in environ.items():
            patch.setenv(name, value)
        yield


def settings_in(environ: Mapping[str, str], kind: type[Loaded]) -> Loaded:
    with only_environment(environ):
        return load_settings(kind)
