"""Who may do what: a pure decision, based on what Slack says about a person now."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from typing_extensions import override

MACHINE = "machine:"
"""Begins the id of a machine with a token, where people have their Slack ids."""

RULE = "rule:"
"""Begins the id of a rule of the settings, which acts by itself."""


class Right(StrEnum):
    """A permission. All need a full member; settings restrict the last three further."""

    READ = "read"
    SUBSCRIBE = "subscribe"
    PAUSE = "pause"
    RESUME = "resume"
    REMOVE = "remove"
    """Other people's pull requests."""
    FREEZE = "freeze"
    """To freeze and unfreeze, and to let pull requests through a freeze."""


class DenialReason(StrEnum):
    """Why a request is denied. `UNVERIFIABLE`: Slack gave no answer about the person."""

    OTHER_ORGANISATION = "other_organisation"
    GUEST = "guest"
    BOT = "bot"
    DEACTIVATED = "deactivated"
    UNKNOWN_PERSON = "unknown_person"
    NOT_LISTED = "not_listed"
    UNVERIFIABLE = "unverifiable"


@dataclass(frozen=True, slots=True)
class Denied:
    """Not allowed. `code` is Slack's answer, or why there was none."""

    reason: DenialReason
    code: str | None = None


@dataclass(frozen=True, slots=True)
class WhoCan:
    """The people who may, by name; user groups begin with `@`.

    `more`: how many are left out. All empty: every full member may.
    """

    groups: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    more: int = 0


@dataclass(frozen=True, slots=True)
class Person:
    """Slack's current data on an account (https://docs.slack.dev/reference/objects/user-object).

    `team_ids`: every id that Slack uses for the account's organisation: its workspace's and, on
    Enterprise Grid, its organisation's and those of its workspaces.
    `is_guest`: a single- or multi-channel guest; None if Slack doesn't say.
    `zone`: the name of their time zone.
    """

    user_id: str
    name: str
    team_ids: frozenset[str]
    is_deactivated: bool
    is_bot: bool
    is_guest: bool | None
    is_stranger: bool
    zone: str | None = None


@dataclass(frozen=True, slots=True)
class Unanswered:
    """Slack gave no answer about the person; `code` is its error code, or one of ours."""

    code: str


NO_GUEST_FLAG = "is_restricted_missing"
"""The code for an account if Slack doesn't say whether it is a guest."""


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


def is_machine(user_id: str) -> bool:
    """Whether the id is that of a machine with a token, or of a rule: of no person in Slack."""
    return user_id.startswith((MACHINE, RULE))


def decide(
    user_id: str,
    standing: Denied | None,
    rule: WhoMayPause,
    members: Mapping[str, Collection[str] | Unanswered],
) -> Denied | None:
    """Why the person may not, None if they may; unknown facts count against them.

    `standing`: that of `not_a_member`.
    `members`: Slack's answer for each group of the rule.
    """
    if standing is not None or rule.names(user_id):
        return standing
    unanswered: Unanswered | None = None
    for group_id in sorted(rule.groups):
        found = members.get(group_id, Unanswered("not_asked"))
        if isinstance(found, Unanswered):
            unanswered = unanswered or found
        elif user_id in found:
            return None
    if unanswered is not None:
        return Denied(DenialReason.UNVERIFIABLE, unanswered.code)
    return Denied(DenialReason.NOT_LISTED)


def not_a_member(
    person: Person | Unanswered | None, claimed: str | None, home_ids: frozenset[str]
) -> Denied | None:
    """Why the person is not a full member of the home organisation, or None.

    `person`: Slack's answer about them, None for an unknown id.
    `claimed`: the id of the team in their request.
    `home_ids`: the ids that Slack uses for this organisation: the workspace's and, on Enterprise
    Grid, the organisation's. People of other organisations can press buttons in a shared channel
    (https://docs.slack.dev/apis/slack-connect).
    """
    if isinstance(person, Unanswered):
        return Denied(DenialReason.UNVERIFIABLE, person.code)
    if person is None:
        return Denied(DenialReason.UNKNOWN_PERSON)
    # The payload may name another workspace of the same Enterprise Grid; only Slack's answer about
    # the person ties that to the organisation.
    is_home = claimed in (home_ids | person.team_ids) and not person.team_ids.isdisjoint(home_ids)
    if person.is_stranger or not is_home:
        return Denied(DenialReason.OTHER_ORGANISATION)
    standing: Sequence[tuple[bool | None, Denied]] = (
        (person.is_deactivated, Denied(DenialReason.DEACTIVATED)),
        (person.is_bot, Denied(DenialReason.BOT)),
        (person.is_guest, Denied(DenialReason.GUEST)),
        (person.is_guest is None, Denied(DenialReason.UNVERIFIABLE, NO_GUEST_FLAG)),
    )
    return next((denied for is_so, denied in standing if is_so), None)
