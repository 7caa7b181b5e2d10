"""One value for each thing a person can ask for."""

from dataclasses import dataclass, field
from datetime import timedelta

from bot.domain.durations import Lasting
from bot.domain.groups import Group
from bot.domain.log_pages import LONGEST_LOOKBACK, PAGE
from bot.domain.notices import Notice
from bot.domain.repository import RepositoryName
from bot.domain.wishes import Wish

BRANCH_LIMIT = 255
"""Longer than hosts allow, and short enough to be carried by a button."""


AUDIT_LOOKBACK = timedelta(days=7)
"""How far back the audit is shown when nothing is said."""


@dataclass(frozen=True, slots=True)
class StatusCommand:
    """The live queue, of one base branch when `branch` is given."""

    repository: RepositoryName | None = None
    branch: str | None = None


@dataclass(frozen=True, slots=True)
class WhyCommand:
    """Where a pull request is, and what it waits for or why it left."""

    repository: RepositoryName | None
    pull_request: int


@dataclass(frozen=True, slots=True)
class LogCommand:
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


@dataclass(frozen=True, slots=True)
class RulesCommand:
    """The queue rules."""

    repository: RepositoryName | None = None


@dataclass(frozen=True, slots=True)
class BranchesCommand:
    """The base branches with queue activity since so long ago."""

    repository: RepositoryName | None
    since: timedelta


@dataclass(frozen=True, slots=True)
class StatsCommand:
    """What merged, failed and how long it took since so long ago, for one base branch or all."""

    repository: RepositoryName | None
    since: timedelta
    branch: str | None = None


@dataclass(frozen=True, slots=True)
class PauseCommand:
    """`reason` is None when none was typed: a modal asks for it. `lasting`: it lifts itself.

    `doubtful` is a duration that may also be meant as a part of the reason; the person is asked.
    `reason_before` is the reason without it, None when nothing is left.
    """

    repository: RepositoryName | None = None
    reason: str | None = None
    lasting: Lasting | None = None
    doubtful: Lasting | None = None
    reason_before: str | None = None


@dataclass(frozen=True, slots=True)
class UnpauseCommand:
    """Lift the pause."""

    repository: RepositoryName | None = None


@dataclass(frozen=True, slots=True)
class SubscribeCommand:
    """Have the channel hear about the repository."""

    repository: RepositoryName | None = None
    wish: Wish = field(default_factory=Wish)


@dataclass(frozen=True, slots=True)
class UnsubscribeCommand:
    """An empty wish ends all of it."""

    repository: RepositoryName | None = None
    wish: Wish = field(default_factory=Wish)


@dataclass(frozen=True, slots=True)
class SubscribeGroupCommand:
    """Have the channel hear about each repository of the group."""

    group: Group
    wish: Wish = field(default_factory=Wish)


@dataclass(frozen=True, slots=True)
class UnsubscribeGroupCommand:
    """An empty wish ends all that the channel hears about the group's repositories."""

    group: Group
    wish: Wish = field(default_factory=Wish)


@dataclass(frozen=True, slots=True)
class SampleCommand:
    """Who would hear about a sample event of each topic, on the base branch if one is given."""

    repository: RepositoryName | None = None
    branch: str | None = None


@dataclass(frozen=True, slots=True)
class DefaultCommand:
    """The repository that need not be typed here: set it, forget it (`is_off`), or ask for it."""

    repository: RepositoryName | None
    is_off: bool = False


@dataclass(frozen=True, slots=True)
class BoardCommand:
    """One message in the channel that is kept true of the queue; `is_off` ends that."""

    repository: RepositoryName | None = None
    is_off: bool = False


@dataclass(frozen=True, slots=True)
class SubscriptionsCommand:
    """The list of what the channel hears."""


@dataclass(frozen=True, slots=True)
class PauseGroupCommand:
    """`asked` is what was typed behind the group's name; empty when nothing was."""

    group: Group
    asked: str


@dataclass(frozen=True, slots=True)
class UnpauseGroupCommand:
    """Restore what was paused for the group."""

    group: Group


@dataclass(frozen=True, slots=True)
class GroupStatusCommand:
    """A line for each queue of the group."""

    group: Group


@dataclass(frozen=True, slots=True)
class AuditCommand:
    """Who did what, in all repositories when `repository` is None."""

    repository: RepositoryName | None = None
    lookback: timedelta = AUDIT_LOOKBACK


@dataclass(frozen=True, slots=True)
class LinkCommand:
    """Connect the person with their login of the code host; None ends the connection."""

    login: str | None


@dataclass(frozen=True, slots=True)
class MeCommand:
    """What the bot knows of the person and tells them; `notices`, if any, are switched."""

    notices: frozenset[Notice] = frozenset()
    is_on: bool = False


@dataclass(frozen=True, slots=True)
class HelpCommand:
    """The commands, or one of them."""

    verb: str | None = None


RepositoryCommand = (
    StatusCommand
    | WhyCommand
    | LogCommand
    | RulesCommand
    | BranchesCommand
    | StatsCommand
    | PauseCommand
    | UnpauseCommand
    | SubscribeCommand
    | UnsubscribeCommand
    | SampleCommand
    | BoardCommand
)
"""Those that are about one repository, which may be left out."""

GeneralCommand = (
    SubscribeGroupCommand
    | UnsubscribeGroupCommand
    | SubscriptionsCommand
    | DefaultCommand
    | PauseGroupCommand
    | UnpauseGroupCommand
    | GroupStatusCommand
    | AuditCommand
    | LinkCommand
    | MeCommand
    | HelpCommand
)

Command = RepositoryCommand | GeneralCommand
