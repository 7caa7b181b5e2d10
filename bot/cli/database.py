"""`mqbot migrate`, `backup`, `restore`, `copy-database`: for a person at the database's machine."""

import asyncio
from pathlib import Path

import click

import bot.runtime.schema  # noqa: F401 - makes every table known
from bot.cli.process import clock, complaining, with_database
from bot.config.values import read_secret_file
from bot.kernel.errors import ConfigurationError
from bot.posts.outbox import put_in_doubt
from bot.store import backup as copies, migrate as schema
from bot.store.copying import COPY, SOURCE, TARGET, copy_database as copy_all
from bot.store.engines import sqlite_path

FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
def migrate() -> None:
    """Upgrade the database to this version's schema; safe to repeat."""
    with with_database() as url, copies.taking_part(url):
        schema.upgrade(url)
    click.echo(f"{_called(url)} is at revision {schema.head_revision()}")


@click.command()
@click.argument("file", type=FILE)
def backup(file: Path) -> None:
    """Back up the SQLite database to FILE, also while the bot is running.

    An existing FILE is replaced once the copy is complete. With PostgreSQL, use pg_dump.
    """
    with with_database("backup") as url:
        if not url.startswith("sqlite:"):
            problem = "names no SQLite file; a PostgreSQL database is backed up with pg_dump"
            raise ConfigurationError({"DATABASE_URL": problem})
        copies.back_up(url, file)
    click.echo(f"{_called(url)} is copied to {file} ({file.stat().st_size} bytes)")


@click.command()
@click.argument("file", required=False, type=FILE)
def restore(file: Path | None) -> None:
    """Replace the SQLite database with FILE, made by `mqbot backup`. Stop the bot first.

    The bot then looks in Slack before it sends a post that may be there already. With PostgreSQL,
    run this without FILE after pg_restore.
    """
    replaced: Path | None = None
    with with_database("restore") as url:
        is_sqlite = url.startswith("sqlite:")
        if (file is not None) is not is_sqlite:
            problem = "a SQLite database needs FILE" if is_sqlite else "PostgreSQL takes no FILE"
            raise ConfigurationError({"restore": problem})
        if file is not None:
            replaced = copies.restore(url, file, put_in_doubt)
        else:
            asyncio.run(copies.make_ready(url, clock(), put_in_doubt))
    click.echo(
        f"{_called(url)} is ready; the bot looks in Slack before it sends a post that may be there"
        " already"
    )
    if replaced is not None:
        click.echo(f"the previous database is kept as {replaced}")


@click.command(name=COPY)
@click.argument("source", metavar=SOURCE)
@click.argument("target", metavar=TARGET)
def copy_database(source: str, target: str) -> None:
    """Copy everything from one database to another: SQLite to PostgreSQL, or back.

    Stop the bot first. Each is an address like DATABASE_URL, or @ and the path of a file that holds
    one, because other users of this machine can see what you type. TO must be empty. FROM doesn't
    change, apart from an upgrade to this version. At the end, the rows of all tables are counted in
    both.
    """
    with complaining(command=COPY):
        try:
            read_from = _address(SOURCE, source)
            write_to = _address(TARGET, target)
            copied = asyncio.run(copy_all(read_from, write_to, clock()))
        except ValueError as error:
            raise ConfigurationError({COPY: str(error)}) from None
    for table, count in copied.items():
        if count:
            click.echo(f"{table:16} {count:>12,}")
    click.echo(
        f"copied and counted: {sum(copied.values()):,} rows. Set DATABASE_URL to the new address"
        " and start the bot; never start one on the old database again"
    )


def _called(url: str) -> str:
    """With the path of a SQLite file; an address of PostgreSQL may hold a password."""
    return f"the database {sqlite_path(url)}" if url.startswith("sqlite:") else "the database"


def _address(name: str, typed: str) -> str:
    """Raises ValueError for a file that can't be read."""
    if not typed.startswith("@"):
        return typed
    try:
        return read_secret_file(typed[1:]).strip()
    except ValueError as error:
        raise ValueError(f"{name} {error}") from None
