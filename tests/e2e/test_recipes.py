"""Each recipe for machines does what docs/recipes.md says: its own commands, against the bot."""

import asyncio
import json
import os
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.e2e.test_freezes_by_people import frozen
from tests.e2e.test_machines import address
from tests.support.bot_tester import ALICE, BOB, MERGE_QUEUE, BotTester

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]

PAGE = Path(__file__).parents[2] / "docs" / "recipes.md"
TOKENS = {name: name[0] * 24 for name in ("ci-main", "release", "incidents", "ai-agent")}
ON_CALL = "S0123456789"
SLACK_TOKEN = "xoxp-on-call"
SLACK_API = "https://slack.com/api"
A_MINUTE = 61.0


def recipe(heading: str, language: str) -> list[str]:
    """The blocks of code of one recipe."""
    sections = re.split(r"^## ", PAGE.read_text("utf-8"), flags=re.MULTILINE)
    (section,) = [text for text in sections if text.startswith(f"{heading}\n")]
    return re.findall(rf"^```{language}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


async def start(start_bot: StartBot, folder: Path, settings: str = "") -> BotTester:
    file = folder / "mqbot.toml"
    file.write_text(settings, "utf-8")
    file.chmod(0o600)
    environment = {
        "MQBOT_CONFIG": str(file),
        "MQBOT_MACHINE_TOKENS": ";".join(f"{name}={token}" for name, token in TOKENS.items()),
        "MQBOT_HEALTH_PORT": "0",
    }
    return await start_bot(environment=environment, channels=f"acme/site={MERGE_QUEUE}:pause")


@dataclass
class Ran:
    """What a script printed on both outputs, and its exit code."""

    printed: str
    code: int


async def run(
    bot: BotTester, machine: str, script: str, folder: Path, given: Mapping[str, str] | None = None
) -> Ran:
    environ = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "MQBOT_URL": address(bot),
        "MQBOT_TOKEN": TOKENS[machine],
        **(given or {}),
    }
    if "PYTHONPATH" in os.environ:
        environ["PYTHONPATH"] = os.environ["PYTHONPATH"]
    process = await asyncio.create_subprocess_exec(
        *("bash", "-euo", "pipefail", "-c", script),
        cwd=folder,
        env=environ,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    ran = Ran(output.decode(), process.returncode or 0)
    print(f"{given or ''}\n{script}\n{ran.printed}(exit code {ran.code})\n")
    return ran


async def test_frozen_while_main_is_red(start_bot: StartBot, tmp_path: Path) -> None:
    bot = await start(start_bot, tmp_path)
    (script,) = recipe("Frozen while main is red", "bash")

    async def after(before: str, result: str) -> Ran:
        return await run(bot, "ci-main", script, tmp_path, {"BEFORE": before, "RESULT": result})

    red = await after("success", "failure")
    assert red.code == 0
    (made,) = frozen(bot)
    assert made.reason == "main is red (by ci-main via mqbot)"
    assert made.matching_conditions == ("base=main",)
    assert made.exclude_conditions == ("label=fix-main",)
    assert (await after("failure", "failure")).printed == ""
    green = await after("failure", "success")
    assert (green.code, frozen(bot)) == (0, [])
    # Red once more within the hour: nothing.
    again = await after("success", "failure")
    assert (again.printed, frozen(bot)) == ("", [])
    assert (await after("success", "success")).code == 0


async def test_frozen_for_a_release_job(start_bot: StartBot, tmp_path: Path) -> None:
    bot = await start(start_bot, tmp_path)
    (script,) = recipe("Frozen for a release job", "bash")
    release = tmp_path / "release"
    release.write_text("#!/bin/sh\nmqbot status acme/site --json > during\nexit ${RESULT}\n")
    release.chmod(0o700)
    for result in (0, 1):
        given = {"VERSION": "4.2", "RESULT": str(result)}
        ran = await run(bot, "release", script, tmp_path, given)
        assert ran.code == result
        (queue,) = json.loads((tmp_path / "during").read_text())["queues"]
        assert [freeze["reason"] for freeze in queue["freezes"]] == ["releasing 4.2"]
        assert frozen(bot) == []


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
async def test_paused_from_an_incident_tool(start_bot: StartBot, tmp_path: Path) -> None:
    bot = await start(start_bot, tmp_path)
    begins, ends = recipe("Paused from an incident tool", "bash")
    paused = await run(bot, "incidents", begins, tmp_path)
    assert (paused.code, json.loads(paused.printed)["changed"]) == (0, True)
    assert bot.pause_reason() == "INC-123: checkout is down (by incidents via mqbot)"
    await bot.wait_for_post("*acme/site is paused*")
    resumed = await run(bot, "incidents", ends, tmp_path)
    assert (resumed.code, json.loads(resumed.printed)["changed"]) == (0, True)
    await bot.wait_for_post("has resumed")
    await bot.pause("now still looking into it", by=BOB)
    left = await run(bot, "incidents", ends, tmp_path)
    assert (left.code, json.loads(left.printed.splitlines()[-1])["changed"]) == (22, False)
    assert bot.pause_reason() == "still looking into it (by bob via Slack)"


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
async def test_only_who_is_on_call(start_bot: StartBot, tmp_path: Path) -> None:
    (settings,) = recipe("Only who is on call", "toml")
    (script,) = recipe("Only who is on call", "bash")
    bot = await start(start_bot, tmp_path, settings.replace(ON_CALL, "S0ONCALL"))
    bot.slack.arrangement.set_group("oncall", [BOB])
    bot.expected_refusals.add("usergroups.users.update no_users_provided")
    bot.slack.credentials.grant(SLACK_TOKEN, "usergroups:write")
    script = script.replace(ON_CALL, "S0ONCALL").replace(SLACK_API, bot.slack.api_url.rstrip("/"))

    async def turns(on_call: str) -> Ran:
        given = {"SLACK_TOKEN": SLACK_TOKEN, "ON_CALL": on_call}
        return await run(bot, "incidents", script, tmp_path, given)

    card = await bot.pause("now CI runners are down")
    await bot.click(card, "Resume queue")
    assert "can resume" in await bot.wait_for_reply()
    assert (await turns(ALICE)).code == 0
    empty = await turns("")
    assert (empty.code, "no_users_provided" in empty.printed) == (1, True)
    await bot.pass_time(A_MINUTE)
    await bot.click(card, "Resume queue")
    await bot.wait_for_post("has resumed")


async def test_an_agent_that_may_only_propose(start_bot: StartBot, tmp_path: Path) -> None:
    (settings,) = recipe("An AI agent that may only propose", "toml")
    (script,) = recipe("An AI agent that may only propose", "bash")
    bot = await start(start_bot, tmp_path, settings)
    asking = asyncio.ensure_future(run(bot, "ai-agent", script, tmp_path))
    request = await bot.wait_for_post("ai-agent proposes to pause acme/site")
    assert "“integration fails in every batch”" in request
    assert bot.pause_reason() is None
    await bot.click(request, "Approve", by=BOB)
    ran = await asking
    assert ran.code == 0
    answers = [json.loads(line) for line in ran.printed.splitlines() if line.startswith("{")]
    assert answers[0]["findings"][0]["verdict"] == "empty"
    assert answers[1]["proposal"]["by"] == "bob"
    assert bot.pause_reason() == "integration fails in every batch (by bob via Slack)"
    await bot.wait_for_post("*acme/site is paused*")
    await bot.wait_for_reply("is paused", by=BOB)
    await bot.wait_for_change(request, "*bob approved it.*")
