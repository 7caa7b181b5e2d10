"""The question who did what."""

from dataclasses import dataclass
from datetime import timedelta

from bot.domain.commands.command import Arguments, Command, GeneralCommand, Verb
from bot.domain.lookback import InvalidLookback, read_lookback
from bot.domain.repository import RepositoryName

AUDIT_LOOKBACK = timedelta(days=7)


@dataclass(frozen=True)
class AuditCommand(GeneralCommand):
    """Who did what, in all repositories when `repository` is None."""

    repository: RepositoryName | None = None
    lookback: timedelta = AUDIT_LOOKBACK


def read_audit(arguments: Arguments) -> Command:
    """Without a repository it is about all of them."""
    repository, words = arguments.repository_among(arguments.words)
    lookback = AUDIT_LOOKBACK
    for word in words:
        name, colon, value = word.partition(":")
        if name.lower() != "since" or not colon:
            raise arguments.problem(f"I do not understand “{word}” here.")
        try:
            lookback = read_lookback(value)
        except InvalidLookback as error:
            raise arguments.problem(f"since: {error}.") from error
    return AuditCommand(repository, lookback)


VERBS = (
    Verb(
        "audit",
        "audit [owner/name] [since:7d]",
        "See who did what, and what came of it",
        ("audit", "audit acme/site since:24h"),
        read=read_audit,
    ),
)
"""Rows of the command table."""
