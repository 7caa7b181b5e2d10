"""Machines with a token pause, resume and look through the running bot, as a shell would."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any

import aiohttp
import httpx
import pytest
from aiohttp import web

from bot.acts.record import ActResult
from bot.cli.running_bot import ASKED_MOST, exit_code, follow_outcome, talking
from bot.kernel.actor import Origin
from bot.sandbox.merge_queue.controls import FreezeTerms, SeenRequest
from tests.e2e.conftest import StartBot
from tests.e2e.test_who_may_act import acts
from tests.support.bot_process import MqbotProcess
from tests.support.bot_tester import BOB, MERGE_QUEUE, RELEASES, BotTester
from tests.support.openapi import require_documented
from tests.support.waiting import until

pytestmark = pytest.mark.e2e

DEPLOY = "d" * 24
NIGHTLY = "n" * 24
WITH_MACHINES = {
    "MQBOT_MACHINE_TOKENS": f"deploy-job={DEPLOY};nightly={NIGHTLY}",
    "MQBOT_HEALTH_PORT": "0",
}
PAUSES = f"acme/site={MERGE_QUEUE}:pause"


@dataclass
class Ended:
    """What a command printed, complained of, and its exit code."""

    printed: str
    complaints: str
    code: int


Shell = Callable[..., Awaitable[Ended]]


def address(bot: BotTester) -> str:
    """The port that `mqbot run` opens for monitoring, or `mqbot web` for Slack."""
    action = "http_open" if bot.mode == "http" else "health_open"
    opened = [record for record in bot.log.records if record.__dict__.get("action") == action]
    return f"http://127.0.0.1:{opened[-1].__dict__['port']}"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Run `mqbot` as a process of its own, which knows only the bot's address and a token."""
    count = 0

    async def run(bot: BotTester, *arguments: str, token: str = DEPLOY) -> Ended:
        nonlocal count
        count += 1
        folder = tmp_path / str(count)
        folder.mkdir()
        environ = {"MQBOT_URL": address(bot), "MQBOT_TOKEN": token}
        process = await MqbotProcess.start(*arguments, folder=folder, environ=environ)
        code = await process.ends()
        assert "Traceback" not in process.complaints
        return Ended(process.printed, process.complaints, code)

    return run


async def sent(bot: BotTester, request: bytes) -> bytes:
    """The first line of the answer."""
    port = int(address(bot).rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    async with asyncio.timeout(30):
        line = await reader.readline()
    writer.close()
    return line


async def post(bot: BotTester, what: str, token: str, **body: object) -> tuple[int, Any]:
    url = f"{address(bot)}/api/v1/{what}"
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.post(url, json=body) as got,
    ):
        answer = await got.json()
    require_documented(await documented(bot), "post", f"/api/v1/{what}", got.status, answer)
    return got.status, answer


_served: dict[str, Any] = {}
"""The document that a running bot serves; the same in each test."""


async def documented(bot: BotTester) -> Any:
    """The OpenAPI document, asked for once: each request counts against the machine's limit."""
    if not _served:
        url = f"{address(bot)}/api/v1/openapi.json"
        headers = {"Authorization": f"Bearer {DEPLOY}"}
        async with aiohttp.ClientSession(headers=headers) as session, session.get(url) as got:
            assert got.status == 200
            _served.update(await got.json())
    return _served


async def test_a_pause_from_a_shell_has_its_card_and_a_person_resumes_it(
    start_bot: StartBot, shell: Shell
) -> None:
    bot = await start_bot(environment=WITH_MACHINES, channels=PAUSES)
    paused = await shell(bot, "pause", "acme/site", "--reason", "deploying 4.2", "--end", "45m")
    assert (paused.code, paused.complaints) == (0, "")
    assert paused.printed.startswith("acme/site is paused, resumes ")
    assert bot.pause_reason() == "deploying 4.2 (by deploy-job via mqbot)"
    card = await bot.wait_for_post("is paused")
    assert "deploying 4.2" in card
    assert "By deploy-job" in card
    again = await shell(bot, "pause", "acme/site", "--reason", "deploying 4.2", "--end", "45m")
    assert again.code == 0
    assert "already paused by deploy-job" in again.printed
    assert "Nothing was changed." in again.printed
    status = await shell(bot, "status", "acme/site")
    assert status.code == 0
    assert "paused" in status.printed
    assert "deploy-job" in status.printed
    why = await shell(bot, "why", "acme/site")
    assert why.code == 0
    assert "acme/site is paused: " in why.printed
    assert "It was paused by deploy-job" in why.printed
    await bot.click(await bot.wait_for_change(card, "0 queued"), "Resume queue")
    await bot.wait_for_post("has resumed")
    resumed = await shell(bot, "unpause", "acme/site")
    assert resumed.code == 0
    assert "acme/site is already running: alice resumed it" in resumed.printed
    by = [
        (act.actor.name, act.actor.user_id, act.where.origin, act.result) for act in await acts(bot)
    ]
    assert by[1] == ("deploy-job", "machine:deploy-job", Origin.MACHINE, ActResult.DONE)
    assert "by a machine" in await bot.ask("/mq audit")


async def test_ids_in_a_machines_reason_become_names(start_bot: StartBot) -> None:
    bot = await start_bot(environment=WITH_MACHINES, channels=PAUSES)
    bot.slack.arrangement.set_group("oncall", [BOB])
    reason = f"<@{BOB}> deploys, see <#{MERGE_QUEUE}|> or ask <!subteam^S0ONCALL> & co"
    status, answer = await post(bot, "pause", DEPLOY, target="acme/site", reason=reason)
    assert (status, answer["changed"]) == (200, True)
    named = "@bob deploys, see #merge-queue or ask @oncall & co"
    assert bot.pause_reason() == f"{named} (by deploy-job via mqbot)"
    assert named in await bot.wait_for_post("is paused")
    # The same request again is known as its own.
    status, answer = await post(bot, "pause", DEPLOY, target="acme/site", reason=reason)
    assert (status, answer["changed"]) == (200, False)


async def test_a_machines_reason_has_slack_asked_about_few_people(start_bot: StartBot) -> None:
    """Slack answers so many questions a minute, and people's rights are among them."""
    listed = {**WITH_MACHINES, "MQBOT_WHO_MAY_PAUSE": f"{BOB},machine:deploy-job"}
    bot = await start_bot(environment=listed)
    bot.expected_refusals.add("users.info user_not_found")
    nobody = [f"<@U0NOBODY{number:03}>" for number in range(250)]

    def asked() -> int:
        return len(bot.calls("users.info", since=lambda call: "U0NOBODY" in str(call)))

    reason = " ".join(nobody[:15])
    status, _ = await post(bot, "pause", NIGHTLY, target="acme/site", reason=reason)
    assert (status, asked()) == (403, 0)
    reason = " ".join(nobody)
    status, _ = await post(bot, "pause", DEPLOY, target="acme/site", reason=reason)
    assert (status, asked()) == (422, 20)


async def test_a_machine_resumes_only_its_own_pause_unless_it_says_otherwise(
    start_bot: StartBot, shell: Shell
) -> None:
    bot = await start_bot(environment=WITH_MACHINES, channels=PAUSES)
    await bot.pause("now CI runners are down", by=BOB)
    refused = await shell(bot, "pause", "acme/site", "--reason", "deploying")
    assert (refused.code, refused.printed) == (1, "")
    assert refused.complaints.startswith("mqbot: acme/site is already paused by bob ")
    refused = await shell(bot, "resume", "acme/site")
    assert (refused.code, refused.printed) == (1, "")
    assert "That isn't your pause" in refused.complaints
    assert bot.pause_reason() == "CI runners are down (by bob via Slack)"
    resumed = await shell(bot, "resume", "acme/site", "--any")
    assert (resumed.code, resumed.printed) == (0, "acme/site has resumed.\n")
    assert "By deploy-job" in await bot.wait_for_post("has resumed")
    await bot.wait_for_direct_message("deploy-job resumed acme/site", by=BOB)
    own = await shell(bot, "pause", "acme/site", "--reason", "deploying")
    assert own.code == 0
    await bot.wait_for_post("is paused")
    assert (await shell(bot, "resume", "acme/site")).code == 0
    await bot.wait_for_post("has resumed")


async def test_a_machine_pauses_and_resumes_a_group(start_bot: StartBot, shell: Shell) -> None:
    bot = await start_bot(
        repositories={"acme/site": "quiet", "acme/api": "quiet"},
        environment={**WITH_MACHINES, "MQBOT_GROUPS": "release=acme/site,acme/api"},
        channels=f"{PAUSES};acme/api={MERGE_QUEUE}:pause",
    )
    paused = await shell(
        bot, "pause", "@release", "--reason", "release", "--end", "until tomorrow 9:00"
    )
    assert paused.code == 0, paused
    card = await bot.wait_for_post("2 of 2 queues")
    assert "By deploy-job" in card
    for name in ("acme/site", "acme/api"):
        assert bot.pause_reason(name) == "release (by deploy-job via mqbot)"
    assert "acme/api" in (await shell(bot, "status", "@release")).printed
    assert (await shell(bot, "why", "@release")).code == 1
    assert (await shell(bot, "resume", "@release")).code == 0
    await bot.wait_for_post("By deploy-job")
    assert bot.pause_reason("acme/api") is None


async def test_a_machine_ends_of_a_group_only_what_it_made_unless_it_says_otherwise(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(
        environment={**WITH_MACHINES, "MQBOT_GROUPS": "release=acme/site"},
        channels=f"acme/site={MERGE_QUEUE}:pause,freeze",
    )
    freezes = bot.merge_queue.repository("acme/site").freezes
    await bot.publish("/mq pause now @release CI is down", "1 of 1 queue paused", by=BOB)
    await bot.publish("/mq freeze now @release 2h Night", "1 of 1 queue frozen", by=BOB)
    ends = {"resume": {}, "unfreeze": {"reason": "green"}}
    for what, body in ends.items():
        status, answer = await post(bot, what, DEPLOY, target="@release", **body)
        assert (status, answer["changed"]) == (409, False)
        (left,) = answer["repositories"]
        assert (left["outcome"], left["by"]) == ("not_ours", "bob")
        assert "acme/site by bob" in answer["message"]
    assert bot.pause_reason() == "CI is down (by bob via Slack)"
    assert len(freezes) == 1
    for what, body in ends.items():
        _, answer = await post(bot, what, DEPLOY, target="@release", any=True, **body)
        assert answer["changed"] is True
    assert (bot.pause_reason(), freezes) == (None, [])
    for what in ("pause", "freeze"):
        await post(bot, what, DEPLOY, target="@release", reason="deploying")
    for what, body in ends.items():
        _, answer = await post(bot, what, DEPLOY, target="@release", **body)
        assert answer["changed"] is True
    assert (bot.pause_reason(), freezes) == (None, [])
    await bot.stop_bot()
    bot.posts()
    bot.direct_messages(by=BOB)


async def test_a_machine_that_finds_all_of_a_group_stopped_is_refused_as_for_a_single_queue(
    start_bot: StartBot, shell: Shell
) -> None:
    """Unless it was the machine for the same reason, or a part changes."""
    bot = await start_bot(
        repositories={"acme/site": "quiet", "acme/api": "quiet"},
        environment={**WITH_MACHINES, "MQBOT_GROUPS": "release=acme/site,acme/api"},
    )

    async def stopped(what: str, reason: str = "deploying") -> tuple[int, bool, list[str]]:
        status, answer = await post(bot, what, DEPLOY, target="@release", reason=reason)
        return status, answer["changed"], [part["outcome"] for part in answer["repositories"]]

    for name in ("acme/site", "acme/api"):
        bot.merge_queue.pause(name, "elsewhere")
        bot.merge_queue.freeze(name, FreezeTerms("night"))
    for what in ("pause", "freeze"):
        assert await stopped(what) == (409, False, ["already_paused", "already_paused"])
    by_shell = await shell(bot, "pause", "@release", "--reason", "deploying")
    assert (by_shell.code, by_shell.printed) == (1, "")
    assert "2 already paused: acme/site" in by_shell.complaints
    bot.merge_queue.resume("acme/site")
    (night,) = bot.merge_queue.repository("acme/site").freezes
    bot.merge_queue.unfreeze("acme/site", night.id)
    for what in ("pause", "freeze"):
        assert await stopped(what) == (200, True, ["changed", "already_paused"])
        assert await stopped(what) == (409, False, ["as_asked", "already_paused"])
    bot.merge_queue.resume("acme/api")
    (night,) = bot.merge_queue.repository("acme/api").freezes
    bot.merge_queue.unfreeze("acme/api", night.id)
    for what in ("pause", "freeze"):
        assert await stopped(what) == (200, True, ["as_asked", "changed"])
        assert await stopped(what) == (200, False, ["as_asked", "as_asked"])
        assert await stopped(what, "other") == (409, False, ["already_paused", "already_paused"])
    await bot.stop_bot()
    bot.posts()
    bot.posts(RELEASES)


async def test_a_machine_that_ends_nothing_of_a_group_is_refused_as_for_a_single_queue(
    start_bot: StartBot, shell: Shell
) -> None:
    """Unless nothing is in force, or a part of it ends."""
    bot = await start_bot(
        repositories={"acme/site": "quiet", "acme/api": "quiet"},
        environment={**WITH_MACHINES, "MQBOT_GROUPS": "release=acme/site,acme/api"},
    )
    ends = {"resume": {}, "unfreeze": {"reason": "green"}}

    async def ended(what: str) -> tuple[int, bool, list[str]]:
        status, answer = await post(bot, what, DEPLOY, target="@release", **ends[what])
        return status, answer["changed"], [part["outcome"] for part in answer["repositories"]]

    for what in ends:
        assert await ended(what) == (200, False, ["not_paused", "not_paused"])
    bot.merge_queue.pause("acme/site", "elsewhere")
    bot.merge_queue.freeze("acme/site", FreezeTerms("night"))
    for what in ends:
        assert await ended(what) == (409, False, ["not_ours", "not_paused"])
    by_shell = await shell(bot, "resume", "@release")
    assert (by_shell.code, by_shell.printed) == (1, "")
    assert "1 still paused: acme/site" in by_shell.complaints
    bot.merge_queue.resume("acme/site")
    (night,) = bot.merge_queue.repository("acme/site").freezes
    bot.merge_queue.unfreeze("acme/site", night.id)
    planned = FreezeTerms("release", start=datetime.now(UTC) + timedelta(hours=2))
    bot.merge_queue.freeze("acme/site", planned)
    assert await ended("unfreeze") == (409, False, ["already_planned", "not_paused"])
    for what in ("pause", "freeze"):
        await post(bot, what, DEPLOY, target="@release", reason="deploying", end="45m")
    bot.merge_queue.resume("acme/site")
    bot.merge_queue.pause("acme/site", "elsewhere again")
    status, changed, outcomes = await ended("resume")
    assert (status, changed, outcomes[1]) == (200, True, "changed")
    assert await ended("unfreeze") == (200, True, ["changed", "changed"])
    await bot.stop_bot()
    bot.posts()
    bot.posts(RELEASES)


async def test_a_freeze_of_a_group_is_ended_as_its_repositorys(
    start_bot: StartBot,
) -> None:
    """Else all freezes of the group would end."""
    bot = await start_bot(environment={**WITH_MACHINES, "MQBOT_GROUPS": "release=acme/site"})
    bot.merge_queue.freeze("acme/site", FreezeTerms("night"))
    (freeze,) = bot.merge_queue.repository("acme/site").freezes
    body = {"target": "@release", "reason": "green", "freeze": freeze.id}
    status, answer = await post(bot, "unfreeze", DEPLOY, **body)
    assert status == HTTPStatus.UNPROCESSABLE_ENTITY
    assert "freeze: Name its repository as the target: owner/name." in str(answer)
    assert len(bot.merge_queue.repository("acme/site").freezes) == 1
    await bot.wait_for_post("*acme/site is frozen* · night", RELEASES)


async def test_a_machine_that_is_not_listed_may_look_but_not_pause(
    start_bot: StartBot, shell: Shell
) -> None:
    listed = {**WITH_MACHINES, "MQBOT_WHO_MAY_PAUSE": "U0BOB,machine:deploy-job"}
    bot = await start_bot(environment=listed, channels=PAUSES)
    refused = await shell(bot, "pause", "acme/site", "--reason", "nightly", token=NIGHTLY)
    assert refused.code == 1
    assert refused.complaints == ("mqbot: Only bob and deploy-job can pause a queue.\n")
    assert (await shell(bot, "status", "acme/site", token=NIGHTLY)).code == 0
    assert bot.pause_reason() is None
    assert [act.actor.user_id for act in await acts(bot)] == ["machine:nightly"]
    assert (await shell(bot, "pause", "acme/site", "--reason", "deploying")).code == 0
    await bot.wait_for_post("is paused")


async def test_a_refusal_is_the_sentence_that_people_read(
    start_bot: StartBot, shell: Shell
) -> None:
    bot = await start_bot(environment=WITH_MACHINES)
    for arguments, complaint in (
        (("resume", "acme/other"), "I don't manage `acme/other`. Available: acme/site"),
        (("pause", "@web", "--reason", "x"), "There is no group `@web`."),
        (("pause", "acme/site", "--reason", " "), "Please enter a reason."),
        (("pause", "acme/site", "--reason", "x", "--end", "soon"), "I can't read that time."),
    ):
        refused = await shell(bot, *arguments)
        assert (refused.code, refused.printed) == (1, "")
        assert complaint in refused.complaints
    assert bot.pause_reason() is None
    bot.break_service("error", path="/merge-queue/pause", status=503)
    failed = await shell(bot, "pause", "acme/site", "--reason", "deploying")
    assert failed.code == 1
    assert "The merge queue service isn't responding" in failed.complaints
    bot.fix_service()
    assert bot.pause_reason() is None


async def test_a_wrong_token_gets_nothing_and_is_not_logged(
    start_bot: StartBot, shell: Shell
) -> None:
    bot = await start_bot(environment=WITH_MACHINES)
    wrong = "wrong-" * 4
    refused = await shell(bot, "pause", "acme/site", "--reason", "x", token=wrong)
    said = "mqbot: MQBOT_TOKEN: the bot doesn't know it. It takes: this machine's token in "
    assert (refused.code, refused.complaints) == (1, f"{said}MQBOT_MACHINE_TOKENS\n")
    no_text = b"POST /api/v1/status HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \xff\r\n\r\n"
    assert (await sent(bot, no_text)).startswith(b"HTTP/1.1 401 ")
    await documented(bot)
    # All at once, so that no machine is too slow to be too fast for the bot.
    asked = [post(bot, "status", wrong, target="acme/site") for _ in range(100)]
    statuses = [status for status, _ in await asyncio.gather(*asked)]
    assert set(statuses) == {401, 429}
    assert (await post(bot, "status", DEPLOY, target="acme/site"))[0] == 200
    refusals = bot.logged_actions().count("machine_refused")
    assert 0 < refusals < len(statuses)
    assert not any(wrong in str(record.__dict__) for record in bot.log.records)
    assert bot.pause_reason() is None


async def test_an_old_token_uses_up_no_requests_of_the_machine(start_bot: StartBot) -> None:
    """Perhaps it was replaced because somebody has it who shouldn't."""
    old = "old-token-of-the-deploy-job-1"
    tokens = f"deploy-job={DEPLOY};deploy-job={old} until 2026-01-01"
    bot = await start_bot(environment={**WITH_MACHINES, "MQBOT_MACHINE_TOKENS": tokens})
    await documented(bot)
    # All at once, so that no machine is too slow to be too fast for the bot.
    asked = [post(bot, "status", old, target="acme/site") for _ in range(100)]
    statuses = [status for status, _ in await asyncio.gather(*asked)]
    assert set(statuses) == {401, 429}
    status, _ = await post(bot, "status", DEPLOY, target="acme/site")
    assert status == HTTPStatus.OK


async def test_without_tokens_there_is_no_such_address(start_bot: StartBot) -> None:
    bot = await start_bot(environment={"MQBOT_HEALTH_PORT": "0"})
    url = f"{address(bot)}/api/v1/status"
    async with aiohttp.ClientSession() as session, session.post(url, json={}) as got:
        assert got.status == 404


@pytest.mark.parametrize(
    ("environ", "complaint"),
    [
        ({}, "mqbot: MQBOT_URL: is missing."),
        ({"MQBOT_URL": "bot.example", "MQBOT_TOKEN": "x"}, "mqbot: MQBOT_URL: not an address"),
        ({"MQBOT_URL": "http://127.0.0.1:9"}, "mqbot: MQBOT_TOKEN: is missing."),
        *(
            ({"MQBOT_URL": url, "MQBOT_TOKEN": "x"}, "mqbot: MQBOT_URL: not an address")
            for url in (
                "http://[::1",
                "http://127.0.0.1:abc",
                "https://xn--a.invalid",
                f"https://{'a' * 70}.invalid",
                "http://127.0.0.1:70000",
                "http:/127.0.0.1:9",
                "https://",
                "http://a b",
                '"http://127.0.0.1:9"',
                "http://127.0.0.1:9?token=x",
            )
        ),
        *(
            ({"MQBOT_URL": "http://127.0.0.1:9", "MQBOT_TOKEN": token}, "mqbot: MQBOT_TOKEN: has a")
            for token in ("tök", "a\nb", "Bearer x", "a\udcff", "a\u200b")
        ),
        *(
            ({"MQBOT_URL": url, "MQBOT_TOKEN": "x"}, "mqbot: MQBOT_URL: is plain http to another")
            for url in (
                "http://queue.invalid",
                "HTTP://queue.invalid:8080/",
                "http://127.0.0.1.queue.invalid",
                "http://localhost@queue.invalid",
                "http://192.0.2.1",
                "http://[2001:db8::1]:80",
            )
        ),
    ],
)
async def test_a_missing_or_unusable_variable_is_a_usage_error(
    tmp_path: Path, environ: dict[str, str], complaint: str
) -> None:
    process = await MqbotProcess.start("status", "acme/site", folder=tmp_path, environ=environ)
    assert await process.ends() == 2
    assert process.complaints.startswith(complaint)


@pytest.mark.parametrize(
    "environ",
    [
        {"MQBOT_URL": "http://queue.invalid", "MQBOT_ALLOW_HTTP": "true"},
        {"MQBOT_URL": "https://queue.invalid"},
        {"MQBOT_URL": "http://localhost:9"},
        {"MQBOT_URL": "http://[::1]:9"},
        {"MQBOT_URL": "http://127.8.8.8:9"},
    ],
    ids=lambda environ: str(environ["MQBOT_URL"]),
)
async def test_https_this_machine_and_what_is_allowed_are_asked(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    given = {**environ, "MQBOT_TOKEN": DEPLOY}
    process = await MqbotProcess.start("status", "acme/site", folder=tmp_path, environ=given)
    assert await process.ends() == 1
    assert process.complaints.startswith("mqbot: MQBOT_URL: the bot didn't answer (")


@pytest.mark.parametrize("status", [200, 422])
async def test_what_an_answer_says_cannot_control_the_terminal(tmp_path: Path, status: int) -> None:
    orders = "\x1b[2J\x1b]0;title\x07 \x9b1m \u202egnp.exe \u2028next\x85\r \x1b]52;c;AAAA\x07"

    async def answer(_request: web.Request) -> web.Response:
        return web.json_response({"message": f"acme/site is paused {orders}"}, status=status)

    application = web.Application()
    application.router.add_post("/api/v1/status", answer)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    environ = {"MQBOT_URL": f"http://127.0.0.1:{runner.addresses[0][1]}", "MQBOT_TOKEN": DEPLOY}
    process = await MqbotProcess.start("status", "acme/site", folder=tmp_path, environ=environ)
    await process.ends()
    await runner.cleanup()
    written = process.printed + process.complaints
    assert "acme/site is paused" in written
    assert "title" in written
    assert all(text.isprintable() or text == "\n" for text in written), ascii(written)


@pytest.mark.parametrize(
    "arguments",
    [("status", "acme/\udcff"), ("outcome", "1f\udcff"), ("log", "a", "--since", "\udcff")],
)
async def test_what_is_no_text_is_asked_with_replacements(
    tmp_path: Path, arguments: Sequence[str]
) -> None:
    answer = {"message": "I don't know it.", "error": "not_found", "field": None}
    behind = Behind(web.json_response(answer, status=404))
    ended = await behind.ended(tmp_path, *arguments)
    assert (ended.code, ended.complaints) == (1, "mqbot: I don't know it.\n")


async def test_a_bot_that_is_not_there_is_a_failure(tmp_path: Path) -> None:
    environ = {"MQBOT_URL": "http://127.0.0.1:9", "MQBOT_TOKEN": DEPLOY}
    process = await MqbotProcess.start("status", "acme/site", folder=tmp_path, environ=environ)
    assert await process.ends() == 1
    assert process.complaints.startswith("mqbot: MQBOT_URL: the bot didn't answer (")


def _is_lost(bot: BotTester, *, carried_out: bool, repository: str = "acme/site") -> None:
    """The answer to the next pause is lost, and the service then answers nothing for a while."""
    path = f"/{repository}/merge-queue/"
    if not carried_out:
        bot.break_service("error", path=f"{path}pause", method="PUT", status=502, times=1)
        return
    bot.break_service("drop_after_accept", path=f"{path}pause", method="PUT", times=1)

    def look(seen: Any) -> None:
        if seen.method == "PUT" and path in seen.path:
            bot.break_service("error", path=path, status=503)

    bot.merge_queue.watchers.append(look)


@pytest.mark.parametrize(("carried_out", "said"), [(True, "is paused"), (False, "is not paused")])
async def test_a_machine_waits_for_the_outcome_of_a_pause_whose_answer_was_lost(
    start_bot: StartBot, *, carried_out: bool, said: str
) -> None:
    bot = await start_bot(environment=WITH_MACHINES)
    _is_lost(bot, carried_out=carried_out)
    # The event log would tell.
    bot.break_service("error", path="/logs", status=503)
    status, answer = await post(bot, "pause", DEPLOY, target="acme/site", reason="deploying")
    assert status == 202
    assert "I can't tell yet whether acme/site is paused." in answer["message"]
    assert answer["changed"] is None
    place = str(answer["outcome"])
    assert (await get(bot, place, NIGHTLY))[0] == 404
    bot.fix_service()
    await bot.pass_time(60)
    found, outcome = await get(bot, place, DEPLOY)
    assert (found, outcome["done"]) == (200, carried_out)
    assert said in outcome["message"]
    assert (bot.pause_reason() is not None) is carried_out
    await bot.stop_bot()
    bot.posts()
    bot.posts(RELEASES)


async def _ended_in_time(bot: BotTester, shell: Shell, *arguments: str) -> Ended:
    """The command, while the bot's time passes faster than the shell's."""
    asking = asyncio.ensure_future(shell(bot, *arguments))
    while not asking.done():
        await bot.pass_time(20)
        await asyncio.wait([asking], timeout=0.5)
    return await asking


@pytest.mark.parametrize(
    ("carried_out", "said", "code"), [(True, "is paused", 0), (False, "is not paused", 1)]
)
async def test_the_exit_code_of_a_pause_whose_answer_was_lost_is_that_of_its_outcome(
    start_bot: StartBot, shell: Shell, *, carried_out: bool, said: str, code: int
) -> None:
    bot = await start_bot(environment=WITH_MACHINES)
    _is_lost(bot, carried_out=carried_out)
    # The event log would tell.
    bot.break_service("error", path="/logs", status=503)
    asking = asyncio.ensure_future(
        _ended_in_time(bot, shell, "pause", "acme/site", "--reason", "deploying")
    )
    await until(lambda: bot.requests("/merge-queue/pause"), "the request")
    await bot.logged("machine_request")
    bot.merge_queue.watchers.clear()
    bot.fix_service()
    ended = await asking
    assert ended.code == code
    assert "can't tell yet" in ended.complaints
    assert said in ended.printed + ended.complaints
    await bot.stop_bot()
    bot.posts()
    bot.posts(RELEASES)


async def test_an_outcome_that_nobody_learns_has_an_exit_code_of_its_own(
    start_bot: StartBot, shell: Shell
) -> None:
    bot = await start_bot(environment=WITH_MACHINES)
    _is_lost(bot, carried_out=True)
    # The event log would tell.
    bot.break_service("error", path="/logs", status=503)
    ended = await _ended_in_time(bot, shell, "pause", "acme/site", "--reason", "deploying")
    assert (ended.code, ended.printed) == (3, "")
    assert ended.complaints.splitlines()[-1] == "mqbot: Still unknown. Check `mqbot status`."
    await bot.stop_bot()
    bot.posts()
    bot.posts(RELEASES)


@pytest.mark.parametrize("carried_out", [True, False])
async def test_a_machine_is_given_an_address_for_a_group_of_which_a_part_is_unknown(
    start_bot: StartBot, *, carried_out: bool
) -> None:
    bot = await start_bot(
        repositories={"acme/site": "quiet", "acme/api": "quiet"},
        environment={**WITH_MACHINES, "MQBOT_GROUPS": "release=acme/site,acme/api"},
        channels=f"{PAUSES};acme/api={MERGE_QUEUE}:pause",
    )
    _is_lost(bot, carried_out=carried_out, repository="acme/api")
    # The event log would tell.
    bot.break_service("error", path="/logs", status=503)
    status, answer = await post(bot, "pause", DEPLOY, target="@release", reason="deploying")
    assert (status, answer["changed"]) == (202, None)
    assert "acme/api" in answer["message"]
    assert "I can't tell yet" in answer["message"]
    bot.merge_queue.watchers.clear()
    bot.fix_service()
    await bot.pass_time(60)
    found, outcome = await get(bot, str(answer["outcome"]), DEPLOY)
    assert (found, outcome["done"]) == (200, carried_out)
    assert ("2 of 2 queues paused" in outcome["message"]) is carried_out
    assert (bot.pause_reason("acme/api") is not None) is carried_out
    await bot.stop_bot()
    bot.posts()
    bot.posts(RELEASES)


@pytest.mark.parametrize("target", ["acme/site", "@release"])
async def test_a_machine_whose_pause_the_database_cannot_store_is_given_the_address_of_its_outcome(
    start_bot: StartBot, target: str
) -> None:
    bot = await start_bot(
        environment={**WITH_MACHINES, "MQBOT_GROUPS": "release=acme/site"}, channels=PAUSES
    )
    database = sqlite3.connect(bot.database_url.removeprefix("sqlite:///"))

    def fails(seen: SeenRequest) -> None:
        if seen.method == "PUT":
            database.execute("ALTER TABLE pauses RENAME TO away")

    bot.merge_queue.watchers.append(fails)
    status, answer = await post(bot, "pause", DEPLOY, target=target, reason="deploying")
    bot.merge_queue.watchers.clear()
    database.execute("ALTER TABLE away RENAME TO pauses")
    database.close()
    assert bot.pause_reason() == "deploying (by deploy-job via mqbot)"
    assert (status, answer["changed"]) == (202, None)
    assert "acme/site" in answer["message"]
    await bot.pass_time(130)
    found, outcome = await get(bot, str(answer["outcome"]), DEPLOY)
    assert (found, outcome["done"]) == (200, True)
    await bot.wait_for_post("paused")
    await bot.stop_bot()
    # On a slow machine the tables are away for so long that the log counts as not read.
    bot.posts()


async def get(bot: BotTester, path: str, token: str) -> tuple[int, Any]:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.get(f"{address(bot)}{path}") as got,
    ):
        answer = await got.json()
    require_documented(await documented(bot), "get", path, got.status, answer)
    return got.status, answer


class Behind:
    """Something between a shell and the bot: it answers as told, in this order."""

    def __init__(self, *answers: web.Response) -> None:
        self._answers = list(answers)
        self.requests: list[str] = []

    async def answer(self, request: web.Request) -> web.Response:
        self.requests.append(f"{request.method} {request.path}")
        return self._answers.pop(0)

    async def ended(self, folder: Path, *arguments: str) -> Ended:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self.answer)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        environ = {"MQBOT_URL": url, "MQBOT_TOKEN": DEPLOY}
        process = await MqbotProcess.start(*arguments, folder=folder, environ=environ)
        code = await process.ends()
        await runner.cleanup()
        return Ended(process.printed, process.complaints, code)


@pytest.mark.parametrize(
    ("what", "status", "code"),
    [
        ("pause", 500, 3),
        ("pause", 502, 3),
        ("resume", 503, 3),
        ("resume", 504, 3),
        ("pause", 403, 1),
        ("resume", 404, 1),
        ("status", 502, 1),
    ],
)
async def test_an_error_of_a_proxy_says_nothing_of_what_the_bot_does(
    tmp_path: Path, what: str, status: int, code: int
) -> None:
    behind = Behind(web.Response(status=status, text="<html>upstream timed out</html>"))
    arguments = [what, "acme/site", *(["--reason", "deploying"] if what == "pause" else [])]
    ended = await behind.ended(tmp_path, *arguments)
    assert ended.code == code
    assert f"mqbot: MQBOT_URL: the answer is not the bot's (status {status})" in ended.complaints


async def test_a_bot_that_restarts_is_asked_for_the_outcome_again(tmp_path: Path) -> None:
    address = "/api/v1/outcome/1f"
    problem = {"message": "I'm starting or stopping. Try again.", "error": "unavailable"}
    done = {"message": "acme/site is paused.", "changed": True, "done": True}
    behind = Behind(
        web.json_response({"message": "I can't tell yet.", "outcome": address}, status=202),
        web.json_response({**problem, "field": None}, status=503),
        web.Response(text="default backend - 404", status=404),
        web.json_response(done),
    )
    ended = await behind.ended(tmp_path, "pause", "acme/site", "--reason", "deploying")
    assert (ended.code, ended.printed) == (0, "acme/site is paused.\n")
    assert behind.requests == ["POST /api/v1/pause", *[f"GET {address}"] * 3]


def _unreachable(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("refused", request=request)


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_no_refusal_is_taken_for_an_outcome(status: int) -> None:
    asked: list[httpx.Request] = []

    def refuse(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(status, json={"message": "Try again.", "error": "unavailable"})

    with httpx.Client(transport=httpx.MockTransport(refuse), base_url="http://bot") as client:
        answer = follow_outcome(client, "/api/v1/outcome/1f", seconds=0.0)
    assert len(asked) == ASKED_MOST
    assert exit_code("outcome", answer) == 3


@pytest.mark.parametrize("status", [200, 403, 404])
def test_no_answer_of_a_proxy_is_taken_for_an_outcome(status: int) -> None:
    asked: list[httpx.Request] = []

    def answer_instead(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(status, text="<h1>default backend</h1>")

    transport = httpx.MockTransport(answer_instead)
    with httpx.Client(transport=transport, base_url="http://bot") as client:
        answer = follow_outcome(client, "/api/v1/outcome/1f", seconds=0.0)
    assert len(asked) == ASKED_MOST
    assert exit_code("outcome", answer) == 3


def test_an_outcome_of_a_bot_that_is_gone_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MQBOT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("MQBOT_TOKEN", DEPLOY)
    transport = httpx.MockTransport(_unreachable)
    with (
        pytest.raises(SystemExit) as ended,
        talking("outcome"),
        httpx.Client(transport=transport, base_url="http://bot") as client,
    ):
        follow_outcome(client, "/api/v1/outcome/1f", seconds=0.0)
    assert ended.value.code == 3


@pytest.mark.parametrize(("what", "code"), [("pause", 3), ("resume", 3), ("status", 1)])
async def test_a_bot_that_dies_before_it_answers_leaves_the_caller_in_doubt(
    tmp_path: Path, what: str, code: int
) -> None:
    """It may have paused before, so that 1 (not paused by you) would be a guess."""

    async def die(request: web.Request) -> web.Response:
        await request.read()
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    app = web.Application()
    app.router.add_post("/api/v1/{what}", die)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    environ = {"MQBOT_URL": f"http://127.0.0.1:{runner.addresses[0][1]}", "MQBOT_TOKEN": DEPLOY}
    arguments = [what, "acme/site", *(["--reason", "deploying"] if what == "pause" else [])]
    process = await MqbotProcess.start(*arguments, folder=tmp_path, environ=environ)
    ended = await process.ends()
    await runner.cleanup()
    assert ended == code
    is_advised = "Check `mqbot status` before a retry." in process.complaints
    assert is_advised is (what != "status")
