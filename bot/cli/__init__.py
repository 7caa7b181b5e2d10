"""The command line: one subcommand a file, imported only when it is chosen."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click
from typing_extensions import override

COMMANDS = {
    "run": "Run the bot over Socket Mode: commands, polling and posting in one process.",
    "web": "Run the part that answers Slack's signed requests, over HTTP.",
    "worker": "Run the part that polls and posts, beside `mqbot web`.",
    "demo": "Try everything on two local services, with no account.",
    "check": "Check settings, database, merge queue service and Slack.",
    "audit": "Print who paused, unpaused and subscribed what, for reading and for export.",
    "migrate": "Bring the database to this version's schema.",
    "backup": "Copy the SQLite database to a file while the bot works.",
    "restore": "Put such a copy back, or make a restored database look before it posts.",
    "manifest": "Print the manifest that creates the Slack app.",
    "sandbox": "Run one of the two local services alone.",
}

SERVING = frozenset({"run", "web", "worker"})

DRAWING = ("rich", "pygments")
"""What structlog and httpx import when it is there, for colours that a server has no use for."""


@contextmanager
def without(libraries: tuple[str, ...]) -> Iterator[None]:
    """What is imported meanwhile finds none of `libraries` that is not in use already."""
    modules: dict[str, Any] = sys.modules
    unused = [one for one in libraries if one not in modules]
    modules.update(dict.fromkeys(unused))
    try:
        yield
    finally:
        for one in unused:
            del modules[one]


@contextmanager
def imported_for_good() -> Iterator[None]:
    """Modules stay to the end: no collection looks through them, neither now nor afterwards."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def imported_for_serving() -> Iterator[None]:
    """What a server is made of is imported for good, and without what it has no use for."""
    with imported_for_good(), without(DRAWING):
        yield


class LazyCommands(click.Group):
    """`mqbot --help` imports no subcommand, so it answers at once."""

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        with imported_for_serving() if cmd_name in SERVING else imported_for_good():
            command = import_module(f"bot.cli.{cmd_name}").command
        if not isinstance(command, click.Command):
            msg = f"bot.cli.{cmd_name} has no command"
            raise TypeError(msg)
        return command

    @override
    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.command(cls=LazyCommands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="mqbot")
def main() -> None:
    """A Slack control room for merge queues."""
