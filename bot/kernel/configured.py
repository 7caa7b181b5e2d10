"""The part of the settings that a reload can change, with what they rule for each repository."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import TypeVar

from pydantic import SecretStr

from bot.kernel.groups import Groups, Repositories
from bot.kernel.logins import BotLogins
from bot.kernel.repository import RepositoryName

_Rules = TypeVar("_Rules")


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules for one repository: one value of each class of rules that a subject declares."""

    given: Sequence[object] = ()

    def rules(self, kind: type[_Rules]) -> _Rules:
        """The rules of this class; its defaults where the settings give none."""
        for rules in self.given:
            if isinstance(rules, kind):
                return rules
        return kind()


@dataclass(frozen=True, slots=True)
class AcceptedSecret:
    """One of the secrets that a setting accepts; two of them while one replaces the other."""

    setting: str  #: its variable
    #: its place in the setting, from 1, by which people find it; its value shows nowhere
    entry: int
    secret: SecretStr
    last_day: date | None = None  #: the last day in UTC on which it counts; None for no end
    machine: str = ""  #: whose it is, if it is a machine's

    def counts(self, now: datetime) -> bool:
        return self.last_day is None or now.astimezone(UTC).date() <= self.last_day

    def days_left(self, now: datetime) -> int | None:
        """Days after today on which it still counts, negative once it ended; None for no end."""
        return (self.last_day - now.astimezone(UTC).date()).days if self.last_day else None


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
    """

    groups: Groups
    home_ids: frozenset[str]  #: the ids that Slack uses for this organisation
    policies: Policies
    #: the people to whom logins are assigned, by login in lower case; they give rights
    owners: Mapping[str, str] = field(default_factory=dict)
    bots: BotLogins = field(default_factory=BotLogins)
    unverified_may_read: bool = False
    #: the profile field in Slack with people's logins, which they can't edit; or empty
    login_field: str = ""

    def replace(self, new: "Configured") -> None:
        self.groups = new.groups
        self.policies = new.policies
        self.owners = new.owners
        self.bots = new.bots
        self.unverified_may_read = new.unverified_may_read
        self.login_field = new.login_field

    def is_assigned(self, login: str, user_id: str) -> bool:
        """Whether an operator says that the login is this person's; what people claim isn't."""
        return bool(login) and self.owners.get(login.lower()) == user_id

    def may_be_proven(self, login: str) -> bool:
        """Whether a profile may say whose login it is: it's unassigned, and no program's."""
        is_free = login.lower() not in self.owners and login not in self.bots
        return bool(self.login_field and login) and is_free

    @property
    def repositories(self) -> Repositories:
        return self.groups.repositories
