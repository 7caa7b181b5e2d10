"""Every command names what is missing, and its exit code says whether to retry."""

import asyncio
import shutil
import signal
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from bot.cli.process import CONFIGURATION_EXIT, UNAVAILABLE_EXIT
from bot.cli.stored import STILL_WAITING
from bot.store.engines import sqlite_path
from tests.support.bot_process import MqbotProcess
from tests.support.database_fixtures import migrated
from tests.support.postgres import PostgresServer
from tests.support.settings import NOWHERE
from tests.support.tcp_route import TcpRoute
from tests.support.waiting import until

NOBODY = "postgresql://mqbot:sesame@127.0.0.1:9/mqbot"
OF_A_SERVER = ["migrate", "audit", "restore"]
OF_A_FILE = ["migrate", "audit", "backup", "restore"]
"""How `mqbot run` ends is in test_check_and_run_agree.py."""
NOT_OURS = {
    "9999": "made by a newer version of this program",
    "0026": "the first edition of mqbot made this database (revision 0026)",
}


async def complaint(folder: Path, command: str, url: str, code: int) -> str:
    """The one line that the command says before it ends with `code`."""
    files = [str(folder / "copy.sqlite3")] if url.startswith("sqlite:") else []
    arguments = [command, *(files if command in {"backup", "restore"} else [])]
    process = await MqbotProcess.start(
        *arguments, folder=folder, environ={**NOWHERE, "DATABASE_URL": url}
    )
    assert await process.ends() == code, process.complaints
    lines = process.complaints.splitlines()
    assert len(lines) == 1, process.complaints
    assert lines[0].startswith(("mqbot: DATABASE_URL: ", f"mqbot: {command}: "))
    assert "sesame" not in lines[0]
    return lines[0]


@pytest.mark.parametrize("command", OF_A_SERVER)
async def test_an_unreachable_server_may_come_back(tmp_path: Path, command: str) -> None:
    await complaint(tmp_path, command, NOBODY, UNAVAILABLE_EXIT)


LOGGED_IN = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I"
"""PostgreSQL's AuthenticationOk and ReadyForQuery,
https://www.postgresql.org/docs/current/protocol-message-formats.html."""


@asynccontextmanager
async def frozen_server(answer: bytes) -> AsyncIterator[str]:
    """The address of a server that stands still after one answer, with its connections open."""
    is_over = asyncio.Event()

    async def stand_still(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1000)
        writer.write(answer)
        await is_over.wait()
        writer.close()

    server = await asyncio.start_server(stand_still, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        options = "sslmode=disable&gssencmode=disable"
        try:
            yield f"postgresql://mqbot:sesame@127.0.0.1:{port}/mqbot?{options}"
        finally:
            is_over.set()


@pytest.mark.parametrize("answer", [b"", LOGGED_IN], ids=["before login", "after login"])
async def test_a_frozen_server_may_go_on_later(tmp_path: Path, answer: bytes) -> None:
    async with frozen_server(answer) as url:
        folders = [tmp_path / command for command in (*OF_A_SERVER, "run")]
        for folder in folders:
            folder.mkdir()
        said = await asyncio.gather(
            *(complaint(folder, folder.name, url, UNAVAILABLE_EXIT) for folder in folders)
        )
        check = await MqbotProcess.start(
            "check", "--json", folder=tmp_path, environ={**NOWHERE, "DATABASE_URL": url}
        )
        assert await check.ends() == UNAVAILABLE_EXIT
    assert all("no answer in time" in line for line in said), said
    assert "no answer in time" in check.printed, check.printed


@pytest.mark.postgres
@pytest.mark.parametrize(
    ("command", "statement"),
    [("audit", b"FROM audit"), ("subscriptions", b"FROM subscriptions")],
)
async def test_a_server_that_freezes_while_a_command_reads_may_go_on_later(
    tmp_path: Path, postgres_url: str, command: str, statement: bytes
) -> None:
    async with TcpRoute(postgres_url, cut_at=statement) as route:
        said = await complaint(tmp_path, command, route.url, UNAVAILABLE_EXIT)
    assert "no answer in time" in said


@pytest.mark.postgres
async def test_a_command_that_may_take_minutes_says_that_it_waits(
    tmp_path: Path, postgres_url: str
) -> None:
    """A frozen server looks like one that removes many rows."""
    async with TcpRoute(postgres_url, cut_at=b"DELETE FROM") as route:
        environ = {**NOWHERE, "DATABASE_URL": route.url}
        process = await MqbotProcess.start("forget", "U0ADA", folder=tmp_path, environ=environ)
        await until(lambda: "Ctrl+C" in process.complaints, "a sentence about the wait")
        assert process.process.returncode is None
        assert await process.stop(signal.SIGINT) == -signal.SIGINT
    assert process.complaints == f"{STILL_WAITING}\n"


@pytest.mark.parametrize("command", ["migrate", "audit"])
async def test_a_locked_file_may_be_free_later(
    sqlite_url: str, tmp_path: Path, command: str
) -> None:
    with closing(sqlite3.connect(sqlite_path(sqlite_url), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        said = await complaint(tmp_path, command, sqlite_url, UNAVAILABLE_EXIT)
    assert "locked" in said


@pytest.mark.parametrize("command", OF_A_FILE)
async def test_a_file_that_is_not_a_database_is_a_permanent_error(
    tmp_path: Path, command: str
) -> None:
    for name in ("bot.sqlite3", "copy.sqlite3"):
        (tmp_path / name).write_text("These are notes and no database. " * 100, "utf-8")
    url = f"sqlite:///{tmp_path / 'bot.sqlite3'}"
    said = await complaint(tmp_path, command, url, CONFIGURATION_EXIT)
    assert "not a database" in said
    if command in {"migrate", "audit"}:
        assert str(tmp_path / "bot.sqlite3") in said


@pytest.mark.parametrize("command", OF_A_SERVER)
async def test_a_file_of_another_version_is_refused_by_name(
    sqlite_url: str, tmp_path: Path, command: str
) -> None:
    copy = tmp_path / "copy.sqlite3"
    shutil.copy(sqlite_path(sqlite_url), copy)
    with closing(sqlite3.connect(copy)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    if command != "restore":
        shutil.copy(copy, sqlite_path(sqlite_url))
    said = await complaint(tmp_path, command, sqlite_url, CONFIGURATION_EXIT)
    assert NOT_OURS["9999"] in said


@pytest.mark.postgres
async def test_a_server_database_of_another_version_is_refused_by_name(
    tmp_path: Path, postgres_server: PostgresServer
) -> None:
    name = migrated(postgres_server)
    refused = [(command, "9999") for command in (*OF_A_SERVER, "run")]
    for command, revision in (*refused, ("run", "0026")):
        changed = f"UPDATE alembic_version SET version_num = '{revision}'"  # noqa: S608  # words of this file
        postgres_server.execute(changed, name)
        folder = tmp_path / f"{command} {revision}"
        folder.mkdir()
        said = await complaint(folder, command, postgres_server.url(name), CONFIGURATION_EXIT)
        assert NOT_OURS[revision] in said, command


@pytest.mark.parametrize("command", OF_A_FILE)
async def test_an_invalid_database_address_is_a_wrong_setting(tmp_path: Path, command: str) -> None:
    said = await complaint(tmp_path, command, "sqlite://", CONFIGURATION_EXIT)
    assert said.startswith("mqbot: DATABASE_URL: ")


@pytest.mark.parametrize("command", ["run", "migrate"])
async def test_the_expected_form_of_an_address_is_shown_in_full(
    tmp_path: Path, command: str
) -> None:
    url = "postgresql://mqbot:sesame@host:port/mqbot"
    said = await complaint(tmp_path, command, url, CONFIGURATION_EXIT)
    assert "@host:port/database" in said
    assert "redacted" not in said
