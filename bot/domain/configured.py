"""The part of the settings that a reload can change."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bot.domain.groups import Groups, Repositories
from bot.domain.policies import Policies
from bot.domain.windows import RecurringWindow


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
