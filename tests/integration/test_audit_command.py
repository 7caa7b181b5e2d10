"""`mqbot audit`: its output from both databases, while a bot runs and within bounded memory."""

import asyncio
import json
import tracemalloc
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from bot.acts.asked import Asked
from bot.acts.record import (
    Action,
    AuditRecord,
    AuditSelection,
    Confirmation,
    Outcome,
    PartOfGroup,
    Previous,
    SettingChange,
)
from bot.acts.rows import Audit
from bot.cli.audit import HEADING, as_line
from bot.cli.main import main
from bot.kernel.durations import For
from bot.questions.reading_audit import STREAMED, every_record
from bot.runtime.clock import SystemClock
from bot.store.engines import create_engine
from bot.store.transactions import Store
from tests.support.databases import TestDatabase
from tests.support.stored import SHOP, make_record
from tests.support.transactions import begin

HOUR = timedelta(hours=1)


def run(url: str, *arguments: str) -> Result:
    environ = {"DATABASE_URL": url, "MQBOT_API_URL": "", "SLACK_BOT_TOKEN": ""}
    return CliRunner(env=environ).invoke(main, ["audit", *arguments], prog_name="mqbot")


async def add(url: str, records: Iterable[AuditRecord]) -> None:
    store = Store(create_engine(url))
    with begin(store) as transaction:
        for record in records:
            Audit(transaction).add(record)
    await store.close()


def three_records() -> list[AuditRecord]:
    now = SystemClock().now()
    return [
        replace(
            make_record(at=now - 50 * HOUR), outcome=Outcome("200"), group=PartOfGroup("release", 7)
        ),
        replace(
            make_record(at=now - 2 * HOUR, repository=SHOP),
            action=Action.SUBSCRIBE,
            reason=None,
            stored_reason=None,
            paused_at=None,
            setting=SettingChange("", "enter merge"),
        ),
        replace(
            make_record(at=now - HOUR),
            reason="CI \x1b[31mred\x1b[0m\nis down",
            previous=Previous("before"),
            outcome=Outcome("409 conflict: busy"),
        ),
    ]


def lines(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.output.splitlines()]


async def test_json_has_what_a_machine_proposed_and_until_when(database: TestDatabase) -> None:
    now = SystemClock().now()
    asked = Asked("main is red", For(timedelta(minutes=45)), excepted=("label=fix",))
    confirmation = Confirmation("", ("U0BOB",), proposed=asked, ends_at=now)
    await add(database.url, [replace(make_record(at=now - HOUR), confirmation=confirmation)])
    (record,) = lines(await asyncio.to_thread(run, database.url, "--json"))
    assert record["confirmation"]["proposed"] == "45m except:label=fix main is red"
    assert record["confirmation"]["ends_at"].endswith("Z")
    assert record["confirmation"]["may_confirm"] == ["U0BOB"]


async def test_json_has_one_object_a_line_and_the_table_is_safe_to_read(
    database: TestDatabase,
) -> None:
    records = three_records()
    await add(database.url, records)

    printed = lines(await asyncio.to_thread(run, database.url, "--json"))

    assert [record["action"] for record in printed] == ["pause", "subscribe", "pause"]
    first, subscribed, refused = printed
    assert first == {
        "record": 1,
        "act": None,
        "at": records[0].at.isoformat().replace("+00:00", "Z"),
        "user_id": "U1",
        "user_name": "Ada",
        "team_id": "T1",
        "action": "pause",
        "where": "modal",
        "channel": "C1",
        "repository": "acme/site",
        "pull_request": None,
        "group": "release",
        "group_act": 7,
        "times": 1,
        "result": "done",
        "reason": "deploying 4.2",
        "before": {"reason": None, "paused_at": None, "subscription": None},
        "after": {
            "reason": "deploying 4.2 (Ada)",
            "paused_at": records[0].at.isoformat().replace("+00:00", "Z"),
            "resumes_at": None,
            "subscription": None,
        },
        "answer": "200",
        "detail": None,
        "confirmation": None,
        "evidence": None,
    }
    assert (subscribed["before"]["subscription"], subscribed["after"]["subscription"]) == (
        "",
        "enter merge",
    )
    assert refused["reason"] == "CI \x1b[31mred\x1b[0m\nis down"
    assert refused["answer"] == "409 conflict: busy"

    since = lines(await asyncio.to_thread(run, database.url, "--json", "--since", "1d"))
    assert [record["action"] for record in since] == ["subscribe", "pause"]
    for typed in ("acme/shop", "Acme/SHOP"):
        of_shop = ("--json", "--repository", typed)
        shop = lines(await asyncio.to_thread(run, database.url, *of_shop))
        assert [one["repository"] for one in shop] == ["acme/shop"]
    unknown = await asyncio.to_thread(run, database.url, "--repository", "acme/shp")
    assert unknown.exit_code == 2
    known = "nothing is stored about acme/shp; known are acme/shop, acme/site"
    assert unknown.output == f"mqbot: --repository: {known}\n"

    filtered = {
        "--until 1d": ["pause"],
        "--since 1d --until 90m": ["subscribe"],
        "--action subscribe": ["subscribe"],
        "--action pause --action SUBSCRIBE": ["pause", "subscribe", "pause"],
        "--actor ada": ["pause", "subscribe", "pause"],
        "--actor u1 --action pause": ["pause", "pause"],
        "--actor Ad": [],
        "--actor %": [],
    }
    for typed, actions in filtered.items():
        found = lines(await asyncio.to_thread(run, database.url, "--json", *typed.split()))
        assert [record["action"] for record in found] == actions, typed

    table = await asyncio.to_thread(run, database.url)
    heading, _, subscribed_row, last = table.output.splitlines()
    assert heading == HEADING
    assert subscribed_row.endswith("topics: enter merge")
    assert "\x1b" not in last
    assert last.endswith("CI [31mred[0m is down · before: before · answer: 409 conflict: busy")
    assert " Ada (U1) " in last


@pytest.mark.parametrize(
    ("action", "after", "shown"),
    [
        (Action.SUBSCRIBE, "", " · topics: none"),
        (Action.FREEZE, "only main, except label=hotfix", " · only main, except label=hotfix"),
        (Action.ALLOW, "#41", " · #41"),
        (Action.DEFAULT, "acme/api", " · default repository: acme/api"),
        (Action.LINK, "alice-m", " · login: alice-m"),
        (Action.SKIP, "weekend", " · window: weekend"),
    ],
)
def test_a_line_says_what_an_action_set(action: Action, after: str, shown: str) -> None:
    record = replace(make_record(), action=action, setting=SettingChange(after=after))
    unset = replace(make_record(), action=action)
    assert shown in as_line(record)
    assert shown not in as_line(unset)


async def test_the_audit_can_be_read_while_a_bot_writes(database: TestDatabase) -> None:
    """Each transaction of the export ends before the next record of the bot is stored."""
    await add(database.url, [make_record() for _ in range(STREAMED)])
    reader = database.open_store()
    writer = database.open_store()
    seen = 0
    async for _record in every_record(reader, AuditSelection()):
        seen += 1
        if seen == STREAMED:
            with begin(writer) as transaction:
                Audit(transaction).add(make_record())

    assert seen == STREAMED + 1


async def test_memory_use_does_not_grow_with_the_number_of_records(sqlite_url: str) -> None:
    await add(sqlite_url, [make_record() for _ in range(STREAMED * 2)])
    after_one = await peak_of(sqlite_url)
    await add(sqlite_url, [make_record() for _ in range(STREAMED * 5)])

    assert await peak_of(sqlite_url) < after_one * 1.5


async def peak_of(url: str) -> int:
    """Bytes at most held while everything is read."""
    store = Store(create_engine(url))
    tracemalloc.start()
    try:
        async for _record in every_record(store, AuditSelection()):
            pass
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        await store.close()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--since", "yesterday"], "a length of time is written 90m, 24h, 7d or 2w."),
        (["--since", "0d"], "at least a minute and at most ten years"),
        (["--since", "9999w"], "at least a minute and at most ten years"),
        (["--repository", "site"], "a repository is written owner/name."),
        (["--until", "tomorrow"], "a length of time is written 90m, 24h, 7d or 2w."),
        (["--since", "1d", "--until", "2d"], "it has to be later than --since"),
        (["--action", "dance"], "'dance' is not one of 'pause', 'resume'"),
    ],
)
def test_invalid_input_gets_a_clear_error(arguments: list[str], sentence: str) -> None:
    result = run("sqlite:///nowhere.sqlite3", *arguments)
    assert result.exit_code == 2
    assert sentence in result.output


def test_a_foreign_database_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "none.sqlite3"
    result = run(f"sqlite:///{path}")
    assert result.exit_code == 2
    assert "run mqbot migrate" in result.output
    assert not path.exists()
