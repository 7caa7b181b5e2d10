"""How the demo's story is told: what people do next waits for what the app has to say first."""

import asyncio

import pytest

from bot.cli.manifest import manifest_path
from bot.sandbox.merge_queue.server import MergeQueueSandbox
from bot.sandbox.server import Sandbox
from bot.sandbox.slack.server import SlackSandbox
from bot.sandbox.slack.state.workspace import Message
from bot.sandbox.story.steps import CAROL, INCIDENTS, SITE, Type
from bot.sandbox.story.telling import Teller
from tests.support.waiting import until

RESUMED = "acme/site has resumed"


async def test_time_passes_only_once_the_answer_to_a_command_is_posted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However late another post comes: on a slow machine, that of an earlier step."""
    slack = SlackSandbox(manifest_path())
    passed: list[float] = []
    typed = asyncio.Event()

    async def type_command(person: str, channel: str, text: str) -> None:
        assert (person, channel, text) == (CAROL, INCIDENTS, "/mq resume acme/site")
        typed.set()

    def app_posts(text: str) -> None:
        ts = slack.installation.workspace.new_ts()
        slack.installation.workspace.post(Message(INCIDENTS, ts, "U0MQBOT", text, from_app=True))

    monkeypatch.setattr(slack.people, "command", type_command)
    sandbox = Sandbox(MergeQueueSandbox(repositories={SITE: "staged"}), slack)
    teller = Teller(sandbox, 0.0, passed.append)
    telling = asyncio.create_task(
        teller.take(Type(0, CAROL, INCIDENTS, "/mq resume acme/site", RESUMED))
    )
    async with asyncio.timeout(60):
        await typed.wait()
        app_posts("@carol looks after the pause of acme/site now")
        await asyncio.sleep(0.1)
        assert passed == []
        app_posts(RESUMED)
        await until(lambda: passed, "time passed")
    telling.cancel()
