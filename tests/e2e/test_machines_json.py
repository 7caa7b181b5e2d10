"""What machines freeze and read: answers in their documented shape."""

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

import aiohttp
import jsonschema_rs
import pytest

from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.e2e.test_freezes_by_people import froze, frozen
from tests.e2e.test_machines import (
    DEPLOY,
    NIGHTLY,
    WITH_MACHINES,
    Shell,
    address,
    documented,
    get,
    post,
    shell,
)
from tests.e2e.test_who_may_act import acts
from tests.support.bot_tester import MERGE_QUEUE, RELEASES, BotTester

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]

__all__ = ["shell"]

SITE = "acme/site"


async def start(start_bot: StartBot) -> BotTester:
    return await start_bot(environment=WITH_MACHINES, channels=f"{SITE}={RELEASES}:ci")


async def test_a_machine_freezes_with_exceptions_and_ends_its_own_freeze(
    start_bot: StartBot,
) -> None:
    bot = await start(start_bot)
    asked = {"target": SITE, "reason": "main is red", "end": "2h"}
    limits = {"exceptions": ["fix-main", "@bob"], "branches": ["main"]}
    status, answer = await post(bot, "freeze", DEPLOY, **asked, **limits)
    assert (status, answer["changed"]) == (200, True)
    (made,) = answer["freezes"]
    assert made["by"] == "deploy-job"
    assert made["reason"] == "main is red"
    assert made["conditions"] == ["base=main"]
    assert made["exceptions"] == ["(label=fix-main or author=bob)"]
    (known,) = frozen(bot)
    assert (known.id, known.reason) == (made["id"], "main is red (by deploy-job via mqbot)")
    status, again = await post(bot, "freeze", DEPLOY, **asked, **limits)
    assert (status, again["changed"]) == (200, False)
    assert [freeze["id"] for freeze in again["freezes"]] == [made["id"]]
    asked["reason"] = "the nightly build"
    status, answer = await post(bot, "freeze", NIGHTLY, **asked, **limits)
    assert (status, answer["changed"]) == (409, False)
    status, answer = await post(bot, "unfreeze", NIGHTLY, target=SITE, reason="done")
    assert (status, answer["changed"]) == (409, False)
    assert "That isn't your freeze" in answer["message"]
    assert len(frozen(bot)) == 1
    status, answer = await post(bot, "unfreeze", DEPLOY, target=SITE, reason="main is green")
    assert (status, answer["changed"]) == (200, True)
    assert frozen(bot) == []
    status, answer = await post(bot, "unfreeze", DEPLOY, target=SITE, reason="main is green")
    assert (status, answer["changed"]) == (200, False)
    ended = [(act.action, act.actor.name) for act in await acts(bot)]
    assert ("unfreeze", "deploy-job") in ended


async def test_a_machine_lets_one_pull_request_through_a_persons_freeze(
    start_bot: StartBot, shell: Shell
) -> None:
    bot = await start(start_bot)
    await froze(bot, "/mq freeze 2h cutting 4.2")
    ended = await shell(bot, "allow", SITE, "41", "--reason", "fixes main", "--json")
    assert (ended.code, ended.complaints) == (0, "")
    answer = json.loads(ended.printed)
    assert answer["changed"] is True
    assert [freeze["reason"] for freeze in answer["freezes"]] == ["cutting 4.2"]
    assert [freeze.exclude_conditions for freeze in frozen(bot)] == [("number=41",)]
    await bot.wait_for_post("*Freeze changed*")
    again = await shell(bot, "allow", SITE, "41", "--reason", "fixes main")
    assert (again.code, again.complaints) == (0, "")
    assert "#41 is already an exception" in again.printed
    left = await shell(bot, "unfreeze", SITE, "--reason", "green", "--json")
    assert (left.code, json.loads(left.printed)["changed"]) == (1, False)
    ended = await shell(bot, "unfreeze", SITE, "--reason", "green", "--any")
    assert (ended.code, frozen(bot)) == (0, [])
    await bot.wait_for_post("*Freeze ended*")


async def test_what_a_machine_reads_is_values(start_bot: StartBot, shell: Shell) -> None:
    bot = await start_bot(environment=WITH_MACHINES, channels=f"{SITE}={MERGE_QUEUE}:pause")
    failed = bot.enqueue(broken_check="lint", title="Breaks the build")
    await bot.happens("action.queue.leave", failed)
    await bot.pause("now CI runners are down")
    waiting = bot.enqueue(title="Waits for CI")
    status, answer = await post(bot, "status", DEPLOY, target=SITE)
    assert status == 200
    (queue,) = answer["queues"]
    assert (queue["repository"], queue["state"], queue["queued"]) == (SITE, "paused", 1)
    assert (queue["pause"]["reason"], queue["pause"]["by"]) == ("CI runners are down", "alice")
    titles = [waits["title"] for waits in queue["waiting"]]
    numbers = [number for batch in queue["batches"] for number in batch["pull_requests"]]
    assert titles == ["Waits for CI"] or numbers == [waiting]
    status, answer = await post(bot, "why", DEPLOY, target=SITE)
    assert status == 200
    assert answer["findings"][0]["verdict"] == "paused"
    status, answer = await post(bot, "why", DEPLOY, target=SITE, pull_request=failed)
    assert status == 200
    assert (answer["where"], answer["cause"], answer["turn"]) == ("left", "failed", "author")
    assert [check["name"] for check in answer["checks"]] == ["lint"]
    status, answer = await post(bot, "why", DEPLOY, target=SITE, pull_request=999_999)
    assert (status, answer["where"], answer["cause"]) == (200, "unknown", None)
    for arguments in (("status", SITE), ("why", SITE), ("why", SITE, str(failed))):
        ended = await shell(bot, *arguments, "--json")
        assert (ended.code, ended.complaints) == (0, "")
        said = await shell(bot, *arguments)
        assert json.loads(ended.printed)["message"].splitlines()[0] in said.printed


async def test_a_machine_reads_the_log_page_by_page(start_bot: StartBot, shell: Shell) -> None:
    bot = await start(start_bot)
    failed = bot.enqueue(broken_check="lint")
    await bot.happens("action.queue.leave", failed)
    asked = {"target": SITE, "pull_request": failed}
    status, answer = await post(bot, "log", DEPLOY, **asked, events=1)
    assert status == 200
    (last,) = answer["events"]
    assert last["pull_request"] == failed
    status, answer = await post(bot, "log", DEPLOY, **asked, events=100, cursor=answer["older"])
    assert status == 200
    types = [event["type"] for event in [last, *answer["events"]]]
    assert {"action.queue.leave", "action.queue.enter"} <= set(types)
    assert answer["older"] is None
    status, answer = await post(bot, "log", DEPLOY, **asked, cursor="no such page")
    assert (status, answer["field"]) == (422, "cursor")
    ended = await shell(bot, "log", SITE, "--pr", str(failed), "--json")
    assert ended.code == 0
    assert [event["id"] for event in json.loads(ended.printed)["events"]][:1] == [last["id"]]
    assert f"#{failed}" in (await shell(bot, "log", SITE)).printed


async def test_a_wrong_field_is_named(start_bot: StartBot, shell: Shell) -> None:
    bot = await start(start_bot)
    for what, body, named in (
        ("pause", {}, "target"),
        ("pause", {"target": 1}, "target"),
        ("pause", {"target": SITE, "sudo": True}, "sudo"),
        ("pause", {"target": "acme/other", "reason": "x"}, "target"),
        ("pause", {"target": "@web", "reason": "x"}, "target"),
        ("pause", {"target": SITE, "reason": " "}, "reason"),
        ("pause", {"target": SITE, "reason": "x", "end": "soon"}, "end"),
        ("freeze", {"target": SITE, "reason": "x", "exceptions": ["@"]}, "exceptions"),
        ("freeze", {"target": SITE, "reason": "x", "branches": ["*"]}, "branches"),
        ("allow", {"target": SITE, "pull_request": 0, "reason": "x"}, "pull_request"),
        ("allow", {"target": "all", "pull_request": 1, "reason": "x"}, "target"),
        ("why", {"target": "all"}, "target"),
        ("log", {"target": SITE, "since": "long"}, "since"),
        ("log", {"target": SITE, "events": 101}, "events"),
    ):
        status, answer = await post(bot, what, DEPLOY, **body)
        assert status in {400, 422}, answer
        assert (answer["error"], answer["field"]) == ("wrong_field", named)
        assert answer["message"].startswith(f"{named}: ")
    ended = await shell(bot, "log", SITE, "--since", "long", "--json")
    assert (ended.code, json.loads(ended.printed)["field"]) == (1, "since")
    assert frozen(bot) == []
    assert bot.pause_reason() is None


async def test_the_document_is_valid_and_has_every_request(start_bot: StartBot) -> None:
    bot = await start(start_bot)
    document = await documented(bot)
    assert document["openapi"] == "3.1.0"
    paths = {path.rpartition("/v1/")[2] for path in document["paths"]}
    acting = {"pause", "resume", "freeze", "unfreeze", "allow"}
    assert paths == acting | {"status", "why", "log", "outcome/{request}"}
    for schema in document["components"]["schemas"].values():
        assert jsonschema_rs.meta.is_valid(schema)
        assert schema.get("type") != "object" or schema["additionalProperties"] is False
    whole = json.dumps(document)
    for name in document["components"]["schemas"]:
        assert f"#/components/schemas/{name}" in whole


WRONG: Sequence[tuple[str, dict[str, Any], str, str]] = (
    ("pause", {}, "target", "This field is missing. `owner/name`, `@group`"),
    ("pause", {"target": 5}, "target", "Write a text in quotes."),
    ("pause", {"target": SITE}, "reason", "Please enter a reason."),
    ("pause", {"target": SITE, "reason": "x" * 10_240}, "reason", "yours has 10240"),
    (
        "pause",
        {"target": SITE, "reason": "x", "until": "45m"},
        "until",
        "It has target, reason, end",
    ),
    ("pause", {"target": SITE, "reason": "x", "end": "soon"}, "end", "Write it like 45m"),
    ("freeze", {"target": SITE, "reason": "x", "branches": ["a*"]}, "branches", "example main."),
    ("freeze", {"target": SITE, "reason": "x", "exceptions": ["#0"]}, "exceptions", "“#0”"),
    ("freeze", {"target": SITE, "reason": "x", "exceptions": "a"}, "exceptions", "Write a list"),
    ("unfreeze", {"target": SITE, "reason": "x", "any": "maybe"}, "any", "Write true or false."),
    ("allow", {"target": SITE, "reason": "x"}, "pull_request", "This field is missing."),
    ("allow", {"target": SITE, "pull_request": 0}, "pull_request", "Write a number from 1."),
    ("why", {"target": "all"}, "target", "Name one repository: owner/name."),
    ("log", {"target": SITE, "events": 101}, "events", "Write a number up to 100."),
    ("log", {"target": SITE, "since": "31d"}, "since", "Write a length such as 2h or 7d"),
)

NOT_GUESSED: Sequence[tuple[str, dict[str, Any], str, str]] = (
    ("pause", {"target": SITE, "reason": "\ufe0f"}, "reason", "Please enter a reason."),
    ("freeze", {"target": SITE, "reason": "x", "exceptions": ["\u200b"]}, "exceptions", "a label"),
    (
        "freeze",
        {"target": SITE, "reason": "x", "exceptions": ["x", *"abcde"]},
        "exceptions",
        "At most 5",
    ),
    ("freeze", {"target": SITE, "reason": "x", "branches": ["a\x00b"]}, "branches", "one branch"),
    (
        "freeze",
        {"target": SITE, "reason": "x", "branches": ["main\u200b"]},
        "branches",
        "one branch",
    ),
    ("unfreeze", {"target": SITE, "reason": "x", "any": 1}, "any", "Write true or false."),
    ("pause", {"target": SITE, "reason": "\u202e\u200b"}, "reason", "Please enter a reason."),
    ("freeze", {"target": SITE, "reason": "\u2060"}, "reason", "Please enter a reason."),
    # 1 in Python, and surely no pull request that anybody means.
    ("allow", {"target": SITE, "pull_request": True}, "pull_request", "Write a whole number."),
    ("why", {"target": SITE, "pull_request": "41"}, "pull_request", "Write a whole number."),
    ("log", {"target": SITE, "events": True}, "events", "Write a whole number."),
    ("log", {"target": SITE, "branch": ""}, "branch", "Write at least one character"),
    ("log", {"target": SITE, "branch": "x" * 256}, "branch", "At most 255 characters."),
)


@pytest.mark.parametrize("wrong", [WRONG, NOT_GUESSED], ids=["wrong", "not guessed"])
async def test_a_wrong_request_names_its_field_and_how_to_fix_it(
    start_bot: StartBot, wrong: Sequence[tuple[str, dict[str, Any], str, str]]
) -> None:
    bot = await start(start_bot)
    for what, body, field, how in wrong:
        status, answer = await post(bot, what, DEPLOY, **body)
        assert (status in {400, 422}, answer["field"]) == (True, field)
        assert answer["message"].startswith(f"{field}: ")
        assert how in answer["message"]
    assert frozen(bot) == []
    assert bot.pause_reason() is None


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "how"),
    [
        ("POST", "pause", b"deploying", 400, 'Send a JSON object in UTF-8, for example {"target"'),
        ("POST", "pause", b'{"target": "\xff"}', 400, "Fields: target, reason, end."),
        ("GET", "pause", b"", 405, "Send this as a POST."),
        (
            "POST",
            "stop",
            b"{}",
            404,
            "POST: pause, resume, freeze, unfreeze, allow, status, why, log.",
        ),
    ],
)
async def test_what_is_no_request_is_answered_with_what_one_is(
    start_bot: StartBot, method: str, path: str, body: bytes, status: int, how: str
) -> None:
    bot = await start(start_bot)
    url = f"{address(bot)}/api/v1/{path}"
    headers = {"Authorization": f"Bearer {DEPLOY}"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.request(method, url, data=body) as got,
    ):
        answer = await got.json()
    assert (got.status, answer["field"]) == (status, None)
    assert how in answer["message"]


@pytest.mark.parametrize(
    ("status", "answered", "kind"),
    [
        (403, 422, "not_accepted"),
        (404, 422, "not_accepted"),
        (422, 422, "not_accepted"),
        (503, 503, "unavailable"),
    ],
)
async def test_only_what_may_work_later_is_called_unavailable(
    start_bot: StartBot, status: int, answered: int, kind: str
) -> None:
    bot = await start(start_bot)
    bot.break_service("error", path="/merge-queue/status", status=status)
    got, answer = await post(bot, "status", DEPLOY, target=SITE)
    assert (got, answer["error"]) == (answered, kind)


async def test_a_field_that_is_there_twice_is_no_value(start_bot: StartBot) -> None:
    bot = await start(start_bot)
    headers = {"Authorization": f"Bearer {DEPLOY}"}
    url = f"{address(bot)}/api/v1/pause"
    body = b'{"target": "acme/site", "reason": "x", "target": "all"}'
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.post(url, data=body) as got,
    ):
        answer = await got.json()
    assert (got.status, answer["error"], answer["field"]) == (400, "wrong_field", "target")
    assert "This field is there twice." in answer["message"]
    assert bot.pause_reason() is None


async def test_a_repository_with_spaces_around_it_is_that_repository(start_bot: StartBot) -> None:
    bot = await start(start_bot)
    status, answer = await post(bot, "status", DEPLOY, target=" ACME/Site\n")
    assert status == 200
    assert [queue["repository"] for queue in answer["queues"]] == [SITE]


async def test_an_outcome_without_a_database_is_unavailable(start_bot: StartBot) -> None:
    bot = await start(start_bot)
    database = sqlite3.connect(bot.database_url.removeprefix("sqlite:///"))
    database.execute("ALTER TABLE unanswered RENAME TO away")
    try:
        status, answer = await get(bot, "/api/v1/outcome/1f", DEPLOY)
    finally:
        database.execute("ALTER TABLE away RENAME TO unanswered")
        database.close()
    assert (status, answer["error"]) == (503, "unavailable")
    assert "database isn't available" in answer["message"]
    for unknown in ("1f", "%00", "%F0%9F%99%88"):
        status, answer = await get(bot, f"/api/v1/outcome/{unknown}", DEPLOY)
        assert (status, answer["error"]) == (404, "not_found")


async def test_a_freeze_is_ended_by_its_id_and_an_unknown_id_is_refused(
    start_bot: StartBot,
) -> None:
    bot = await start(start_bot)
    _, answer = await post(bot, "freeze", DEPLOY, target=SITE, reason="main is red")
    (freeze,) = answer["freezes"]
    ending = {"target": SITE, "reason": "green"}
    status, answer = await post(bot, "unfreeze", DEPLOY, freeze="nope", **ending)
    assert (status, answer["field"]) == (422, "freeze")
    assert freeze["id"] in answer["message"]
    _, why = await post(bot, "why", DEPLOY, target=SITE)
    (finding,) = why["findings"]
    assert (finding["verdict"], finding["since"]) == ("frozen", freeze["begins_at"])
    status, answer = await post(bot, "unfreeze", DEPLOY, freeze=freeze["id"], **ending)
    assert (status, answer["changed"]) == (200, True)
    status, answer = await post(bot, "unfreeze", DEPLOY, freeze=freeze["id"], **ending)
    assert (status, answer["changed"]) == (200, False)
    assert answer["message"] == "That freeze has ended already. Nothing was changed."


async def test_the_answer_to_an_exception_has_the_exception(start_bot: StartBot) -> None:
    bot = await start(start_bot)
    await post(bot, "freeze", DEPLOY, target=SITE, reason="main is red", exceptions=["fix"])
    _, answer = await post(bot, "allow", DEPLOY, target=SITE, pull_request=41, reason="urgent")
    (freeze,) = answer["freezes"]
    assert freeze["exceptions"] == ["(label=fix or number=41)"]
