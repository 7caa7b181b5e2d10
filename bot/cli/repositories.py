"""`mqbot rename` and `mqbot forget-repository`: a repository got another name, or is gone."""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple, NoReturn

import click
from typing_extensions import override

from bot.blocks.text import listed
from bot.cli.process import CONFIGURATION_EXIT, clock, say, with_database
from bot.cli.stored import changing_store
from bot.config.mentions import mentions
from bot.kernel.errors import InvalidRequest
from bot.kernel.repository import RepositoryName
from bot.pauses.pause import PauseRecord
from bot.runtime.upkeep.renaming import Counts, forget_repository as forget_all, rename_repository
from bot.runtime.upkeep.renaming_rows import Renaming

RENAME = "rename"
FORGET = "forget-repository"


class Name(click.ParamType[RepositoryName]):
    """A repository as owner/name."""

    name = "owner/name"

    @override
    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> RepositoryName:
        try:
            return RepositoryName.parse(value)
        except InvalidRequest as error:
            self.fail(f"{error.detail}.", param, ctx)


@click.command()
@click.argument("old", type=Name(), metavar="OLD")
@click.argument("new", type=Name(), metavar="NEW")
def rename(old: RepositoryName, new: RepositoryName) -> None:
    """Move everything stored about the repository OLD to NEW; stop the bot first.

    That is subscriptions, boards, channel defaults, pauses with their ends, events, posts and the
    audit. NEW keeps what it has already, such as a newer subscription. The command doesn't change
    your settings, but lists the lines that name OLD.
    """
    if old == new:
        raise click.BadParameter("both names are the same.")
    with with_database(RENAME) as url:
        places = mentions(old)
        renamed = asyncio.run(_rename(url, old, new))
    if not renamed.moved:
        _exit_with(RENAME, f"nothing is stored about {old}; known are {_list(renamed.known)}")
    click.echo(f"renamed {old} to {new}: {_counts(renamed.moved)}")
    if places:
        click.echo(f"Before you start the bot, write {new} here:")
    for place in places:
        say(f"  {place}")
    click.echo(
        "Look through all settings of the bot, also of its service or container, for the old name:"
        " MQBOT_REPOSITORIES, MQBOT_CHANNELS, MQBOT_GROUPS, MQBOT_POLICY, MQBOT_WINDOW"
    )


class _Renamed(NamedTuple):
    """What was moved, and the repositories about which something is stored."""

    moved: Counts
    known: Sequence[RepositoryName]


async def _rename(url: str, old: RepositoryName, new: RepositoryName) -> _Renamed:
    async with changing_store(url, alone_for=RENAME) as store:
        moved = await store.run(rename_repository, old, new, clock().now())
        known = await store.read(lambda transaction: Renaming(transaction).names())
    return _Renamed(moved, known)


@click.command(name=FORGET)
@click.argument("name", type=Name(), metavar="OWNER/NAME")
@click.option(
    "--even-if-paused", is_flag=True, help="Also if its queue is paused; it stays paused."
)
def forget_repository(name: RepositoryName, *, even_if_paused: bool) -> None:
    """Remove everything stored about a repository except the audit, also while the bot is running.

    Remove it from MQBOT_REPOSITORIES first, or the bot starts to poll it again.
    """
    with with_database(FORGET) as url:
        places = mentions(name)
        done, known = asyncio.run(_forget(url, name, even_if_paused=even_if_paused))
    if isinstance(done, PauseRecord):
        until = f" until {done.resumes_at:%Y-%m-%d %H:%M} UTC" if done.resumes_at else ""
        _exit_with(
            FORGET,
            f"{name} is paused by {done.by_name or 'somebody'}{until}: resume it first, with"
            f" /mq resume {name}. With --even-if-paused it stays paused, and the bot no longer"
            " knows by whom or until when",
        )
    if not done:
        _exit_with(FORGET, f"nothing is stored about {name}; known are {_list(known)}")
    click.echo(f"removed everything about {name}: {_counts(done)}. The audit keeps what people did")
    if places:
        click.echo("The settings still name it, so the bot will poll it again:")
    for place in places:
        say(f"  {place}")


class _Forgotten(NamedTuple):
    """What was removed, and the repositories about which something is stored."""

    done: Counts | PauseRecord  #: the pause that keeps everything in its place
    known: Sequence[RepositoryName]


async def _forget(url: str, name: RepositoryName, *, even_if_paused: bool) -> _Forgotten:
    async with changing_store(url) as store:
        done = await store.run(forget_all, name, clock().now(), even_if_paused=even_if_paused)
        known = await store.read(lambda transaction: Renaming(transaction).names())
    return _Forgotten(done, known)


def _exit_with(command: str, problem: str) -> NoReturn:
    say(f"mqbot: {command}: {problem}", is_complaint=True)
    raise SystemExit(CONFIGURATION_EXIT)


def _list(known: Sequence[RepositoryName]) -> str:
    return listed(known, most=10) if known else "none"


def _counts(rows: Counts) -> str:
    return ", ".join(f"{count:,} in {table}" for table, count in rows.items())
