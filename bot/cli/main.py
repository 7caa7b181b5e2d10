"""The command line: a subcommand is imported only when chosen.

With click: importing typer takes five times as long.
"""

import errno
import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

import click
from typing_extensions import override

from bot.runtime.signals import give_signals_back

PROGRAMS = {
    "run": (
        "serving",
        "Run the bot over Socket Mode: commands, polling and posting in one process.",
    ),
    "web": ("serving", "Answer Slack over HTTP; needs `mqbot worker` beside it."),
    "worker": ("serving", "Poll the event logs and post, beside `mqbot web`."),
    "demo": ("demo", "Try everything on two local services, with no account."),
    "pause": ("running_bot", "Pause a queue through the running bot, from a shell or a CI job."),
    "resume": ("running_bot", "Resume a queue through the running bot. Also: `unpause`."),
    "freeze": ("running_bot", "Freeze a queue: checks go on, nothing merges."),
    "unfreeze": ("running_bot", "End a freeze."),
    "allow": ("running_bot", "Let one pull request merge during a freeze."),
    "outcome": ("running_bot", "Wait for the result of an earlier request."),
    "status": ("running_bot", "Print the live queue."),
    "why": ("running_bot", "Print why nothing merges, or what happened to a pull request."),
    "log": ("running_bot", "Print the event log."),
    "check": ("check", "Check settings, database, merge queue service and Slack."),
    "audit": (
        "audit",
        "Print who did what and when, as a table or as JSON.",
    ),
    "forget": ("forget", "Remove a person's login, preferences and name."),
    "unsubscribe": (
        "unsubscribe",
        "End a channel's subscriptions, for example after it was archived.",
    ),
    "explain": ("explain", "Explain why a message was posted or edited, or why it wasn't."),
    "subscriptions": ("subscriptions", "List what every channel is subscribed to."),
    "rename": ("repositories", "Move everything stored about a repository to its new name."),
    "forget-repository": (
        "repositories",
        "Remove everything stored about a repository, except the audit.",
    ),
    "migrate": ("database", "Upgrade the database to this version's schema."),
    "backup": ("database", "Copy the SQLite database to a file while the bot is running."),
    "restore": (
        "database",
        "Restore such a copy, or let a restored database catch up before posting.",
    ),
    "copy-database": ("database", "Copy everything from SQLite to PostgreSQL, or back."),
    "manifest": ("manifest", "Print the manifest that creates the Slack app."),
    "sandbox": ("sandbox", "Run a local Slack workspace or merge queue service."),
}
"""Each command's module and summary."""

LASTING_PROGRAMS = frozenset({"serving", "demo", "sandbox"})
"""The modules of commands that run until a signal ends them."""

OUTPUT_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
"""Of the disk to which a command's output goes; for files of its own it has other errors."""

ALIASES = {"unpause": "resume"}

GARBAGE_THRESHOLD = 10_000
"""New objects between two searches for garbage; Python's own 700 are few for so large a program."""


@contextmanager
def keeping_imports() -> Iterator[None]:
    """Don't search for garbage meanwhile, nor later in what is imported: nearly all of it stays.

    To search among it took a tenth of the time that `mqbot run` needs to start.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


class LazyCommands(click.Group):
    """Lets `mqbot --help` answer quickly by importing no subcommand."""

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(PROGRAMS)

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        cmd_name = ALIASES.get(cmd_name, cmd_name)
        if cmd_name not in PROGRAMS:
            return None
        gc.set_threshold(GARBAGE_THRESHOLD)
        name, _ = PROGRAMS[cmd_name]
        if name not in LASTING_PROGRAMS:
            give_signals_back()
        with keeping_imports():
            module = import_module(f"bot.cli.{name}")
        command: click.Command = getattr(module, cmd_name.replace("-", "_"))
        return command

    @override
    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except OSError as error:
            name = str(ctx.invoked_subcommand)
            module, _ = PROGRAMS[ALIASES.get(name, name)]
            if module in LASTING_PROGRAMS or error.errno not in OUTPUT_ERRORS:
                raise
            # What is still to be written would fail again at the end of the process.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            click.echo(f"mqbot: the output can't be written: {error.strerror}", err=True)
            raise SystemExit(1) from None

    @override
    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in PROGRAMS.items()])


@click.command(cls=LazyCommands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="mqbot")
def main() -> None:
    """A Slack control room for merge queues."""
