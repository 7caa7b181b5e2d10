"""Who may do what: every standing, every claim, every answer of Slack's, every rule."""

from collections.abc import Collection, Mapping
from dataclasses import replace

import pytest

from bot.acts.check_permission import CheckPermission
from bot.acts.errors import PermissionDenied
from bot.acts.permission import Everyone, Listed, Right, RightRules, WhoMayPause, decide
from bot.kernel.actor import Actor
from bot.kernel.configured import Policy
from bot.slack.person import DenialReason, Denied, Guest, Person, PersonUnknown, not_a_member
from tests.support.directories import FakePeople
from tests.support.make import make_configured

HOME = "T0ACME"
ORGANISATION = "E0ACME"
SISTER = "T0SISTER"
OTHER = "T0OTHER"
ALICE = "U0ALICE"
BOB = "U0BOB"
GROUP = "S0RELEASE"
SECOND_GROUP = "S0NIGHT"
WORKSPACE = frozenset({HOME})
GRID = frozenset({HOME, ORGANISATION})
STRANGER = Denied(DenialReason.OTHER_ORGANISATION)
NOT_LISTED = Denied(DenialReason.NOT_LISTED)
MEMBER = Person(
    ALICE,
    "alice",
    frozenset({HOME}),
    is_deactivated=False,
    is_bot=False,
    guest=Guest.NO,
    is_stranger=False,
)
TIMEOUT = PersonUnknown("timeout")


def judge(
    person: Person | PersonUnknown | None = MEMBER,
    rule: WhoMayPause | None = None,
    *,
    claimed: str | None = HOME,
    home_ids: frozenset[str] = WORKSPACE,
    members: Mapping[str, Collection[str] | PersonUnknown] | None = None,
) -> Denied | None:
    standing = not_a_member(person, claimed, home_ids)
    return decide(ALICE, standing, rule or Everyone(), members or {})


def of_teams(*team_ids: str) -> Person:
    return replace(MEMBER, team_ids=frozenset(team_ids))


def listed(*ids: str) -> Listed:
    groups = frozenset(user_id for user_id in ids if user_id.startswith("S"))
    return Listed(frozenset(ids) - groups, groups)


@pytest.mark.parametrize("rule", [Everyone(), listed(ALICE), listed(GROUP)])
@pytest.mark.parametrize(
    ("person", "denied"),
    [
        (MEMBER, None),
        (replace(MEMBER, guest=Guest.YES), Denied(DenialReason.GUEST)),
        (replace(MEMBER, is_bot=True), Denied(DenialReason.BOT)),
        (replace(MEMBER, is_deactivated=True), Denied(DenialReason.DEACTIVATED)),
        (replace(MEMBER, is_stranger=True), STRANGER),
        (of_teams(OTHER, "E0OTHER"), STRANGER),
        (of_teams(), STRANGER),
        (None, Denied(DenialReason.UNKNOWN_PERSON)),
        (PersonUnknown("ratelimited"), Denied(DenialReason.UNVERIFIABLE, "ratelimited")),
    ],
)
def test_only_full_members_may_even_when_listed(
    person: Person | PersonUnknown | None, denied: Denied | None, rule: WhoMayPause
) -> None:
    assert judge(person, rule, members={GROUP: {ALICE}}) == denied


@pytest.mark.parametrize("claimed", [OTHER, SISTER, "", None])
def test_a_payload_from_another_or_no_team_is_refused(claimed: str | None) -> None:
    assert judge(claimed=claimed) == STRANGER


@pytest.mark.parametrize("claimed", [HOME, ORGANISATION, SISTER])
@pytest.mark.parametrize(
    "person", [of_teams(HOME, ORGANISATION, SISTER), of_teams(SISTER, ORGANISATION)]
)
def test_people_of_a_grid_are_members_by_any_of_its_ids(person: Person, claimed: str) -> None:
    assert judge(person, claimed=claimed, home_ids=GRID) is None


def test_a_workspace_knows_no_other_and_without_a_known_one_nobody_may_act() -> None:
    assert judge(of_teams(SISTER, ORGANISATION), claimed=SISTER) == STRANGER
    assert judge(home_ids=frozenset()) == STRANGER


@pytest.mark.parametrize(
    ("rule", "members", "denied"),
    [
        (listed(), {}, NOT_LISTED),
        (listed(ALICE, GROUP), {GROUP: TIMEOUT}, None),
        (listed(BOB), {}, NOT_LISTED),
        (listed(BOB, GROUP), {GROUP: {ALICE}}, None),
        (listed(BOB, GROUP), {GROUP: {BOB}}, NOT_LISTED),
        (listed(GROUP), {GROUP: TIMEOUT}, Denied(DenialReason.UNVERIFIABLE, "timeout")),
        (listed(GROUP), {}, Denied(DenialReason.UNVERIFIABLE, "not_asked")),
        (listed(GROUP, SECOND_GROUP), {GROUP: {ALICE}, SECOND_GROUP: TIMEOUT}, None),
        (
            listed(GROUP, SECOND_GROUP),
            {GROUP: {BOB}, SECOND_GROUP: TIMEOUT},
            Denied(DenialReason.UNVERIFIABLE, "timeout"),
        ),
    ],
)
def test_of_a_list_only_those_named_and_members_of_its_groups_may(
    rule: Listed, members: dict[str, Collection[str] | PersonUnknown], denied: Denied | None
) -> None:
    assert judge(rule=rule, members=members) == denied


NO_SCOPE = PersonUnknown("missing_scope")
UNVERIFIED = replace(MEMBER, guest=Guest.UNKNOWN)


@pytest.mark.parametrize(
    ("person", "rule", "members", "may_read"),
    [
        (MEMBER, listed(GROUP), NO_SCOPE, False),
        (MEMBER, listed(GROUP), {BOB}, False),
        (MEMBER, listed(GROUP), {ALICE}, True),
        (UNVERIFIED, Everyone(), NO_SCOPE, True),
        (UNVERIFIED, listed(ALICE), NO_SCOPE, True),
        (UNVERIFIED, listed(BOB), NO_SCOPE, False),
        (UNVERIFIED, listed(GROUP), {ALICE}, True),
        (UNVERIFIED, listed(GROUP), {BOB}, False),
        (UNVERIFIED, listed(GROUP), NO_SCOPE, False),
        (TIMEOUT, listed(ALICE), NO_SCOPE, True),
        (TIMEOUT, listed(BOB), NO_SCOPE, False),
    ],
)
async def test_people_whom_slack_does_not_vouch_for_read_only_what_they_are_listed_for(
    person: Person | PersonUnknown,
    rule: WhoMayPause,
    members: Collection[str] | PersonUnknown,
    *,
    may_read: bool,
) -> None:
    rules = RightRules({Right.READ: rule, Right.PAUSE: listed(ALICE)})
    configured = make_configured(policy=Policy([rules]))
    configured.unverified_may_read = True
    check = CheckPermission(FakePeople({ALICE: person}, {GROUP: members}), configured)
    alice = Actor(ALICE, "alice", HOME)
    assert await check.may(alice, Right.READ) is may_read
    assert await check.may(alice, Right.PAUSE) is (person is MEMBER)
    if may_read:
        await check.require(alice, Right.READ)
        return
    with pytest.raises(PermissionDenied):
        await check.require(alice, Right.READ)
