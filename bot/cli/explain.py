"""`mqbot explain`: why a message is there, or why it isn't."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

import click

from bot.cli.account_lines import account_lines, log_lines, message_lines
from bot.cli.process import say, with_database
from bot.cli.stored import reading_store, stored_name
from bot.desk.addresses import read_address
from bot.inspection.account import of_delivery, of_event, of_message, of_pull_request
from bot.kernel.errors import InvalidRequest
from bot.kernel.repository import RepositoryName
from bot.log.rows import Events, Positions
from bot.merge_queue.window import PULL_REQUEST_END
from bot.runtime.clock import SystemClock
from bot.store.transaction import Transaction
from bot.store.transactions import Store

PERMALINK = re.compile(r"https://[^\s/]+/archives/([A-Z0-9]+)/p(\d{10})(\d{6})(?:\?\S*)?")
THREAD = re.compile(r"[?&]thread_ts=(\d+\.\d+)")
DELIVERY = re.compile(r"[0-9a-f]{32}")
EVENT = re.compile(
    r"(?:(?P<name>[\w.\-]+/[\w.\-]+)\s+)?event\s*[#:]?\s*(?P<number>\d{1,18})", re.IGNORECASE
)
PULL = re.compile(r"(?:(?P<name>[\w.\-]+/[\w.\-]+)\s*[#! ]\s*|#)?(?P<number>\d{1,18})")
REPOSITORIES_NAMED = 20

WHY_NOT_STORED = "it wasn't read, or is older than MQBOT_RETENTION_DAYS"

NOT_OURS = """\
this message isn't a post in this database. It may be an answer to a command, which isn't stored, \
older than MQBOT_RETENTION_DAYS, somebody else's, or another mqbot's with a database of its own. \
If it is recent, search the log for its time: ts={ts}"""

FORMS = """\
WHAT is one of:
  https://….slack.com/archives/C…/p…   a message, by "Copy link" in Slack
  acme/site#41, its address, or 41     a pull request
  acme/site event 9001, or event 9001  an event, as "subject" in the log
  32 characters of 0-9 and a-f         a "delivery_id" of the log"""


@dataclass(frozen=True, slots=True)
class Permalink:
    """The address of a message in Slack, and the first message of its thread."""

    channel_id: str
    ts: str
    thread_ts: str | None


@dataclass(frozen=True, slots=True)
class NumberInRepository:
    """A number, in one repository or in any."""

    kind: Literal["event", "pull request"]
    name: RepositoryName | None
    number: int


Asked = Permalink | NumberInRepository | str
"""A string is the id of a delivery."""


@click.command()
@click.argument("what", nargs=-1, required=True, metavar="WHAT...")
def explain(what: Sequence[str]) -> None:
    """Explain why a message was posted or edited, and when, or why it wasn't.

    WHAT is the address of a message in Slack, a pull request (acme/site#41, its address or its
    number), an event (acme/site event 9001), or a delivery_id of the log. Reads only the
    database, also while the bot is running. Times are UTC.
    """
    try:
        asked = read_asked(" ".join(what).strip())
    except InvalidRequest as error:
        raise click.BadParameter(f"{error.detail}.") from None
    if asked is None:
        raise click.BadParameter(f"it can't be understood.\n{FORMS}")
    with with_database() as url:
        lines = asyncio.run(_answer(url, asked))
    for line in lines:
        say(line)


def read_asked(words: str) -> Asked | None:
    """None for words that name nothing; raises InvalidRequest for no repository's name."""
    words = words.strip("<>")
    if found := PERMALINK.fullmatch(words):
        thread = THREAD.search(words)
        return Permalink(found[1], f"{found[2]}.{found[3]}", thread[1] if thread else None)
    if DELIVERY.fullmatch(words):
        return words
    if found := EVENT.fullmatch(words):
        return NumberInRepository("event", _repository_of(found), int(found["number"]))
    if found := PULL.fullmatch(words):
        return NumberInRepository("pull request", _repository_of(found), int(found["number"]))
    address = read_address(words)
    if address is not None and address.number is not None and address.names:
        name = RepositoryName.parse(address.names[0])
        return NumberInRepository("pull request", name, int(address.number))
    return None


def _repository_of(found: re.Match[str]) -> RepositoryName | None:
    return RepositoryName.parse(found["name"]) if found["name"] else None


async def _answer(url: str, asked: Asked) -> Sequence[str]:
    async with reading_store(url) as store:
        return await _lines(store, asked)


async def _lines(store: Store, asked: Asked) -> Sequence[str]:
    now = SystemClock().now()
    if isinstance(asked, NumberInRepository) and asked.name is not None:
        asked = replace(asked, name=await store.read(stored_name, asked.name, "WHAT"))
    match asked:
        case Permalink():
            return await store.read(_of_message, asked, now)
        case NumberInRepository("event"):
            return await store.read(_of_events, asked.name, asked.number, now)
        case NumberInRepository():
            return await store.read(_of_pull_requests, asked.name, asked.number, now)
        case _:
            found = await store.read(of_delivery, asked)
    return list(message_lines(found, now)) if found else ["no delivery with this id is stored"]


def _of_message(transaction: Transaction, asked: Permalink, now: datetime) -> Sequence[str]:
    found = of_message(transaction, asked.channel_id, asked.ts)
    if found is not None:
        return list(message_lines(found, now))
    lines = [NOT_OURS.format(ts=asked.ts)]
    if asked.thread_ts is not None:
        root = of_message(transaction, asked.channel_id, asked.thread_ts)
        if root is not None:
            lines += ["", "The first message of its thread:", *message_lines(root, now)]
    return lines


def _of_events(
    transaction: Transaction, name: RepositoryName | None, number: int, now: datetime
) -> Sequence[str]:
    names = [name] if name is not None else Positions(transaction).names()
    found = [of_event(transaction, repository, number) for repository in names]
    accounts = [account for account in found if account is not None]
    lines = [line for account in accounts for line in account_lines(account, now)]
    if lines:
        return lines
    log = list(log_lines(of_pull_request(transaction, name, 0))) if name is not None else []
    return [
        f"no event {number} of {name or 'any repository'} is stored: {WHY_NOT_STORED}",
        *log,
    ]


def _of_pull_requests(
    transaction: Transaction, name: RepositoryName | None, number: int, now: datetime
) -> Sequence[str]:
    if not 1 <= number < PULL_REQUEST_END:
        return [f"{number} isn't a pull request number"]
    if name is not None:
        return list(account_lines(of_pull_request(transaction, name, number), now))
    read = Positions(transaction).names()
    having = Events(transaction).of_number(read, number)
    if not having:
        example = f"{min(read, default='owner/name')}#{number}"
        said = f"no event of a pull request #{number} is stored, in any repository"
        return [f"{said}. Name its repository to see why, such as {example}"]
    if len(having) > REPOSITORIES_NAMED:
        return [
            f"{len(having)} repositories have a #{number}: name one, such as {having[0]}#{number}"
        ]
    accounts = [of_pull_request(transaction, repository, number) for repository in having]
    return [line for account in accounts for line in account_lines(account, now)]
