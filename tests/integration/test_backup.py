"""A SQLite database copied while the bot writes is restored without repeated or lost posts."""

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import AsyncExitStack, ExitStack, closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bot.cli.main import main
from bot.cli.process import CONFIGURATION_EXIT, UNAVAILABLE_EXIT, forever
from bot.cli.stored import changing_store
from bot.config.settings import RunSettings
from bot.kernel.clock import Clock
from bot.posts.outbox import Outbox
from bot.runtime.process import build_runtime
from bot.runtime.surroundings import Surroundings
from bot.store import migrate
from bot.store.backup import (
    back_up,
    keep_others_out,
    make_ready,
    presence,
    restore,
    take_over_database,
)
from bot.store.connected import present, require_nobody_connected
from bot.store.engines import create_engine, sqlite_path
from bot.store.errors import StoreUnavailable, StoreUnusable
from bot.store.transaction import Transaction
from bot.store.transactions import Store
from tests.support.bot_process import MqbotProcess
from tests.support.bot_tester import ALICE, RELEASES, BotTester
from tests.support.clock import FakeClock, ImpatientClock, StandingClock
from tests.support.database_fixtures import migrated
from tests.support.databases import PATIENT, TestDatabase
from tests.support.postgres import PostgresServer
from tests.support.settings import NOWHERE, settings_in
from tests.support.shown import Shown
from tests.support.stored import make_new
from tests.support.transactions import begin
from tests.support.waiting import until

RESTORES = """
import os
import shutil
import sys
from pathlib import Path

import bot.runtime.schema
from bot.store.backup import restore
from bot.store.errors import StoreUnavailable

STOPPED = 9

template = Path(sys.argv[1])
disk = sys.argv[2]

def restore_until(step, folder):
    steps = 0

    def watch(event, arguments):
        nonlocal steps
        if event == "os.link" and disk == "without links":
            raise PermissionError(1, "Operation not permitted")
        if event in {"open", "os.link", "os.remove", "os.rename", "sqlite3.connect"}:
            steps += str(folder) in str(arguments)
            if steps == step:
                if disk == "failing":
                    steps += 1
                    raise OSError(5, "Input/output error")
                os._exit(STOPPED)

    sys.addaudithook(watch)
    try:
        restore(f"sqlite:///{folder}/bot.sqlite3", folder / "copy", lambda transaction: None)
    except StoreUnavailable:
        os._exit(STOPPED)
    os._exit(STOPPED if steps > step else 0)

code = STOPPED
step = 0
while code == STOPPED:
    step += 1
    folder = template.with_name(f"stopped-at-{step:02}")
    shutil.copytree(template, folder)
    child = os.fork()
    if child == 0:
        restore_until(step, folder)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
sys.exit(code)
"""
"""Restores a folder's copy again and again, until its first step, its second, and so on.

A step is what Python tells its audit hooks. There the process dies, or the disk fails.
"""


def run(command: str, *arguments: str, url: str, clock: Clock | None = None) -> Result:
    return CliRunner(env={"DATABASE_URL": url}).invoke(main, [command, *arguments], obj=clock)


def rows(path: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as database:
        return list(database.execute(query))


def unfinished(folder: Path) -> list[Path]:
    return list(folder.glob(".*part*"))


async def test_copies_made_while_the_bot_writes_are_complete(
    sqlite_url: str, tmp_path: Path
) -> None:
    store = Store(create_engine(sqlite_url))
    written = 0
    stop = asyncio.Event()

    async def write() -> None:
        nonlocal written
        while not stop.is_set():
            new = [make_new(written), make_new(written + 1)]
            await store.run(lambda transaction, new=new: Outbox(transaction).add(new))  # type: ignore[misc]  # the value of this turn
            written += 2

    writing = asyncio.create_task(write())
    held = 0
    for number in range(5):
        await until(lambda before=held: written > before, "something written")  # type: ignore[misc]  # the value of this turn
        copy = tmp_path / f"copy{number}"
        await asyncio.to_thread(back_up, sqlite_url, copy)
        ((held,),) = rows(copy, "SELECT count(*) FROM deliveries")  # type: ignore[assignment]  # a number
        # Both of a transaction or none, and the line's own row agrees.
        assert held % 2 == 0
        assert rows(copy, "SELECT max(next_sequence) FROM channel_queues") == [(held + 1,)]
        assert copy.stat().st_mode & 0o777 == 0o600
    stop.set()
    await writing
    await store.close()
    assert held > 0
    assert unfinished(tmp_path) == []


async def test_posts_made_since_the_copy_are_not_repeated(sqlite_url: str, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    async with BotTester(sqlite_url, channels=f"acme/site={RELEASES}:enter") as bot:
        await bot.wait_for_post(f"#{bot.enqueue()}", RELEASES)
        bot.expected_refusals.add("chat.postMessage rate_limit")
        bot.break_slack("rate_limit", "chat.postMessage", retry_after=3)
        number = bot.enqueue()
        await until(lambda: _waiting(sqlite_url), "a delivery that waits")
        await asyncio.to_thread(back_up, sqlite_url, copy)
        await bot.wait_for_post(f"#{number}", RELEASES)
        await bot.stop_bot()
        result = await asyncio.to_thread(run, "restore", str(copy), url=sqlite_url)
        assert result.exit_code == 0, result.output
        assert "looks in Slack before it sends a post" in result.output
        await bot.start_bot()
        await until(lambda: not _unsettled(sqlite_url), "everything settled", 60)
        later = bot.enqueue()
        await bot.wait_for_post(f"#{later}", RELEASES)
        posts = [post.line for post in bot.posts(RELEASES)]
        assert len([post for post in posts if f"#{number}" in post]) == 1


async def test_a_restored_copy_forgets_what_the_operations_page_lists(
    sqlite_url: str, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    async with BotTester(sqlite_url, channels=f"acme/site={RELEASES}:enter,merge,pause") as bot:
        await bot.wait_for_post(f"#{bot.enqueue()}", RELEASES)
        bot.stand_still()
        await asyncio.to_thread(back_up, sqlite_url, copy)
        later = bot.enqueue()
        waiting = await bot.wait_for_post(f"#{later}", RELEASES)
        board = await _use(bot)
        card = await bot.wait_for_post("CI is down", RELEASES)
        shown = bot.now(board)
        await bot.stop_bot()
        result = await asyncio.to_thread(run, "restore", str(copy), url=sqlite_url)
        assert result.exit_code == 0, result.output
        await bot.start_bot()

        # Kept: what the settings say, and what the service and Slack know.
        kept = await bot.ask("/mq subscriptions", channel=RELEASES)
        assert "acme/site: enter" in kept
        await until(lambda: not _unsettled(sqlite_url), "everything settled", 60)
        status = await bot.ask("/mq status")
        assert "is paused" in status
        assert "CI is down" in status
        await _has_forgotten(bot, sqlite_path(sqlite_url))
        await bot.resume()
        await bot.wait_for_change(card, "was paused")
        bot.go_on()
        await bot.wait_for_change(waiting, "Merged")
        posts = [post.line for post in bot.posts(RELEASES)]
        assert len([post for post in posts if f"#{later}" in post]) == 1
        assert bot.now(board) == shown
        # Where the log is read only after she has resumed it, the audit knows alice by then.
        bot.posts()
        bot.direct_messages(by=ALICE)


async def _has_forgotten(bot: BotTester, path: Path) -> None:
    """What people told the bot alone."""
    assert "no subscriptions yet" in await bot.ask("/mq subscriptions")
    assert "Link it" in await bot.ask("/mq me")
    audit = await bot.ask("/mq audit")
    # The log still tells who paused.
    assert "alice paused acme/site: CI is down\n" in audit.line
    assert audit.line.count(" UTC · ") == audit.line.count("as the event log says") == 1
    assert rows(path, "SELECT count(*) FROM pauses WHERE timer IS NOT NULL") == [(0,)]


async def _use(bot: BotTester) -> Shown:
    """Tell the bot what only its database knows; the board."""
    await bot.type("/mq subscribe acme/site merge")
    await bot.wait_for_post("Subscribed this channel")
    await bot.type("/mq board")
    board = await bot.wait_for_post("acme/site")
    await bot.ask("/mq link alice-m")
    card = await bot.pause("now 2h CI is down")
    assert "Until 20" in card.line
    await bot.wait_for_change(board, "paused")
    return board


def _waiting(url: str) -> bool:
    query = "SELECT 1 FROM deliveries WHERE state = 'pending' AND error IS NOT NULL"
    return bool(rows(sqlite_path(url), query))


def _unsettled(url: str) -> bool:
    return bool(rows(sqlite_path(url), "SELECT 1 FROM deliveries WHERE settled_at IS NULL"))


def test_the_previous_database_is_kept_if_there_was_one(sqlite_url: str, tmp_path: Path) -> None:
    path = sqlite_path(sqlite_url)
    copy = tmp_path / "copy"
    elsewhere = tmp_path / "new" / "bot"
    assert run("backup", str(copy), url=sqlite_url).exit_code == 0
    with closing(sqlite3.connect(path)) as database:
        database.execute("INSERT INTO handled_requests VALUES ('later', 1)")
        database.commit()
    result = run("restore", str(copy), url=sqlite_url)
    kept = path.with_name(f"{path.name}.before-restore")
    assert f"is kept as {kept}" in result.output
    assert rows(path, "SELECT count(*) FROM handled_requests") == [(0,)]
    assert rows(kept, "SELECT count(*) FROM handled_requests") == [(1,)]

    result = run("restore", str(copy), url=f"sqlite:///{elsewhere}")
    assert result.exit_code == 0
    assert "is kept" not in result.output
    assert rows(elsewhere, "SELECT count(*) FROM deliveries") == [(0,)]


def test_a_backup_into_a_folder_that_is_not_there_names_the_folder(
    sqlite_url: str, tmp_path: Path
) -> None:
    folder = tmp_path / "no" / "such"
    result = run("backup", str(folder / "copy"), url=sqlite_url)
    # A network's folder may be there later.
    assert result.exit_code == 1
    assert result.stderr == f"mqbot: backup: there is no folder {folder}\n"


def test_another_restore_keeps_what_the_first_replaced(sqlite_url: str, tmp_path: Path) -> None:
    path = sqlite_path(sqlite_url)
    copy = tmp_path / "copy"
    assert run("backup", str(copy), url=sqlite_url).exit_code == 0
    with closing(sqlite3.connect(path)) as database:
        database.execute("INSERT INTO handled_requests VALUES ('later', 1)")
        database.commit()
    first = path.with_name(f"{path.name}.before-restore")
    for name in (first.name, f"{first.name}-2", f"{first.name}-3"):
        result = run("restore", str(copy), url=sqlite_url)
        assert f"is kept as {path.with_name(name)}\n" in result.output
    assert rows(first, "SELECT count(*) FROM handled_requests") == [(1,)]
    # The first one can be undone.
    assert run("restore", str(first), url=sqlite_url).exit_code == 0
    assert rows(path, "SELECT count(*) FROM handled_requests") == [(1,)]


REQUESTS = "SELECT request FROM handled_requests"


def folder_after_a_kill(folder: Path) -> Path:
    """With a database that a killed bot left, whose last row isn't merged yet, and a copy."""
    url = f"sqlite:///{folder}/bot.sqlite3"
    assert run("migrate", url=url).exit_code == 0
    assert run("backup", str(folder / "copy"), url=url).exit_code == 0
    killed = folder.with_name("killed")
    with closing(sqlite3.connect(sqlite_path(url))) as database:
        database.execute("INSERT INTO handled_requests VALUES ('later', 1)")
        database.commit()
        shutil.copytree(folder, killed)
    return killed


@pytest.mark.parametrize("disk", ["with links", "without links", "failing"])
def test_a_restore_stopped_at_any_step_leaves_the_old_database_or_the_new_one(
    tmp_path: Path, disk: str
) -> None:
    template = folder_after_a_kill(tmp_path / "before")
    subprocess.run([sys.executable, "-c", RESTORES, template, disk], check=True, timeout=300)
    are_new = []
    for folder in sorted(tmp_path.glob("stopped-at-*")):
        path = folder / "bot.sqlite3"
        assert path.exists(), folder
        is_new = rows(path, REQUESTS) == []
        if is_new:
            kept = path.with_name("bot.sqlite3.before-restore")
            assert rows(kept, REQUESTS) == [("later",)], folder
        else:
            assert rows(path, REQUESTS) == [("later",)], folder
        are_new.append(is_new)
    assert not are_new[0]
    assert are_new[-1]


@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize("journal", ["WAL", "DELETE"])
def test_changes_beside_the_replaced_database_stay_out_of_the_restored_one(
    tmp_path: Path, journal: str, *, is_there: bool
) -> None:
    """They were left by a killed process, of a file that is damaged or was moved away since."""
    folder = tmp_path / "in use"
    url = f"sqlite:///{folder}/bot.sqlite3"
    assert run("migrate", url=url).exit_code == 0
    assert run("backup", str(tmp_path / "copy"), url=url).exit_code == 0
    killed = tmp_path / "killed"
    with closing(sqlite3.connect(sqlite_path(url), isolation_level=None)) as database:
        database.execute(f"PRAGMA journal_mode={journal}")
        # Writes before the end of the transaction.
        database.execute("PRAGMA cache_size=2")
        database.execute("BEGIN")
        many = [(f"request {number} {'x' * 500}", 1) for number in range(2000)]
        database.executemany("INSERT INTO handled_requests VALUES (?, ?)", many)
        if journal == "WAL":
            database.execute("COMMIT")
        shutil.copytree(folder, killed)
    path = killed / "bot.sqlite3"
    beside = {file.name for file in killed.iterdir()} - {path.name, "bot.sqlite3.in-use"}
    assert beside
    if is_there:
        path.write_bytes(b"damaged" * 1000)
    else:
        path.unlink()

    result = run("restore", str(tmp_path / "copy"), url=f"sqlite:///{path}")
    assert result.exit_code == 0, result.output
    assert rows(path, REQUESTS) == []
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]
    assert ("is kept as" in result.output) is is_there
    if not is_there:
        kept = {name.replace("bot.sqlite3", "bot.sqlite3.before-restore") for name in beside}
        assert kept <= {file.name for file in killed.iterdir()}


def test_a_database_in_use_is_not_replaced(sqlite_url: str, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    run("backup", str(copy), url=sqlite_url)
    before = sqlite_path(sqlite_url).stat()
    with presence(sqlite_path(sqlite_url)):
        result = run("restore", str(copy), url=sqlite_url)
    assert result.exit_code == 1
    assert result.stderr == "mqbot: restore: the database is in use: stop the bot first\n"
    assert sqlite_path(sqlite_url).stat().st_ino == before.st_ino

    # A folder without file locks does not look like a running bot.
    lock = sqlite_path(sqlite_url).with_name(f"{sqlite_path(sqlite_url).name}.in-use")
    lock.unlink(missing_ok=True)
    lock.mkdir()
    result = run("restore", str(copy), url=sqlite_url)
    assert result.exit_code == 1
    assert "Is a directory" in result.stderr
    assert "stop the bot" not in result.stderr


async def test_a_bot_that_starts_during_a_restore_ends_and_names_it(
    sqlite_url: str, tmp_path: Path
) -> None:
    """Its supervisor starts it again until the restore is over."""
    path = sqlite_path(sqlite_url)
    copy = tmp_path / "copy"
    assert run("backup", str(copy), url=sqlite_url).exit_code == 0
    with closing(sqlite3.connect(path)) as database:
        database.execute(
            "UPDATE alembic_version SET version_num = ?", [migrate.known_revisions()[0]]
        )
        database.commit()
    before = path.read_bytes()
    environ = {**NOWHERE, "DATABASE_URL": sqlite_url}
    refusals = []
    loop = asyncio.get_running_loop()

    async def start(command: str) -> None:
        process = await MqbotProcess.start(command, folder=tmp_path, environ=environ)
        refusals.append((command, await process.ends()))

    def meanwhile(_transaction: Transaction) -> None:
        for command in ("run", "worker", "migrate"):
            asyncio.run_coroutine_threadsafe(start(command), loop).result()

    kept = await asyncio.to_thread(restore, sqlite_url, copy, meanwhile)
    assert refusals == [(command, UNAVAILABLE_EXIT) for command in ("run", "worker", "migrate")]
    said = "mqbot restore is using the database: try again when it has finished"
    line = f"mqbot: DATABASE_URL: can't be used: {path}: {said}\n"
    assert (tmp_path / "stderr").read_text() == 3 * line
    assert kept is not None
    assert kept.read_bytes() == before

    process = await MqbotProcess.start("run", folder=tmp_path, environ=environ)
    await until(lambda: "Slack cannot be reached" in process.complaints, "a look for Slack")
    assert await process.stop() == 0


CHANGING = [
    ["forget", "U0ADA"],
    ["unsubscribe", "C012AB3CD"],
    ["forget-repository", "acme/site"],
    ["rename", "acme/site", "acme/shop"],
]


@pytest.mark.parametrize("command", CHANGING, ids=lambda command: command[0])
async def test_a_command_that_changes_something_waits_for_the_end_of_a_restore(
    any_database: TestDatabase, command: list[str]
) -> None:
    """What it changes would go into the replaced database."""
    url = any_database.url
    with ExitStack() as stack:
        await keep_others_out(url, "restore", FakeClock(), stack)
        result = await asyncio.to_thread(run, *command, url=url, clock=FakeClock())
    assert result.exit_code == UNAVAILABLE_EXIT, result.output
    said = "mqbot restore is using the database: try again when it has finished\n"
    assert result.stderr.endswith(said), result.stderr
    assert len(result.stderr.splitlines()) == 1


async def test_a_restore_waits_for_the_end_of_a_command_that_changes_something(
    any_database: TestDatabase, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    copies = [str(copy)] if any_database.kind == "sqlite" else []
    if copies:
        assert run("backup", *copies, url=any_database.url).exit_code == 0
    async with changing_store(any_database.url):
        result = await asyncio.to_thread(
            run, "restore", *copies, url=any_database.url, clock=FakeClock()
        )
        assert result.exit_code == UNAVAILABLE_EXIT, result.output
        assert "in use" in result.stderr
    result = await asyncio.to_thread(
        run, "restore", *copies, url=any_database.url, clock=FakeClock()
    )
    assert result.exit_code == 0, result.output


def test_a_backup_onto_the_database_itself_is_refused(sqlite_url: str, tmp_path: Path) -> None:
    """By any name: it would take the file away from a running bot."""
    path = sqlite_path(sqlite_url)
    link = tmp_path / "link"
    link.symlink_to(path)
    hard = path.with_name("hard")
    hard.hardlink_to(path)
    folder = tmp_path / "folder"
    folder.symlink_to(path.parent)
    before = path.stat()
    others = (f"{path}-wal", f"{path}-shm", f"{path}.in-use", folder / path.name)
    for name in (path, link, hard, *others, os.path.relpath(path)):
        result = run("backup", str(name), url=sqlite_url)
        assert result.exit_code == CONFIGURATION_EXIT, name
        assert result.stderr == (
            f"mqbot: backup: {name} is the database itself: name another file\n"
        )
    after = path.stat()
    assert (after.st_ino, after.st_size) == (before.st_ino, before.st_size)


@pytest.mark.parametrize("is_linked", [False, True])
def test_a_backup_replaces_no_pipe_and_no_device(
    sqlite_url: str, tmp_path: Path, *, is_linked: bool
) -> None:
    """As /dev/stdout may be: root may replace even that."""
    named = pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    if is_linked:
        named = tmp_path / "stdout"
        named.symlink_to(pipe)
    result = run("backup", str(named), url=sqlite_url)
    assert result.exit_code == CONFIGURATION_EXIT
    assert result.stderr == f"mqbot: backup: {named} isn't a plain file: name another file\n"
    assert pipe.is_fifo()
    assert named.is_symlink() is is_linked


def test_a_backup_over_a_link_to_a_file_replaces_that_file(sqlite_url: str, tmp_path: Path) -> None:
    """On the disk where it is; the link stays."""
    file = tmp_path / "copy"
    file.touch()
    link = tmp_path / "link"
    link.symlink_to(file)
    assert run("backup", str(link), url=sqlite_url).exit_code == 0
    assert link.is_symlink()
    assert rows(file, "SELECT count(*) FROM deliveries") == [(0,)]


def test_a_backup_to_a_name_that_is_no_text_names_the_file(sqlite_url: str, tmp_path: Path) -> None:
    """A file's name is bytes: Latin-1 ones, for example."""
    result = run("backup", os.fsdecode(bytes(tmp_path) + b"/caf\xe9"), url=sqlite_url)
    assert result.exit_code == CONFIGURATION_EXIT
    said = f"{tmp_path}/caf\\udce9 isn't UTF-8: SQLite can't write a file of that name"
    assert result.stderr == f"mqbot: backup: {said}\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("is_replaced", [False, True])
async def test_a_bot_whose_file_is_deleted_or_replaced_stops_and_says_so(
    sqlite_url: str, *, is_replaced: bool
) -> None:
    path = sqlite_path(sqlite_url)
    async with BotTester(sqlite_url) as bot:
        await bot.stop_bot()
        settings = settings_in(bot.settings_environment(), RunSettings)

        async def run_without_its_file() -> None:
            async with build_runtime(settings, Surroundings(ImpatientClock())):
                if is_replaced:
                    path.with_name("new").write_bytes(path.read_bytes())
                    path.with_name("new").replace(path)
                else:
                    path.unlink()
                await forever()

        with pytest.raises(StoreUnusable) as raised:
            await run_without_its_file()
    assert raised.value.cause.startswith(f"{path} was deleted or replaced while mqbot used it")


def test_a_damaged_database_is_not_copied(sqlite_url: str, tmp_path: Path) -> None:
    path = sqlite_path(sqlite_url)
    copy = tmp_path / "copy"
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode=DELETE")
        ((root,),) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'audit'")
        ((size,),) = database.execute("PRAGMA page_size")
    with path.open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"Z" * size)
    result = run("backup", str(copy), url=sqlite_url)
    assert result.exit_code == 1
    assert result.stderr == f"mqbot: backup: {path}: the file is damaged\n"
    assert not copy.exists()
    assert unfinished(tmp_path) == []


def test_what_is_no_backup_of_ours_is_refused_and_nothing_changes(
    sqlite_url: str, tmp_path: Path
) -> None:
    wrong = tmp_path / "wrong"

    def refused() -> str:
        result = run("restore", str(wrong), url=sqlite_url)
        assert result.exit_code == 2
        assert result.stderr.startswith("mqbot: restore: ")
        assert "Traceback" not in result.output
        assert rows(sqlite_path(sqlite_url), "SELECT count(*) FROM deliveries") == [(0,)]
        assert unfinished(tmp_path) == []
        return result.stderr

    for content in (b"", b"no database at all, but long enough" * 100):
        wrong.write_bytes(content)
        assert str(wrong) in refused()
    wrong.unlink()
    run("backup", str(wrong), url=sqlite_url)
    for revision, sentence in (("9999", "made by a newer version"), ("0026", "first edition")):
        with closing(sqlite3.connect(wrong)) as database:
            database.execute("UPDATE alembic_version SET version_num = ?", [revision])
            database.commit()
        said = refused()
        assert sentence in said
        assert str(wrong) in said


def test_a_copy_of_which_a_part_is_missing_is_named(sqlite_url: str, tmp_path: Path) -> None:
    """As after a transfer that broke off."""
    copy = tmp_path / "copy"
    run("backup", str(copy), url=sqlite_url)
    before = sqlite_path(sqlite_url).read_bytes()
    os.truncate(copy, 20_000)
    result = run("restore", str(copy), url=sqlite_url)
    assert result.exit_code == 1
    assert result.stderr == f"mqbot: restore: {copy}: the file is damaged\n"
    assert sqlite_path(sqlite_url).read_bytes() == before


def test_a_disk_without_room_for_the_lock_ends_a_restore_with_one_sentence(
    sqlite_url: str, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    run("backup", str(copy), url=sqlite_url)
    result = subprocess.run(
        [
            "sh",
            "-c",
            'ulimit -f 0 && exec "$@"',
            "sh",
            sys.executable,
            "-m",
            "bot",
            "restore",
            copy,
        ],
        env={**os.environ, "DATABASE_URL": sqlite_url},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == UNAVAILABLE_EXIT
    unknown = "can't tell whether the bot uses the database"
    lock = f"{sqlite_path(sqlite_url)}.in-use"
    assert result.stderr == f"mqbot: restore: {unknown}: {lock}: File too large\n"


def test_the_wrong_kind_of_database_is_named() -> None:
    url = "postgresql://mqbot:s3same@127.0.0.1:1/mqbot"
    for arguments in (("backup", "copy"), ("restore", "copy")):
        result = run(*arguments, url=url)
        assert result.exit_code == 2
        assert "s3same" not in result.output
    assert run("restore", url="sqlite:////nowhere/x").exit_code == 2
    assert run("backup", "copy", url="sqlite:////nowhere/x").exit_code == 2


@pytest.mark.postgres
async def test_a_postgresql_backup_is_restored_to_an_empty_database_and_over_its_own(
    postgres_server: PostgresServer,
) -> None:
    """With the exact commands of docs/operations."""
    name = migrated(postgres_server)
    elsewhere = postgres_server.create_database()
    url = postgres_server.url(name)
    empty = postgres_server.url(elsewhere)
    store = Store(create_engine(url, **PATIENT))
    await store.run(lambda transaction: Outbox(transaction).add([make_new(1)]))
    await store.close()
    postgres_server.execute("CREATE TABLE somebody_elses (one int)", name)
    postgres_server.execute("INSERT INTO handled_requests VALUES ('before', 1)", name)
    postgres_server.tool("pg_dump", "-Fc", "-f", "data/mqbot.dump", url)
    postgres_server.tool("pg_restore", "--no-owner", "-d", empty, "data/mqbot.dump")
    postgres_server.execute("INSERT INTO handled_requests VALUES ('since', 1)", name)
    postgres_server.tool(
        "pg_restore", "--clean", "--if-exists", "--no-owner", "-d", url, "data/mqbot.dump"
    )
    for restored in (empty, url):
        result = await asyncio.to_thread(run, "restore", url=restored)
        assert result.exit_code == 0, result.output
        assert migrate.is_current(restored)
        store = Store(create_engine(restored, **PATIENT))
        (doubted,) = await store.run(lambda transaction: Outbox(transaction).in_doubt(10))
        assert doubted.progress.attempted_at == doubted.created_at
        await store.close()
    assert postgres_server.execute("SELECT request FROM handled_requests", name) == [("before",)]
    assert postgres_server.execute("SELECT * FROM somebody_elses", name) == []


@pytest.mark.postgres
async def test_a_postgresql_database_in_use_is_not_prepared_for_a_restore(
    postgres_url: str,
) -> None:
    store = Store(create_engine(postgres_url, **PATIENT))
    with begin(store) as transaction:
        Outbox(transaction).add([make_new(1)])
    result = await asyncio.to_thread(run, "restore", url=postgres_url, clock=FakeClock())
    assert result.exit_code == 1
    assert result.stderr.startswith("mqbot: restore: the bot has the database in use, from ")
    assert "stop every process first" in result.stderr
    with begin(store) as transaction:
        assert Outbox(transaction).in_doubt(10) == []

    # It waits for the connections of a process that ends just now.
    clock = StandingClock()
    restoring = asyncio.create_task(
        asyncio.to_thread(run, "restore", url=postgres_url, clock=clock)
    )
    await until(lambda: clock.slept, "a command that waits")
    await store.close()
    result = await restoring
    assert result.exit_code == 0, result.output


@pytest.mark.postgres
async def test_a_bot_that_starts_while_a_postgresql_backup_is_prepared_ends_and_names_it(
    postgres_url: str, tmp_path: Path
) -> None:
    environ = {**NOWHERE, "DATABASE_URL": postgres_url}
    said = "mqbot restore is using the database: try again when it has finished"
    with ExitStack() as stack:
        await require_nobody_connected(postgres_url, "restore", FakeClock(), stack)
        for command in ("run", "worker", "migrate"):
            process = await MqbotProcess.start(command, folder=tmp_path, environ=environ)
            assert await process.ends() == UNAVAILABLE_EXIT
        line = f"mqbot: DATABASE_URL: can't be used: {said}\n"
        assert (tmp_path / "stderr").read_text() == 3 * line
        # Nor does another command of its kind begin.
        result = await asyncio.to_thread(run, "restore", url=postgres_url, clock=FakeClock())
        assert (result.exit_code, result.stderr) == (1, f"mqbot: restore: {said}\n")

    process = await MqbotProcess.start("run", folder=tmp_path, environ=environ)
    await until(lambda: "Slack cannot be reached" in process.complaints, "a look for Slack")
    assert await process.stop() == 0


@pytest.mark.postgres
async def test_a_bot_is_kept_out_until_a_postgresql_backup_is_prepared(postgres_url: str) -> None:
    said = "mqbot restore is using the database"
    seen = []

    def meanwhile(_transaction: Transaction) -> None:
        with pytest.raises(StoreUnavailable, match=said), present(postgres_url):
            raise AssertionError
        seen.append(said)

    await make_ready(postgres_url, FakeClock(), meanwhile)
    assert seen == [said]
    with present(postgres_url):
        pass


@pytest.mark.postgres
async def test_a_bot_that_lost_all_connections_is_kept_out_when_it_connects_again(
    postgres_url: str, postgres_server: PostgresServer, postgres_database: str
) -> None:
    """As after the advice to end a connection that outlived its process, of one that lives."""
    async with AsyncExitStack() as stack:
        store = Store(create_engine(postgres_url, **PATIENT))
        stack.push_async_callback(store.close)
        assert not await take_over_database(store, postgres_url, stack)
        await store.ask()
        is_used = pytest.raises(StoreUnavailable, match="the bot has the database in use")
        with is_used, ExitStack() as renaming:
            await require_nobody_connected(postgres_url, "rename", FakeClock(), renaming)
        postgres_server.execute(
            "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity"
            " WHERE application_name = 'mqbot' AND datname = current_database()",
            postgres_database,
        )
        with ExitStack() as renaming:
            await require_nobody_connected(postgres_url, "rename", FakeClock(), renaming)
            with pytest.raises(StoreUnavailable, match="mqbot rename is using the database"):
                await store.ask()
        await store.ask()


@pytest.mark.postgres
async def test_a_foreign_database_restored_by_pg_restore_is_refused(
    postgres_server: PostgresServer,
) -> None:
    name = postgres_server.create_database()
    url = postgres_server.url(name)
    result = await asyncio.to_thread(run, "restore", url=url)
    assert (result.exit_code, result.stderr) == (
        2,
        "mqbot: restore: there is no database of mqbot\n",
    )
    migrate.upgrade(url)
    postgres_server.execute("UPDATE alembic_version SET version_num = '9999'", name)
    result = await asyncio.to_thread(run, "restore", url=url)
    assert result.exit_code == 2
    assert "made by a newer version" in result.stderr


def test_a_restore_by_root_keeps_the_owner_of_the_database(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The systemd unit's account must be able to open it: it is nobody else's to read."""
    given: dict[str, tuple[int, int]] = {}
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr("os.chown", lambda path, *owner: given.update({Path(path).name: owner}))
    copy = tmp_path / "copy"
    path = sqlite_path(sqlite_url)
    assert run("backup", str(copy), url=sqlite_url).exit_code == 0
    assert run("restore", str(copy), url=sqlite_url).exit_code == 0
    owner = (path.stat().st_uid, path.stat().st_gid)
    assert given == {f"{path.name}.in-use": owner, f".{path.name}.part": owner}


def test_a_new_database_is_private_to_its_owner_and_an_existing_one_keeps_its_mode(
    tmp_path: Path,
) -> None:
    path = tmp_path / "new" / "bot.sqlite3"
    url = f"sqlite:///{path}"
    assert run("migrate", url=url).exit_code == 0
    assert path.stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(path)) as database:
        database.execute("INSERT INTO handled_requests VALUES ('one', 1)")
        database.commit()
        assert path.with_name(f"{path.name}-wal").stat().st_mode & 0o777 == 0o600
    path.chmod(0o640)
    assert run("migrate", url=url).exit_code == 0
    assert path.stat().st_mode & 0o777 == 0o640


def test_backup_to_a_full_or_missing_folder_gets_a_clear_error(
    sqlite_url: str, tmp_path: Path
) -> None:
    result = run("backup", str(tmp_path / "missing" / "copy"), url=sqlite_url)
    assert result.exit_code == 1
    assert "Traceback" not in result.output
