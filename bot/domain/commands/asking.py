"""Questions about a queue, and about a group of them."""

import re
from dataclasses import dataclass
from datetime import timedelta

from bot.domain.commands.command import (
    Arguments,
    Command,
    GeneralCommand,
    Options,
    RepositoryCommand,
    Verb,
    read_number,
)
from bot.domain.errors import RepositoryNotAllowed
from bot.domain.event_log import LONGEST_LOOKBACK
from bot.domain.groups import Group
from bot.domain.log_pages import PAGE
from bot.domain.repository import RepositoryName

_ADDRESS = re.compile(
    r"https?://[^/\s]+/([a-zA-Z0-9\-]+/[\w\-.]+)/(?:-/)?"
    r"(?:pull|pulls|pull-requests|merge_requests)/([0-9]{1,19})(?:[/?#]\S*)?",
    re.ASCII,
)
"""The page of a pull request at the usual code hosts: its repository and its number."""

BRANCHES_SINCE = timedelta(days=7)
STATS_SINCE = timedelta(days=7)


@dataclass(frozen=True)
class StatusCommand(RepositoryCommand):
    """The live queue, of one base branch when `branch` is given."""

    repository: RepositoryName | None = None
    branch: str | None = None


@dataclass(frozen=True)
class GroupStatusCommand(GeneralCommand):
    """A line for each queue of the group."""

    group: Group


@dataclass(frozen=True)
class WhyCommand(RepositoryCommand):
    """Where a pull request is, and what it waits for or why it left."""

    repository: RepositoryName | None
    pull_request: int


@dataclass(frozen=True)
class LogCommand(RepositoryCommand):
    """The event log, newest first, `limit` events a page; all event types without `types`.

    `since` and `until` are how long ago the oldest and the newest were received.
    """

    repository: RepositoryName | None = None
    pull_request: int | None = None
    branch: str | None = None
    types: frozenset[str] = frozenset()
    since: timedelta = LONGEST_LOOKBACK
    until: timedelta | None = None
    limit: int = PAGE


@dataclass(frozen=True)
class RulesCommand(RepositoryCommand):
    """The queue rules."""

    repository: RepositoryName | None = None


@dataclass(frozen=True)
class BranchesCommand(RepositoryCommand):
    """The base branches with queue activity since so long ago."""

    repository: RepositoryName | None
    since: timedelta


@dataclass(frozen=True)
class StatsCommand(RepositoryCommand):
    """What merged, failed and how long it took since so long ago, for one base branch or all."""

    repository: RepositoryName | None
    since: timedelta
    branch: str | None = None


def read_status(arguments: Arguments) -> Command:
    repository, words = arguments.repository_among(arguments.words)
    return StatusCommand(repository, Options(arguments, words, {"branch"}).branch())


def read_group_status(arguments: Arguments) -> Command | None:
    """None when the first word is no group."""
    group, words = arguments.group()
    if group is None:
        return None
    if words:
        raise arguments.problem(f"I do not understand “{words[0]}” here.")
    return GroupStatusCommand(group)


def read_why(arguments: Arguments) -> Command:
    """The pull request and the repository in either order, or the pull request's address."""
    found: RepositoryName | None = None
    number: int | None = None
    for word in arguments.words:
        named, read = _number(arguments, word)
        if read is not None and number is None:
            number, found = read, named or found
        elif found is None:
            found = _repository(arguments, word)
        else:
            raise arguments.problem(f"I do not understand “{word}” here.")
    if number is None:
        raise arguments.problem("Which pull request? Type its number or its address.")
    return WhyCommand(found, number)


def _repository(arguments: Arguments, word: str) -> RepositoryName:
    """Raises CommandSyntaxError, or RepositoryNotAllowed when the pull request is typed as well."""
    try:
        return arguments.named(word)
    except RepositoryNotAllowed:
        if any(_number(arguments, one)[1] is not None for one in arguments.words):
            raise
        said = f"Which pull request? “{word}” is no number and no address of one."
        raise arguments.problem(said) from None


def _number(arguments: Arguments, word: str) -> tuple[RepositoryName | None, int | None]:
    """Raises RepositoryNotAllowed for the address of a pull request elsewhere."""
    address = _ADDRESS.fullmatch(word)
    if address is None:
        return None, read_number(word)
    repository = arguments.repositories.find(address[1])
    if repository is None:
        raise RepositoryNotAllowed(address[1], arguments.repositories.names)
    return repository, read_number(address[2])


def read_log(arguments: Arguments) -> Command:
    repository, words = arguments.repository_among(arguments.words)
    names = {"pr", "branch", "type", "since", "until", "limit"}
    options = Options(arguments, words, names)
    since, until = options.lookback("since"), options.lookback("until")
    if until is not None and until >= (since or LONGEST_LOOKBACK):
        raise arguments.problem("until: has to be later than since:, a shorter time ago.")
    return LogCommand(
        repository,
        pull_request=options.pull_request(),
        branch=options.branch(),
        types=options.types(),
        since=since or LONGEST_LOOKBACK,
        until=until,
        limit=options.limit() or PAGE,
    )


def read_rules(arguments: Arguments) -> Command:
    repository, words = arguments.repository_among(arguments.words)
    Options(arguments, words, ())
    return RulesCommand(repository)


def read_branches(arguments: Arguments) -> Command:
    repository, words = arguments.repository_among(arguments.words)
    since = Options(arguments, words, {"since"}).lookback("since")
    return BranchesCommand(repository, since or BRANCHES_SINCE)


def read_stats(arguments: Arguments) -> Command:
    repository, words = arguments.repository_among(arguments.words)
    options = Options(arguments, words, {"branch", "since"})
    since = options.lookback("since") or STATS_SINCE
    return StatsCommand(repository, since, options.branch())


VERBS = (
    Verb(
        "status",
        "status [owner/name|@group|all] [branch:NAME]",
        "See the live queue",
        ("status", "status acme/site branch:main"),
        read=read_status,
        read_group=read_group_status,
    ),
    Verb(
        "why",
        "why PR [owner/name]",
        "See where a pull request is, what it waits for or why it left, and whose turn it is",
        ("why 41", "why #41 acme/site", "why https://code.example/acme/site/pull/41"),
        read=read_why,
    ),
    Verb(
        "log",
        "log [owner/name] [pr:N] [branch:NAME] [type:TYPE] [since:2h] [until:1h] [limit:N]",
        "Read the event log, newest first, page by page",
        ("log pr:41", "log acme/site branch:main type:action.queue.leave since:2h"),
        read=read_log,
    ),
    Verb(
        "rules",
        "rules [owner/name]",
        "See the queue rules, in the order in which they are tried",
        ("rules", "rules acme/site"),
        read=read_rules,
    ),
    Verb(
        "branches",
        "branches [owner/name] [since:7d]",
        "See which base branches had something going on in the queue",
        ("branches", "branches acme/site since:24h"),
        read=read_branches,
    ),
    Verb(
        "stats",
        "stats [owner/name] [branch:NAME] [since:7d]",
        "See merges a day, the time in the queue and how much fails, with a chart",
        ("stats", "stats acme/site branch:main since:30d"),
        read=read_stats,
    ),
)
"""Rows of the command table."""
