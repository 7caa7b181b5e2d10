"""The JavaScript Bolt, as npm gives it, works against the local workspace over Socket Mode."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.sandbox.slack.server import SlackSandbox
from bot.sandbox.slack.wire import ControlRefusal
from tests.support.waiting import PATIENT_SECONDS, until

BOLT = "@slack/bolt@5.1.0"
INSTALL_SECONDS = 180
START_SECONDS = 90
STOP_SECONDS = 30
TYPED_AT_MOST = 5
ALICE, CHANNEL = "U0ALICE", "C0MERGEQ"
APP = Path(__file__).with_name("echo_app.js")
MANIFEST: dict[str, object] = {
    "display_information": {"name": "Echo"},
    "features": {
        "app_home": {"home_tab_enabled": True},
        "bot_user": {"display_name": "echo"},
        "slash_commands": [{"command": "/echo", "description": "Says it again"}],
    },
    "oauth_config": {"scopes": {"bot": ["channels:history", "chat:write", "commands"]}},
    "settings": {
        "event_subscriptions": {"bot_events": ["app_home_opened", "message.channels"]},
        "interactivity": {"is_enabled": True},
        "socket_mode_enabled": True,
    },
}


@pytest.fixture(scope="module")
def app_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the app and Bolt beside it."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("optional: node and npm are not installed")
    folder = tmp_path_factory.mktemp("javascript")
    (folder / "package.json").write_text("{}")
    install = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", BOLT]
    try:
        subprocess.run(
            install, cwd=folder, check=True, capture_output=True, timeout=INSTALL_SECONDS
        )
    except subprocess.CalledProcessError as error:
        pytest.skip(f"npm cannot install {BOLT}: {error.stderr.decode()[-300:]}")
    except subprocess.TimeoutExpired:
        pytest.skip(f"npm did not install {BOLT} within {INSTALL_SECONDS} seconds")
    shutil.copy(APP, folder)
    return folder


@pytest.fixture
async def sandbox(app_folder: Path) -> AsyncIterator[SlackSandbox]:
    """A workspace with the app running in it."""
    workspace = SlackSandbox(
        MANIFEST, rate_limits="all", ack_seconds=PATIENT_SECONDS, trigger_seconds=PATIENT_SECONDS
    )
    await workspace.start()
    environment = {
        "PATH": os.environ["PATH"],
        "API_URL": workspace.api_url,
        "BOT_TOKEN": workspace.bot_token,
        "APP_TOKEN": workspace.app_token,
    }
    process = await asyncio.create_subprocess_exec(
        "node", APP.name, cwd=app_folder, env=environment
    )
    try:
        await until(
            lambda: workspace.socket_mode.connections or process.returncode is not None,
            "a connection of the app",
            START_SECONDS,
        )
        assert process.returncode is None, "the app ended by itself"
        yield workspace
        process.terminate()
        assert await asyncio.wait_for(process.wait(), STOP_SECONDS) == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        await workspace.stop()


def texts(sandbox: SlackSandbox) -> list[str]:
    return [one["text"] for one in sandbox.sight.messages(ALICE, CHANNEL)["messages"]]


def connections_opened(sandbox: SlackSandbox) -> int:
    return len([one for one in sandbox.calls.since(0) if one["method"] == "apps.connections.open"])


async def types_until_heard(sandbox: SlackSandbox, text: str) -> bool:
    """What Slack sends while an app changes its connection is lost, and a person types again."""
    for _ in range(TYPED_AT_MOST):
        await until(lambda: sandbox.socket_mode.connections, "a connection", START_SECONDS)
        try:
            typed = await sandbox.people.command(ALICE, CHANNEL, text)
        except ControlRefusal:
            continue
        if typed["acknowledged"]:
            return True
    return False


async def test_an_unmodified_javascript_app_holds_a_whole_conversation(
    sandbox: SlackSandbox,
) -> None:
    people, sight = sandbox.people, sandbox.sight
    typed = await people.command(ALICE, CHANNEL, "/echo good morning")
    assert typed["acknowledged"] is True
    await until(lambda: "You said: good morning" in texts(sandbox), "the echo")
    await until(lambda: "Press it" in texts(sandbox), "the button")
    button = next(one for one in sight.messages(ALICE, CHANNEL)["messages"] if one["blocks"])
    container = {"type": "message", "channel": CHANNEL, "ts": button["ts"]}
    clicked = await people.action(ALICE, container=container, block_id="press", action_id="press")
    assert clicked["acknowledged"] is True
    await until(lambda: "Pressed by alice" in texts(sandbox), "the button's replacement")
    await until(lambda: sight.views(ALICE)["views"], "the form")
    (form,) = sight.views(ALICE)["views"]

    def word(value: str) -> dict[str, object]:
        return {"word": {"word": {"type": "plain_text_input", "value": value}}}

    refused = await people.submit(ALICE, form["id"], word("bad"))
    assert refused["errors"] == {"word": "Not that word"}
    taken = await people.submit(ALICE, form["id"], word("peace"))
    assert taken["acknowledged"] is True
    await until(lambda: "The word is peace" in texts(sandbox), "the word")
    assert sight.views(ALICE)["views"] == []


async def test_an_unmodified_javascript_app_hears_events_and_comes_back_after_a_disconnect(
    sandbox: SlackSandbox,
) -> None:
    sandbox.people.message(ALICE, CHANNEL, "hello there")
    await until(lambda: "Hello <@U0ALICE>" in texts(sandbox), "the greeting")
    home = await sandbox.people.home(ALICE)
    assert home["acknowledged"] is True
    await until(lambda: sandbox.sight.views(ALICE)["home"], "the Home tab")
    before = connections_opened(sandbox)
    sandbox.faults.arm({"name": "disconnect", "reason": "refresh_requested"})
    await until(lambda: connections_opened(sandbox) > before, "a new connection", START_SECONDS)
    assert await types_until_heard(sandbox, "/echo again")
    await until(lambda: "You said: again" in texts(sandbox), "the echo")
    assert [one["error"] for one in sandbox.calls.since(0) if one["error"]] == []
