"""Who may do what: a pure decision on what Slack says about a person now."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

from typing_extensions import override


class Right(StrEnum):
    """What somebody wants to do. Everything needs a full member; the last two are by setting."""

    READ = "read"
    SUBSCRIBE = "subscribe"
    PAUSE = "pause"
    UNPAUSE = "unpause"


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
    """Not allowed. `code` is what Slack said, or what kept it from saying anything."""

    reason: DenialReason
    code: str | None = None


@dataclass(frozen=True, slots=True)
class WhoCan:
    """Those who may, by the names people know; those of user groups begin with `@`.

    `more` counts those left out. All empty: every full member may.
    """

    groups: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    more: int = 0


@dataclass(frozen=True, slots=True)
class Person:
    """What Slack says of an account now (https://docs.slack.dev/reference/objects/user-object).

    `team_ids`: every id under which Slack names the organisation the account belongs to, that is
    its workspace's and, on Enterprise Grid, its organisation's and those of its workspaces.
    `is_guest`: a guest of several channels or of one; None where Slack does not tell.
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
"""The code for an account of which Slack does not tell whether it is a guest's."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """Nothing stands against it."""


Decision = Allowed | Denied


@dataclass(frozen=True, slots=True)
class Listed:
    """Only these people and the members of these user groups, by their Slack ids."""

    people: frozenset[str]
    groups: frozenset[str]


@dataclass(frozen=True, slots=True)
class Everyone:
    """Every full member of the home organisation."""

    @override
    def __str__(self) -> str:
        """As the setting is written."""
        return "everyone"


WhoMayPause = Everyone | Listed


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules in force.

    `home_ids`: the ids under which Slack names people of this organisation. They are the
    workspace's id and, on Enterprise Grid, the organisation's: a button in a shared channel can
    be pressed by people of others (https://docs.slack.dev/apis/slack-connect).
    """

    home_ids: frozenset[str]
    may_pause: WhoMayPause = Everyone()


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of the one who acts.

    `claimed_team_id` came with what they did; `person` is Slack's answer about them, None when
    it knows nobody of that id. `members` holds the answer for each group that was asked for.
    """

    user_id: str
    claimed_team_id: str | None
    person: Person | Unanswered | None
    members: Mapping[str, Collection[str] | Unanswered]


def decide(right: Right, evidence: Evidence, policy: Policy) -> Decision:
    """Whether somebody may; whatever is not known counts against it."""
    against = _not_a_member(evidence, policy.home_ids)
    return against or _by_rule(evidence, rule_for(right, policy))


def rule_for(right: Right, policy: Policy) -> WhoMayPause:
    """Who among the full members has the right."""
    match right:
        case Right.READ | Right.SUBSCRIBE:
            return Everyone()
        case Right.PAUSE | Right.UNPAUSE:
            return policy.may_pause


def groups_to_ask(right: Right, policy: Policy, user_id: str) -> frozenset[str]:
    """The user groups whose members decide; none for a person who is named themselves."""
    match rule_for(right, policy):
        case Everyone():
            return frozenset()
        case Listed(people=people, groups=groups):
            return frozenset() if user_id in people else groups


def _not_a_member(evidence: Evidence, home_ids: frozenset[str]) -> Denied | None:
    """Why this is no full member of the home organisation, if it is not."""
    person = evidence.person
    if isinstance(person, Unanswered):
        return Denied(DenialReason.UNVERIFIABLE, person.code)
    if person is None:
        return Denied(DenialReason.UNKNOWN_PERSON)
    if person.is_stranger or not _is_home(person, evidence.claimed_team_id, home_ids):
        return Denied(DenialReason.OTHER_ORGANISATION)
    standing: tuple[tuple[bool | None, DenialReason], ...] = (
        (person.is_deactivated, DenialReason.DEACTIVATED),
        (person.is_bot, DenialReason.BOT),
        (person.is_guest, DenialReason.GUEST),
    )
    against = next((Denied(reason) for is_so, reason in standing if is_so), None)
    if against is None and person.is_guest is None:
        return Denied(DenialReason.UNVERIFIABLE, NO_GUEST_FLAG)
    return against


def _is_home(person: Person, claimed: str | None, home_ids: frozenset[str]) -> bool:
    """Both the payload and `users.info` must name this organisation.

    The payload may name another workspace of the same Enterprise Grid, which only Slack's
    answer about the person ties to the organisation.
    """
    if claimed is None or person.team_ids.isdisjoint(home_ids):
        return False
    return claimed in home_ids or claimed in person.team_ids


def _by_rule(evidence: Evidence, rule: WhoMayPause) -> Decision:
    match rule:
        case Everyone():
            return Allowed()
        case Listed(people=people, groups=groups):
            return Allowed() if evidence.user_id in people else _by_groups(evidence, groups)


def _by_groups(evidence: Evidence, groups: Collection[str]) -> Decision:
    """One group that is known to have the person is enough; one that is unknown may have them."""
    unanswered: Unanswered | None = None
    for group_id in sorted(groups):
        members = evidence.members.get(group_id, Unanswered("not_asked"))
        if isinstance(members, Unanswered):
            unanswered = unanswered or members
        elif evidence.user_id in members:
            return Allowed()
    if unanswered is not None:
        return Denied(DenialReason.UNVERIFIABLE, unanswered.code)
    return Denied(DenialReason.NOT_LISTED)
