"""Apps of others work against the local workspace: Bolt for JavaScript and for Python, unmodified.

Each app is as the documentation of its Bolt shows one, and takes its addresses and tokens from the
environment.
"""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.sandbox.slack.server import SlackSandbox
from bot.sandbox.slack.wire import ControlRefusal
from tests.support.waiting import PATIENT_SECONDS, until
from tests.support.workspace_manifest import make_manifest

BOLT = "@slack/bolt@5.1.0"
INSTALL_SECONDS = 180
START_SECONDS = 90
STOP_SECONDS = 30
TYPED_AT_MOST = 5
ALICE = "U0ALICE"
CHANNEL = "C0MERGEQ"
APPS = Path(__file__).with_name("other_apps")
MANIFEST = make_manifest(
    scopes=("channels:history", "chat:write", "commands"),
    events=("app_home_opened", "message.channels"),
    bot_user={"display_name": "echo"},
    slash_commands=[{"command": "/echo", "description": "Says it again"}],
)


@pytest.fixture(scope="module")
def bolt_for_javascript(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the app and Bolt beside it."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("node and npm are not installed")
    folder = tmp_path_factory.mktemp("javascript")
    (folder / "package.json").write_text("{}")
    install = [npm, "install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts"]
    try:
        subprocess.run(
            [*install, BOLT], cwd=folder, check=True, capture_output=True, timeout=INSTALL_SECONDS
        )
    except subprocess.CalledProcessError as error:
        reason = error.stderr.decode()[-300:]
        pytest.skip(f"optional: npm cannot install {BOLT}: {reason}")
    except subprocess.TimeoutExpired:
        pytest.skip(f"optional: npm did not install {BOLT} within {INSTALL_SECONDS} seconds")
    shutil.copy(APPS / "echo.js", folder)
    return folder


@pytest.fixture(params=["javascript", "python"])
def program(request: pytest.FixtureRequest) -> list[str]:
    """How the app is started."""
    if request.param == "python":
        return [sys.executable, str(APPS / "echo.py")]
    folder: Path = request.getfixturevalue("bolt_for_javascript")
    return ["node", str(folder / "echo.js")]


@asynccontextmanager
async def running(program: list[str], *, over_http: bool) -> AsyncIterator[SlackSandbox]:
    """A workspace with the app running in it."""
    settings = {**MANIFEST["settings"], "socket_mode_enabled": not over_http}
    workspace = SlackSandbox(
        {**MANIFEST, "settings": settings},
        rate_limits="all",
        ack_seconds=PATIENT_SECONDS,
        trigger_seconds=PATIENT_SECONDS,
    )
    await workspace.start()
    environment = {
        "PATH": os.environ["PATH"],
        "SLACK_API_URL": workspace.api_url,
        "SLACK_BOT_TOKEN": workspace.bot_token,
    }
    if over_http:
        environment["SLACK_SIGNING_SECRET"] = workspace.signing_secret
    else:
        environment["SLACK_APP_TOKEN"] = workspace.app_token
    process = await asyncio.create_subprocess_exec(
        *program, env=environment, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        said = await asyncio.wait_for(process.stdout.readline(), START_SECONDS)
        assert said, "the app ended by itself"
        if over_http:
            await workspace.request_url.use(f"http://127.0.0.1:{int(said)}/slack/events")
        await until(lambda: workspace.delivery.connections, "a connection of the app")
        yield workspace
        process.terminate()
        assert await asyncio.wait_for(process.wait(), STOP_SECONDS) == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        await workspace.stop()


def texts(sandbox: SlackSandbox) -> list[str]:
    return [message["text"] for message in sandbox.sight.messages(ALICE, CHANNEL)["messages"]]


def connections_opened(sandbox: SlackSandbox) -> int:
    return len(
        [call for call in sandbox.calls.since(0) if call["method"] == "apps.connections.open"]
    )


async def types_until_received(sandbox: SlackSandbox, text: str) -> bool:
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


async def hold_a_whole_conversation(sandbox: SlackSandbox) -> None:
    people = sandbox.people
    sight = sandbox.sight
    typed = await people.command(ALICE, CHANNEL, "/echo good morning")
    assert typed["acknowledged"] is True
    await until(lambda: "You said: good morning" in texts(sandbox), "the echo")
    await until(lambda: "Press it" in texts(sandbox), "the button")
    button = next(
        message for message in sight.messages(ALICE, CHANNEL)["messages"] if message["blocks"]
    )
    container = {"type": "message", "channel": CHANNEL, "ts": button["ts"]}
    clicked = await people.action(ALICE, container=container, block_id="press", action_id="press")
    assert clicked["acknowledged"] is True
    await until(lambda: "Pressed by amartin82" in texts(sandbox), "the button's replacement")
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
    people.message(ALICE, CHANNEL, "hello there")
    await until(lambda: "Hello <@U0ALICE>" in texts(sandbox), "the greeting")
    assert (await people.home(ALICE))["acknowledged"] is True
    await until(lambda: sight.views(ALICE)["home"], "the Home tab")


async def test_a_third_party_app_works_over_http(program: list[str]) -> None:
    async with running(program, over_http=True) as sandbox:
        await hold_a_whole_conversation(sandbox)
        assert [one["error"] for one in sandbox.calls.since(0) if one["error"]] == []


async def test_a_third_party_app_works_over_socket_mode_and_reconnects(program: list[str]) -> None:
    async with running(program, over_http=False) as sandbox:
        await hold_a_whole_conversation(sandbox)
        before = connections_opened(sandbox)
        sandbox.faults.arm({"name": "disconnect", "reason": "refresh_requested"})
        await until(lambda: connections_opened(sandbox) > before, "a new connection", START_SECONDS)
        assert await types_until_received(sandbox, "/echo again")
        await until(lambda: "You said: again" in texts(sandbox), "the echo")
        assert [one["error"] for one in sandbox.calls.since(0) if one["error"]] == []
