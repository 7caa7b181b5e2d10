"""A person as Slack knows them, and whether they are a full member here."""

from dataclasses import dataclass
from enum import Enum, StrEnum


class Guest(Enum):
    """Whether an account is a guest's."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "Slack doesn't say"


FIRST_LETTERS = ("U", "W")
"""Of people's ids."""


def is_for_person(address: str) -> bool:
    """Whether posts to the address are direct messages, not posts in a channel."""
    return address.startswith(FIRST_LETTERS)


@dataclass(frozen=True, slots=True)
class Person:
    """Slack's current data on an account (https://docs.slack.dev/reference/objects/user-object)."""

    user_id: str
    name: str
    #: every id that Slack uses for the account's organisation: its workspace's and, on Enterprise
    #: Grid, its organisation's and those of its workspaces
    team_ids: frozenset[str]
    is_deactivated: bool
    is_bot: bool
    guest: Guest  #: a single- or multi-channel guest
    is_stranger: bool
    zone: str | None = None  #: the name of their time zone


@dataclass(frozen=True, slots=True)
class PersonUnknown:
    """Slack gave no answer about the person; `code` is its error code, or the bot's own."""

    code: str


NO_GUEST_FLAG = "is_restricted_missing"
"""The code for an account if Slack doesn't say whether it is a guest."""


class DenialReason(StrEnum):
    """Why a request is denied. `UNVERIFIABLE`: Slack gave no answer about the person."""

    OTHER_ORGANISATION = "other_organisation"
    GUEST = "guest"
    BOT = "bot"
    DEACTIVATED = "deactivated"
    UNKNOWN_PERSON = "unknown_person"
    NOT_LISTED = "not_listed"
    UNVERIFIABLE = "unverifiable"


OUTSIDE = frozenset(
    {
        DenialReason.OTHER_ORGANISATION,
        DenialReason.GUEST,
        DenialReason.BOT,
        DenialReason.DEACTIVATED,
        DenialReason.UNKNOWN_PERSON,
    }
)
"""Why somebody is no full member here. They learn nothing but that."""


@dataclass(frozen=True, slots=True)
class Denied:
    """Not allowed. `code` is Slack's answer, or why there was none."""

    reason: DenialReason
    code: str | None = None


def not_a_member(
    person: Person | PersonUnknown | None, claimed: str | None, home_ids: frozenset[str]
) -> Denied | None:
    """Why the person is not a full member of the home organisation, or None.

    `person`: Slack's answer about them, None for an unknown id.
    `claimed`: the id of the team in their request.
    `home_ids`: the ids that Slack uses for this organisation: the workspace's and, on Enterprise
    Grid, the organisation's. People of other organisations can press buttons in a shared channel
    (https://docs.slack.dev/apis/slack-connect).
    """
    if isinstance(person, PersonUnknown):
        return Denied(DenialReason.UNVERIFIABLE, person.code)
    if person is None:
        return Denied(DenialReason.UNKNOWN_PERSON)
    # The payload may name another workspace of the same Enterprise Grid; only Slack's answer about
    # the person ties that to the organisation.
    is_claimed = claimed in home_ids or claimed in person.team_ids
    is_home = is_claimed and not person.team_ids.isdisjoint(home_ids)
    if person.is_stranger or not is_home:
        return Denied(DenialReason.OTHER_ORGANISATION)
    return _no_full_member(person)


def _no_full_member(person: Person) -> Denied | None:
    if person.is_deactivated:
        return Denied(DenialReason.DEACTIVATED)
    if person.is_bot:
        return Denied(DenialReason.BOT)
    if person.guest is Guest.YES:
        return Denied(DenialReason.GUEST)
    if person.guest is Guest.UNKNOWN:
        return Denied(DenialReason.UNVERIFIABLE, NO_GUEST_FLAG)
    return None
