"""`mqbot forget`: what is kept about a person goes, as one act, and the audit stays protected."""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Connection,
    Integer,
    Text,
    false,
    insert,
    literal,
    select,
    text,
    type_coerce,
)
from sqlalchemy.exc import DBAPIError

from bot.acts.reason import signed_reason
from bot.acts.record import Action, ActResult, AuditRecord, Confirmation, Outcome, SettingChange
from bot.acts.rows import Audit
from bot.cli.main import main
from bot.kernel.actor import Actor, Origin
from bot.log.rows import Events
from bot.merge_queue.event_records import EventDetails
from bot.pauses.pause import PauseEnd, PauseLine, PauseRecord
from bot.pauses.rows import Pauses, ResumeWatchers
from bot.people.notices import Notice
from bot.people.rows import People
from bot.store import migrate
from bot.store.engines import create_engine
from bot.store.schema import StoredJson, StoredNumber, StoredValue, metadata
from bot.store.transactions import Store
from tests.support.databases import TestDatabase
from tests.support.stored import NOW, SITE, make_event, make_record
from tests.support.transactions import begin

ADA = Actor("U0ADA", "Ada Lovelace", "T1")
BOB = Actor("U0BOB", "Bob", "T1")
ROOT = Path(__file__).parents[2]


def run(url: str, *arguments: str) -> Result:
    environ = {"DATABASE_URL": url, "MQBOT_API_URL": "", "SLACK_BOT_TOKEN": ""}
    return CliRunner(env=environ).invoke(main, [*arguments], prog_name="mqbot")


@pytest.fixture
def forgetful_url(database: TestDatabase) -> str:
    """A migrated database of either kind."""
    return database.url


def acts() -> list[AuditRecord]:
    record = replace(make_record(at=NOW), actor=ADA, stored_reason=signed_reason("deploying", ADA))
    record = replace(record, reason="deploying")
    confirmed = Confirmation("", (ADA.user_id,), ADA)
    return [
        record,
        replace(record, actor=BOB, stored_reason=None, confirmation=confirmed),
        replace(record, actor=BOB, stored_reason=None, reason=f"for {ADA.user_id}"),
        replace(record, result=ActResult.REFUSED, stored_reason=None),
    ]


async def fill(url: str) -> None:
    migrate.upgrade(url)
    store = Store(create_engine(url))
    with begin(store) as transaction:
        for record in acts():
            Audit(transaction).add(record)
        for person in (ADA, BOB):
            People(transaction).link(person.user_id, person.name.split()[0], NOW)
            People(transaction).choose(person.user_id, {Notice.MERGE: True})
        pause = PauseRecord(SITE, PauseLine(NOW, "CI is down", "CI is down"))
        pause_id = Pauses(transaction).save(pause)
        for person in (ADA, BOB):
            ResumeWatchers(transaction).add(pause_id, person.user_id)
    await store.close()


async def test_the_command_alone_finds_the_name_in_every_table(
    forgetful_url: str, tmp_path: Path
) -> None:
    """In a process of its own, which knows the tables that the command has imported."""
    store = Store(create_engine(forgetful_url))
    signed = signed_reason("CI is down", ADA)
    with begin(store) as transaction:
        Audit(transaction).add(replace(make_record(at=NOW), actor=ADA, stored_reason=signed))
        Events(transaction).add_new([replace(make_event(), details=EventDetails(reason=signed))])
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", "forget", ADA.user_id),
        cwd=tmp_path,
        env={**os.environ, "DATABASE_URL": forgetful_url, "PYTHONPATH": str(ROOT)},
    )
    assert await process.wait() == 0
    with begin(store) as transaction:
        left = texts(transaction.connection)
    await store.close()
    assert [text for _, text in left if ADA.name in text] == []


def test_a_person_is_forgotten_in_one_audited_act(forgetful_url: str) -> None:
    asyncio.run(fill(forgetful_url))
    done = run(forgetful_url, "forget", ADA.user_id)
    assert done.exit_code == 0, done.output
    assert "1 rows of login and choices, 1 waits and 0 open requests removed" in done.output
    assert "name removed from 3 audit records and 0 other rows" in done.output
    assert "Lovelace" not in run(forgetful_url, "audit", "--json").output
    store = Store(create_engine(forgetful_url))
    with begin(store) as transaction:
        assert People(transaction).logins([ADA.user_id, BOB.user_id]) == {BOB.user_id: "Bob"}
        assert People(transaction).chosen([ADA.user_id]) == {}
        assert ResumeWatchers(transaction).awaited([ADA.user_id]) == {}
        assert ResumeWatchers(transaction).awaited([BOB.user_id]) != {}
        first, second, third, refused = Audit(transaction).since(SITE, NOW)
    asyncio.run(store.close())
    assert first.actor == replace(ADA, name=ADA.user_id)
    assert first.stored_reason == f"deploying (by {ADA.user_id} via Slack)"
    assert second.actor == BOB
    assert second.confirmation is not None
    assert second.confirmation.asked_by == replace(ADA, name=ADA.user_id)
    assert third.reason == f"for {ADA.user_id}"
    assert refused.actor.name == ADA.user_id
    lines = run(forgetful_url, "audit", "--json").output.splitlines()
    (act,) = (json.loads(line) for line in lines if '"forget"' in line)
    assert (act["where"], act["detail"], act["user_id"]) == (
        Origin.OPERATOR,
        ADA.user_id,
        "operator",
    )
    assert act["action"] == Action.FORGET


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit SET reason = 'x'",
        "UPDATE audit SET actor = '{}' WHERE result = 'refused'",
        "DELETE FROM audit WHERE result <> 'refused'",
    ],
)
def test_the_audit_is_as_protected_afterwards(forgetful_url: str, statement: str) -> None:
    asyncio.run(fill(forgetful_url))
    for _ in range(2):
        assert run(forgetful_url, "forget", ADA.user_id).exit_code == 0
    engine = create_engine(forgetful_url)
    try:
        with pytest.raises(DBAPIError, match="only ever added"), engine.begin() as connection:
            connection.execute(text(statement))
    finally:
        engine.dispose()


def test_a_failure_leaves_everything_as_it_was(
    forgetful_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(fill(forgetful_url))

    def fail(*_: object) -> None:
        raise RuntimeError("killed")

    monkeypatch.setattr("bot.acts.rows.Audit.add", fail)
    assert run(forgetful_url, "forget", ADA.user_id).exit_code != 0
    monkeypatch.undo()
    assert "Lovelace" in run(forgetful_url, "audit").output
    engine = create_engine(forgetful_url)
    try:
        with pytest.raises(DBAPIError, match="only ever added"), engine.begin() as connection:
            connection.execute(text("UPDATE audit SET reason = 'x'"))
    finally:
        engine.dispose()


@pytest.mark.parametrize("given", ["", "alice", "u0ada", "C0GENERAL", "U0ADA;", "*", "machine:ci"])
def test_only_the_id_of_a_person_is_taken(forgetful_url: str, given: str) -> None:
    migrate.upgrade(forgetful_url)
    done = run(forgetful_url, "forget", given)
    assert done.exit_code == 2
    assert "looks like U012AB3CD" in done.output


def test_a_person_whom_nobody_knows_is_no_failure(forgetful_url: str) -> None:
    asyncio.run(fill(forgetful_url))
    done = run(forgetful_url, "forget", "U0NOBODY")
    assert done.exit_code == 0
    assert "name removed from 0 audit records" in done.output


SIGNED = signed_reason("CI is down", ADA)
WHOLE: Mapping[str, object] = {
    "by": asdict(ADA),
    "results": [{"who": ADA.name, "detail": SIGNED}],
    "reason": SIGNED,
}
"""What a stored value may say about a person, at any depth."""

OVER: Mapping[str, Mapping[str, object]] = {
    "audit": {"result": "done"},
    "channel_queues": {"suspended_at": None, "retry_at": None, "suspended_code": None},
    "deliveries": {"state": "delivered"},
    "service_features": {"feature": "freezes"},
    "pauses": {"ending": "resumed"},
    "subscriptions": {"source": "command"},
}
"""What constraints ask of a row about something that is over."""


def raw(column: Column[Any]) -> ColumnElement[Any]:
    """A value that says all that a column of its type may say about a person."""
    of_people = {"user_id", "created_by", "channel_id"}
    bare_names = {"made_by", "ended_by"}
    said = ADA.user_id if column.name in of_people else SIGNED
    said = ADA.name if column.name in bare_names else said
    if isinstance(column.type, StoredJson):
        said = json.dumps(WHOLE, separators=(",", ":"))
    is_key = column.primary_key or bool(column.foreign_keys)
    is_name = isinstance(column.type, StoredValue)
    if column.name not in of_people and (is_key or is_name) and said == SIGNED:
        said = "x"
    if isinstance(column.type, Boolean):
        return false()
    if isinstance(column.type, (BigInteger, Integer, StoredNumber)):
        return literal(1, BigInteger())
    return literal(said, Text())


def test_no_table_keeps_the_name(forgetful_url: str) -> None:
    """Every text of every table, whatever its column is for."""
    migrate.upgrade(forgetful_url)
    engine = create_engine(forgetful_url)
    with engine.begin() as connection:
        for table in metadata.sorted_tables:
            columns = [one for one in table.columns if one is not table.autoincrement_column]
            row = {column.name: raw(column) for column in columns}
            connection.execute(insert(table).values({**row, **OVER.get(table.name, {})}))
        before = texts(connection)
    assert {name for name, text in before if ADA.name in text} >= {
        "audit.actor",
        "events.details",
        "freezes.removed_for",
        "group_acts.results",
        "boards.made_by",
        "pauses.timer",
    }
    done = run(forgetful_url, "forget", ADA.user_id)
    assert done.exit_code == 0, done.output
    assert "in force" not in done.output
    with engine.begin() as connection:
        after = texts(connection)
    engine.dispose()
    assert [one for one in after if "Lovelace" in one[1]] == []
    gone = {name.partition(".")[0] for name, _ in before} - {
        name.partition(".")[0] for name, _ in after
    }
    assert gone == {
        "muted_pull_requests",
        "people",
        "questions",
        "resume_watchers",
        "unanswered",
    }


def texts(connection: Connection) -> list[tuple[str, str]]:
    """Everything stored, by table and column."""
    found: list[tuple[str, str]] = []
    for table in metadata.sorted_tables:
        raw_columns = [type_coerce(column, Text).label(column.name) for column in table.columns]
        for row in connection.execute(select(*raw_columns)).mappings():
            found += [(f"{table.name}.{name}", str(value)) for name, value in row.items()]
    return found


def test_what_people_typed_and_what_others_are_called_stays(forgetful_url: str) -> None:
    migrate.upgrade(forgetful_url)
    other = Actor("U0OTHER", ADA.name, "T1")
    record = replace(
        make_record(at=NOW), actor=ADA, reason="Ada Lovelace broke it", outcome=Outcome(detail=None)
    )
    store = Store(create_engine(forgetful_url))
    with begin(store) as transaction:
        Audit(transaction).add(replace(record, stored_reason=signed_reason("broken", ADA)))
        of_other = replace(record, actor=other, stored_reason=signed_reason("broken", other))
        Audit(transaction).add(of_other)
        for action, before, login in (
            (Action.LINK, "", "ada-l"),
            (Action.LINK, "ada-l", "ada"),
            (Action.UNLINK, "ada", ""),
        ):
            act = replace(record, action=action, reason=None, stored_reason=None)
            Audit(transaction).add(replace(act, setting=SettingChange(before, login)))
    assert run(forgetful_url, "forget", ADA.user_id).exit_code == 0
    with begin(store) as transaction:
        first, second, *links = Audit(transaction).since(SITE, NOW)
    asyncio.run(store.close())
    assert (first.reason, first.stored_reason) == (
        "Ada Lovelace broke it",
        f"broken (by {ADA.user_id} via Slack)",
    )
    assert (second.actor, second.stored_reason) == (other, of_other.stored_reason)
    changes = [(link.setting.before, link.setting.after) for link in links]
    assert changes == [("", ADA.user_id), (ADA.user_id, ADA.user_id), (ADA.user_id, "")]


def test_the_reason_of_a_pause_in_force_keeps_the_name_until_it_is_over(forgetful_url: str) -> None:
    """The service shows it, and the bot knows the pause by it."""
    migrate.upgrade(forgetful_url)
    store = Store(create_engine(forgetful_url))
    record = replace(make_record(at=NOW), actor=ADA, reason="CI is down", stored_reason=SIGNED)
    pause = PauseRecord(SITE, PauseLine(NOW, SIGNED, "CI is down", by=ADA))
    over = replace(pause, end=PauseEnd(NOW, ADA))
    with begin(store) as transaction:
        Audit(transaction).add(record)
        pause_id = Pauses(transaction).save(pause)
    done = run(forgetful_url, "forget", ADA.user_id)
    assert "1 reasons of pauses or freezes in force keep the name" in done.output
    with begin(store) as transaction:
        assert Pauses(transaction).one(pause_id) == replace(pause, pause_id=pause_id)
        Pauses(transaction).save(replace(over, pause_id=pause_id))
    done = run(forgetful_url, "forget", ADA.user_id)
    assert "in force" not in done.output
    with begin(store) as transaction:
        known = Pauses(transaction).one(pause_id)
        assert known is not None
        assert known.line.stored_reason == f"CI is down (by {ADA.user_id} via Slack)"
        assert (known.line.by, known.ended_by) == (replace(ADA, name=ADA.user_id),) * 2
    asyncio.run(store.close())
    assert "Lovelace" not in run(forgetful_url, "audit", "--json").output


@pytest.mark.parametrize(
    "name", ['Ada "The Count" O\\Byron', "Ädä Łovelace", "100% _ada_", "愛" * 90]
)
def test_every_name_is_found(forgetful_url: str, name: str) -> None:
    """However JSON writes it, and where it is cut."""
    migrate.upgrade(forgetful_url)
    store = Store(create_engine(forgetful_url))
    actor = replace(ADA, name=name)
    signed = signed_reason("CI is down", actor)
    event = replace(make_event(), details=EventDetails(reason=signed))
    with begin(store) as transaction:
        Audit(transaction).add(replace(make_record(at=NOW), actor=actor, stored_reason=signed))
        Events(transaction).add_new([event])
    assert run(forgetful_url, "forget", ADA.user_id).exit_code == 0
    with begin(store) as transaction:
        left = texts(transaction.connection)
        (record,) = Audit(transaction).since(SITE, NOW)
    asyncio.run(store.close())
    assert record.actor.name == ADA.user_id
    assert [text for _, text in left if name[:80] in text or json.dumps(name)[1:40] in text] == []
