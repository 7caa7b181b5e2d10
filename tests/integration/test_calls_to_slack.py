"""The overhead of a call to Slack."""

import logging

import pytest
from pydantic import SecretStr
from typing_extensions import override

from bot.cli.manifest import manifest_path
from bot.logs import CHATTY
from bot.sandbox.slack.server import SlackSandbox
from bot.slack.web_api.clients import LimitedWebClient, open_session


class Shown(str):
    """A text that tells when it is written out as a part of something else."""

    __slots__ = ()

    @override
    def __repr__(self) -> str:
        raise AssertionError("written out")


async def test_calls_are_not_formatted_for_a_disabled_log_level(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for library in CHATTY:
        # As `bot.logs.configure` has it.
        monkeypatch.setattr(logging.getLogger(library), "level", logging.WARNING)
    sandbox = SlackSandbox(manifest_path())
    await sandbox.start()
    try:
        async with open_session() as session:
            client = LimitedWebClient(
                session, token=SecretStr(sandbox.bot_token), base_url=sandbox.api_url
            )
            answer = await client.chat_postMessage(channel="C0MERGEQ", text=Shown("hello"))
    finally:
        await sandbox.stop()
    assert answer["ok"]
