"""The command line: a subcommand is imported only when chosen.

With click: importing typer takes five times as long.
"""

import gc
from importlib import import_module

import click
from typing_extensions import override

COMMANDS = {
    "run": "Run the bot over Socket Mode: commands, polling and posting in one process.",
    "web": "Run the part that answers Slack's signed requests, over HTTP.",
    "worker": "Run the part that polls and posts, beside `mqbot web`.",
    "demo": "Try everything on two local services, with no account.",
    "pause": "Pause a queue through the running bot, from a shell or a CI job.",
    "resume": "Resume a queue the same way; `unpause` does the same.",
    "status": "Print the live queue the same way.",
    "check": "Check settings, database, merge queue service and Slack.",
    "audit": "Print who paused, resumed and subscribed what, for reading and for export.",
    "migrate": "Bring the database to this version's schema.",
    "backup": "Copy the SQLite database to a file while the bot works.",
    "restore": "Put such a copy back, or make a restored database look before it posts.",
    "manifest": "Print the manifest that creates the Slack app.",
    "sandbox": "Run one of the two local services alone.",
}

MODULES = {
    "run": "serving",
    "web": "serving",
    "worker": "serving",
    "pause": "running_bot",
    "resume": "running_bot",
    "status": "running_bot",
    "migrate": "database",
    "backup": "database",
    "restore": "database",
}
"""Where a command is defined, if not in a module of its own name."""

ALIASES = {"unpause": "resume"}

GARBAGE_THRESHOLD = 10_000
"""New objects between two searches. With Python's 700, starting costs 12 % more CPU."""


class LazyCommands(click.Group):
    """Lets `mqbot --help` answer quickly by importing no subcommand."""

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        cmd_name = ALIASES.get(cmd_name, cmd_name)
        if cmd_name not in COMMANDS:
            return None
        # Python's 700 would scan the growing program again and again during imports.
        gc.set_threshold(GARBAGE_THRESHOLD)
        module = import_module(f"bot.cli.{MODULES.get(cmd_name, cmd_name)}")
        command: click.Command = getattr(module, cmd_name)
        return command

    @override
    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.command(cls=LazyCommands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="mqbot")
def main() -> None:
    """A Slack control room for merge queues."""
