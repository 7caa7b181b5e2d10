"""How questions about a queue are read."""

import re
from datetime import timedelta

from bot.domain.commands.arguments import Arguments
from bot.domain.commands.options import Options, read_number
from bot.domain.commands.values import (
    BranchesCommand,
    Command,
    LogCommand,
    RulesCommand,
    StatsCommand,
    StatusCommand,
    WhyCommand,
)
from bot.domain.errors import RepositoryNotAllowed
from bot.domain.log_pages import LONGEST_LOOKBACK, PAGE
from bot.domain.repository import RepositoryName

_ADDRESS = re.compile(
    r"https?://[^/\s]+/([a-zA-Z0-9\-]+/[\w\-.]+)/(?:-/)?"
    r"(?:pull|pulls|pull-requests|merge_requests)/([0-9]{1,19})(?:[/?#]\S*)?",
    re.ASCII,
)
"""The page of a pull request at the usual code hosts: its repository and its number."""

BRANCHES_SINCE = timedelta(days=7)
STATS_SINCE = timedelta(days=7)


def read_status(arguments: Arguments) -> Command:
    repository, words = arguments.repository_among(arguments.words)
    return StatusCommand(repository, Options(arguments, words, {"branch"}).branch())


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
