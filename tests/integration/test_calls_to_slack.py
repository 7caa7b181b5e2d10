"""The overhead of a call to Slack."""

import logging

import pytest
from typing_extensions import override

from bot.runtime.logs import CHATTY
from tests.support.slack_client import client_of, workspace


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
        # As `bot.runtime.logs.configure` has it.
        monkeypatch.setattr(logging.getLogger(library), "level", logging.WARNING)
    async with workspace() as slack, client_of(slack) as client:
        answer = await client.chat_postMessage(channel="C0MERGEQ", text=Shown("hello"))
    assert answer["ok"]
