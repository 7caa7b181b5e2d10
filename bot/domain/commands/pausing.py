"""Pausing and unpausing a queue, or a group of them."""

from dataclasses import dataclass

from bot.domain.commands.command import Arguments, Command, GeneralCommand, RepositoryCommand, Verb
from bot.domain.durations import Lasting, read_doubtful, read_lasting
from bot.domain.groups import Group
from bot.domain.repository import RepositoryName


@dataclass(frozen=True)
class PauseCommand(RepositoryCommand):
    """`reason` is None when none was typed: a modal asks for it. `lasting`: it lifts itself.

    `doubtful` is a duration that may also be meant as a part of the reason; the person is asked.
    `reason_before` is the reason without it, None when nothing is left.
    """

    is_act = True

    repository: RepositoryName | None = None
    reason: str | None = None
    lasting: Lasting | None = None
    doubtful: Lasting | None = None
    reason_before: str | None = None


@dataclass(frozen=True)
class UnpauseCommand(RepositoryCommand):
    """Lift the pause."""

    is_act = True

    repository: RepositoryName | None = None


@dataclass(frozen=True)
class PauseGroupCommand(GeneralCommand):
    """`asked` is what was typed behind the group's name; empty when nothing was."""

    is_act = True

    group: Group
    asked: str


@dataclass(frozen=True)
class UnpauseGroupCommand(GeneralCommand):
    """Restore what was paused for the group."""

    is_act = True

    group: Group


def read_pause(arguments: Arguments) -> Command:
    """The repository before or after the duration, and the reason last."""
    repository, words = arguments.repository()
    lasting, taken = read_lasting(words)
    words = words[taken:]
    if repository is None and taken and words and "/" in words[0]:
        repository = arguments.repositories.find(words[0])
        words = words if repository is None else words[1:]
    reason = arguments.rest_of_text(words)
    if lasting is not None or reason is None:
        return PauseCommand(repository, reason, lasting)
    doubtful, before = read_doubtful(words)
    return PauseCommand(repository, reason, None, doubtful, " ".join(words[:before]) or None)


def read_unpause(arguments: Arguments) -> Command:
    repository, words = arguments.repository()
    if words and repository is not None:
        raise arguments.problem(f"Unpausing takes no reason: leave “{words[0]}” out.")
    if words:
        raise arguments.problem(f"I do not know a repository “{words[0]}”.")
    return UnpauseCommand(repository)


def read_pause_group(arguments: Arguments) -> Command | None:
    """None when the first word is no group."""
    group, words = arguments.group()
    if group is None:
        return None
    return PauseGroupCommand(group, arguments.rest_of_text(words) or "")


def read_unpause_group(arguments: Arguments) -> Command | None:
    """None when the first word is no group."""
    group, words = arguments.group()
    if group is None:
        return None
    if words:
        raise arguments.problem(f"Unpausing takes no reason: leave “{words[0]}” out.")
    return UnpauseGroupCommand(group)


VERBS = (
    Verb(
        "pause",
        "pause [owner/name|@group|all] [45m|until 15:00] [reason]",
        "Pause the queue; without a reason a form asks for it",
        (
            "pause CI runners are down",
            "pause acme/site 45m database migration",
            "pause until 15:00 release 4.2",
            "pause all CI runners are down",
        ),
        read=read_pause,
        read_group=read_pause_group,
    ),
    Verb(
        "unpause",
        "unpause [owner/name|@group|all]",
        "Let the queue go on",
        ("unpause", "unpause acme/site"),
        aliases=("resume",),
        read=read_unpause,
        read_group=read_unpause_group,
    ),
)
"""Rows of the command table."""
