"""One value for each thing a person can ask for."""

from dataclasses import dataclass

from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import DEFAULT_TOPICS

BRANCH_LIMIT = 255
"""Longer than hosts allow, and short enough to be carried by a button."""


@dataclass(frozen=True, slots=True)
class StatusCommand:
    """The live queue, of one base branch when `branch` is given."""

    repository: RepositoryName | None = None
    branch: str | None = None


@dataclass(frozen=True, slots=True)
class PauseCommand:
    """`reason` is None when none was typed: a modal asks for it."""

    repository: RepositoryName | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class UnpauseCommand:
    """Lift the pause."""

    repository: RepositoryName | None = None


@dataclass(frozen=True, slots=True)
class SubscribeCommand:
    """Have the channel hear about `topics`."""

    repository: RepositoryName | None = None
    topics: frozenset[str] = DEFAULT_TOPICS


@dataclass(frozen=True, slots=True)
class UnsubscribeCommand:
    """`topics` is None for all of them."""

    repository: RepositoryName | None = None
    topics: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class SubscriptionsCommand:
    """The list of what the channel hears."""


@dataclass(frozen=True, slots=True)
class LinkCommand:
    """Connect the person with their login of the code host; None ends the connection."""

    login: str | None


@dataclass(frozen=True, slots=True)
class MeCommand:
    """What the bot knows of the person."""


@dataclass(frozen=True, slots=True)
class HelpCommand:
    """The commands, or one of them."""

    verb: str | None = None


RepositoryCommand = (
    StatusCommand | PauseCommand | UnpauseCommand | SubscribeCommand | UnsubscribeCommand
)
"""Those that are about one repository, which may be left out."""

GeneralCommand = SubscriptionsCommand | LinkCommand | MeCommand | HelpCommand

Command = RepositoryCommand | GeneralCommand
