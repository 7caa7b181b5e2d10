"""Who may do what: a pure decision, based on what Slack says about a person now."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar

from typing_extensions import override

from bot.kernel.repository import RepositoryName
from bot.slack.person import DenialReason, Denied, PersonUnknown

MACHINE = "machine:"
"""Begins the id of a machine with a token, where people have their Slack ids."""


RULE = "rule:"
"""Begins the id of a rule of the settings, which acts by itself."""


class Right(StrEnum):
    """A permission. All need a full member; settings restrict each of them further."""

    READ = "read"
    SUBSCRIBE = "subscribe"
    PAUSE = "pause"
    RESUME = "resume"
    REMOVE = "remove"
    """Other people's pull requests."""
    FREEZE = "freeze"
    """To freeze and unfreeze, and to let pull requests through a freeze."""


@dataclass(frozen=True, slots=True)
class WhoCan:
    """The people who may, by name; user groups begin with `@`."""

    groups: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    more: int = 0  #: how many are left out. All empty: every full member may.


@dataclass(frozen=True, slots=True)
class Permitted:
    """Who has a right, for some repositories."""

    right: Right
    who: WhoCan
    repositories: tuple[RepositoryName, ...] = ()  #: empty for all


@dataclass(frozen=True, slots=True)
class Listed:
    """Only these people and machines, and the members of these user groups, by id."""

    people: frozenset[str]
    groups: frozenset[str]

    def names(self, user_id: str) -> bool:
        """Whether the person or machine may without being in a group; Slack's hold only people."""
        return user_id in self.people


@dataclass(frozen=True, slots=True)
class Everyone:
    """Every full member of the home organisation, and every machine with a token."""

    groups: ClassVar[frozenset[str]] = frozenset()

    def names(self, _user_id: str) -> bool:
        return True

    @override
    def __str__(self) -> str:
        """The rule as written in the setting."""
        return "everyone"


WhoMayPause = Everyone | Listed


@dataclass(frozen=True, slots=True)
class RightRules:
    """Who has which right; everybody has a right that isn't in it."""

    who_may: Mapping[Right, WhoMayPause] = field(default_factory=dict)


UNKNOWN_PERSON = "slack:somebody"
"""The id of a person who acted through the bot, which has no record of it."""


def is_machine(user_id: str) -> bool:
    """Whether nobody in Slack has the id: it is a machine's, a rule's or an unknown person's."""
    return user_id == UNKNOWN_PERSON or user_id.startswith((MACHINE, RULE))


def decide(
    user_id: str,
    standing: Denied | None,
    rule: WhoMayPause,
    members: Mapping[str, Collection[str] | PersonUnknown],
) -> Denied | None:
    """Why the person may not, None if they may; unknown facts count against them.

    `standing`: that of `not_a_member`.
    `members`: Slack's answer for each group of the rule.
    """
    if standing is not None or rule.names(user_id):
        return standing
    unanswered: PersonUnknown | None = None
    for group_id in sorted(rule.groups):
        found = members.get(group_id, PersonUnknown("not_asked"))
        if isinstance(found, PersonUnknown):
            unanswered = unanswered or found
        elif user_id in found:
            return None
    if unanswered is not None:
        return Denied(DenialReason.UNVERIFIABLE, unanswered.code)
    return Denied(DenialReason.NOT_LISTED)
