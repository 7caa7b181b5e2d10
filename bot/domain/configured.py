"""The part of the settings that a reload can change, with what they rule for each repository."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from pydantic import SecretStr

from bot.domain.auto_pause import AutoPause
from bot.domain.groups import Groups, Repositories
from bot.domain.permissions import Right, WhoMayPause
from bot.domain.queue_health import AlertKind
from bot.domain.repository import RepositoryName
from bot.domain.windows import RecurringWindow


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules for one repository.

    `who_may`: the full members and machines that have a right; everybody has any other right.
    `first_reminder`: the time before the first reminder of a pause; zero for no reminders.
    `thresholds`: those of the active alerts; times in seconds.
    `alert_mention`: the user group to mention when an alert begins, or the bot pauses by itself.
    `second_person`: whether it takes two people to resume somebody else's pause.
    `auto_pause`: when the bot pauses by itself; None for never.
    """

    who_may: Mapping[Right, WhoMayPause] = field(default_factory=dict)
    first_reminder: timedelta = timedelta()
    thresholds: Mapping[AlertKind, int] = field(default_factory=dict)
    alert_mention: str | None = None
    second_person: bool = False
    auto_pause: AutoPause | None = None


@dataclass(frozen=True, slots=True)
class OwnToken:
    """A credential of some repositories only; `setting` is its name in the file."""

    setting: str
    secret: SecretStr


@dataclass(frozen=True, slots=True)
class Policies:
    """The policies of repositories that have their own, and the one of all others."""

    default: Policy = field(default_factory=Policy)
    own: Mapping[RepositoryName, Policy] = field(default_factory=dict)

    def of(self, repository: RepositoryName) -> Policy:
        return self.own.get(repository, self.default)


@dataclass(slots=True)
class Configured:
    """What the settings say now, shared by a whole process.

    A reload replaces the values, so read them where they are needed and keep no copy.
    `home_ids`: the ids that Slack uses for this organisation.
    `owners`: the people to whom logins are assigned, by login in lower case.
    """

    groups: Groups
    home_ids: frozenset[str]
    policies: Policies
    owners: Mapping[str, str] = field(default_factory=dict)
    windows: Sequence[RecurringWindow] = ()

    def replace(self, new: "Configured") -> None:
        self.groups, self.policies, self.owners = new.groups, new.policies, new.owners
        self.windows = new.windows

    @property
    def repositories(self) -> Repositories:
        return self.groups.repositories
