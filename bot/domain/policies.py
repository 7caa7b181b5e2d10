"""What the settings rule for each repository."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from pydantic import SecretStr

from bot.domain.auto_pause import AutoPause
from bot.domain.permissions import Right, WhoMayPause
from bot.domain.queue_health import AlertKind
from bot.domain.repository import RepositoryName


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
