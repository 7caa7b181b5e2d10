"""Settings as a process loads them whose environment holds nothing else."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

import pytest

from bot.config import load_settings
from bot.config.settings import Settings

ENOUGH = {
    "MQBOT_API_URL": "https://queue.example/v1",
    "MQBOT_API_TOKEN": "mq-application-key",
    "MQBOT_REPOSITORIES": "acme/site",
    "SLACK_BOT_TOKEN": "xoxb-bot",
    "SLACK_APP_TOKEN": "xapp-app",
}

Loaded = TypeVar("Loaded", bound=Settings)


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
