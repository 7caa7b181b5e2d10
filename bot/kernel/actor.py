"""Who acts, and from where."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from bot.kernel.repository import RepositoryName

REQUEST_SHOWN = 12
"""Characters of a request's key that the log and people see as its reference."""


class Origin(StrEnum):
    """Where the actor acted: in Slack, through the HTTP API, or not at all."""

    COMMAND = "command"
    BUTTON = "button"
    MODAL = "modal"
    SHORTCUT = "shortcut"
    HOME = "home"
    TIMER = "timer"
    MACHINE = "machine"
    RULE = "rule"  #: a rule of the settings acted
    OPERATOR = "operator"
    LOG = "log"  #: outside this bot, as far as it knows; the event log told of it


@dataclass(frozen=True, slots=True)
class Actor:
    """A Slack user, a machine or a rule. `name` appears in the service's reason and the audit."""

    user_id: str  #: empty for people who act outside this bot, of whom only the name is known
    name: str
    team_id: str | None = None


@dataclass(frozen=True, slots=True)
class Approved:
    """What a machine proposed and a person approves."""

    by: Actor  #: the machine
    records: Mapping[RepositoryName, int]  #: for each repository, the proposal's in the audit


@dataclass(frozen=True, slots=True)
class Caller:
    """Who acts, from where in Slack, and in which channel (None if there is none)."""

    actor: Actor
    origin: Origin
    channel_id: str | None = None
    #: the request whose answer is owed (`Unanswered`), None for timers and rules
    request: str | None = None
    approved: Approved | None = None  #: the proposal that the caller carries out, if it is one

    @property
    def place(self) -> str:
        """The channel, or the person if there is no channel."""
        return self.channel_id or self.actor.user_id


SOMEONE = "someone"
