"""Who uses a PostgreSQL database, and keeping others out of it."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import timedelta

from sqlalchemy import Connection, Engine, event, text
from sqlalchemy.engine.interfaces import DBAPIConnection

from bot.kernel.clock import Clock
from bot.store.cutoff import limited
from bot.store.engines import APPLICATION, COMMAND_SECONDS, as_store_errors, create_engine
from bot.store.errors import StoreUnavailable
from bot.store.statements import ResultRow

CONNECTIONS_CHECK_SECONDS = 0.1
ENDING_SECONDS = 3.0
"""PostgreSQL needs a moment to end the connections of a process that has ended."""

CONNECTIONS_NAMED = 5

_PRESENCE_KEY = 0x6D716275
"""The number of the advisory lock: "mqbu" in ASCII. Migrations have one of their own."""

_TRY_SHARED = f"SELECT pg_try_advisory_lock_shared({_PRESENCE_KEY})"
_TRY_ALONE = text(f"SELECT pg_try_advisory_lock({_PRESENCE_KEY})")
_COMMAND = (
    "SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid)"  # noqa: S608 - our number
    " WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' AND granted"
    f" AND classid = 0 AND objid = {_PRESENCE_KEY} AND datname = current_database()"
)
_CONNECTED = text(
    "SELECT pid, coalesce(host(client_addr), 'a local socket') AS address FROM pg_stat_activity"
    " WHERE datname = current_database() AND application_name = :name AND pid <> pg_backend_pid()"
    " ORDER BY address, pid"
)


def be_present(engine: Engine) -> None:
    """Let each new connection share the lock until it ends.

    One raises StoreUnavailable instead while a command keeps others out.
    """
    event.listen(engine, "connect", _share)


def _share(driver: DBAPIConnection, _record: object) -> None:
    cursor = driver.cursor()
    cursor.execute(_TRY_SHARED)
    if cursor.fetchone() == (False,):
        cursor.execute(_COMMAND)
        found = cursor.fetchone()
        driver.close()
        raise in_use_by(found[0] if found is not None else APPLICATION)
    # The lock is the session's; only the transaction ends.
    driver.rollback()


def in_use_by(command: str) -> StoreUnavailable:
    """While a command keeps others out; its name is such as `mqbot restore`."""
    return StoreUnavailable(f"{command} is using the database: try again when it has finished")


@contextmanager
def present(url: str) -> Iterator[None]:
    """Use a PostgreSQL database, as each connection of a bot does.

    Raises StoreUnavailable while a command keeps others out.
    """
    engine = create_engine(url)
    be_present(engine)
    with _session(engine):
        yield


@contextmanager
def _session(engine: Engine) -> Iterator[Connection]:
    """A connection outside any transaction, the only one of its engine."""
    try:
        with limited(engine, COMMAND_SECONDS), as_store_errors():
            connection = engine.connect()
        with connection:
            yield connection.execution_options(isolation_level="AUTOCOMMIT")
    finally:
        engine.dispose()


async def require_nobody_connected(url: str, command: str, clock: Clock, stack: ExitStack) -> None:
    """Keep others out of the PostgreSQL database until the stack ends: they name the command.

    Waits a moment for PostgreSQL to end the connections of processes that have ended. Raises
    StoreUnavailable if a process uses the database.
    """
    connection = stack.enter_context(_session(create_engine(url)))
    with limited(connection, COMMAND_SECONDS), as_store_errors():
        name = {"name": f"{APPLICATION} {command}"}
        connection.execute(text("SELECT set_config('application_name', :name, false)"), name)
    deadline = clock.now() + timedelta(seconds=ENDING_SECONDS)
    is_ours = False
    while True:
        with limited(connection, COMMAND_SECONDS), as_store_errors():
            is_ours = is_ours or bool(connection.scalar(_TRY_ALONE))
            others = connection.execute(_CONNECTED, {"name": APPLICATION}).all()
        if is_ours and not others:
            return
        if clock.now() >= deadline:
            if others:
                raise _connected_from(others)
            with limited(connection, COMMAND_SECONDS), as_store_errors():
                raise in_use_by(connection.scalar(text(_COMMAND)) or APPLICATION)
        await clock.sleep(CONNECTIONS_CHECK_SECONDS)


def _connected_from(others: Sequence[ResultRow]) -> StoreUnavailable:
    named = others[:CONNECTIONS_NAMED]
    where = ", ".join(f"{other.address} (backend {other.pid})" for other in named)
    return StoreUnavailable(
        f"the bot has the database in use, from {where}: stop every process first;"
        " a connection that outlived its process ends by"
        f" SELECT pg_terminate_backend({others[0].pid})"
    )
