"""Who may do what: every standing, every claim, every answer of Slack's, every rule."""

from collections.abc import Collection, Mapping
from dataclasses import replace

import pytest

from bot.domain.audit import RIGHTS, Action
from bot.domain.configured import Policy
from bot.domain.permissions import (
    DenialReason,
    Denied,
    Everyone,
    Evidence,
    Listed,
    Person,
    Right,
    Unanswered,
    WhoMayPause,
    decide,
)

HOME, ORGANISATION, SISTER, OTHER = "T0ACME", "E0ACME", "T0SISTER", "T0OTHER"
ALICE, BOB = "U0ALICE", "U0BOB"
GROUP, SECOND_GROUP = "S0RELEASE", "S0NIGHT"
WORKSPACE = frozenset({HOME})
GRID = frozenset({HOME, ORGANISATION})
CHANGES = (Right.PAUSE, Right.RESUME)
MEMBER = Person(
    ALICE,
    "alice",
    frozenset({HOME}),
    is_deactivated=False,
    is_bot=False,
    is_guest=False,
    is_stranger=False,
)
STANDINGS = [
    (replace(MEMBER, is_guest=True), DenialReason.GUEST),
    (replace(MEMBER, is_bot=True), DenialReason.BOT),
    (replace(MEMBER, is_deactivated=True), DenialReason.DEACTIVATED),
    (replace(MEMBER, is_stranger=True), DenialReason.OTHER_ORGANISATION),
    (replace(MEMBER, team_ids=frozenset({OTHER})), DenialReason.OTHER_ORGANISATION),
    (replace(MEMBER, team_ids=frozenset({OTHER, "E0OTHER"})), DenialReason.OTHER_ORGANISATION),
    (replace(MEMBER, team_ids=frozenset()), DenialReason.OTHER_ORGANISATION),
    (None, DenialReason.UNKNOWN_PERSON),
    (Unanswered("ratelimited"), DenialReason.UNVERIFIABLE),
]


def judge(
    right: Right,
    person: Person | Unanswered | None = MEMBER,
    *,
    claimed: str | None = HOME,
    home_ids: frozenset[str] = WORKSPACE,
    rule: WhoMayPause | None = None,
    members: Mapping[str, Collection[str] | Unanswered] | None = None,
) -> Denied | None:
    evidence = Evidence(ALICE, claimed, person, members or {})
    return decide(evidence, home_ids, ruled(rule or Everyone()).who_may.get(right, Everyone()))


def ruled(rule: WhoMayPause) -> Policy:
    return Policy(who_may={Right.PAUSE: rule, Right.RESUME: rule})


def listed(*ids: str) -> Listed:
    groups = frozenset(one for one in ids if one.startswith("S"))
    return Listed(frozenset(ids) - groups, groups)


@pytest.mark.parametrize("right", list(Right))
def test_a_full_member_may_do_everything_where_everyone_may(right: Right) -> None:
    assert judge(right) is None


@pytest.mark.parametrize("right", list(Right))
@pytest.mark.parametrize(
    "rule", [Everyone(), listed(ALICE), listed(GROUP)], ids=["everyone", "people", "groups"]
)
@pytest.mark.parametrize(("person", "reason"), STANDINGS, ids=map(str, range(9)))
def test_people_who_are_not_full_members_may_do_nothing_even_when_listed(
    person: Person | Unanswered | None, reason: DenialReason, rule: WhoMayPause, right: Right
) -> None:
    decision = judge(right, person, rule=rule, members={GROUP: {ALICE}})

    assert isinstance(decision, Denied)
    assert decision.reason is reason
    assert decision.code == ("ratelimited" if isinstance(person, Unanswered) else None)


@pytest.mark.parametrize("right", list(Right))
@pytest.mark.parametrize("claimed", [OTHER, "E0OTHER", SISTER, "", None])
def test_a_payload_from_another_or_no_team_is_refused(claimed: str | None, right: Right) -> None:
    assert judge(right, claimed=claimed) == Denied(DenialReason.OTHER_ORGANISATION)


@pytest.mark.parametrize("right", list(Right))
@pytest.mark.parametrize("claimed", [HOME, ORGANISATION, SISTER])
@pytest.mark.parametrize(
    "team_ids",
    [{HOME, ORGANISATION, SISTER}, {SISTER, ORGANISATION}],
    ids=["of our workspace", "of a sister workspace"],
)
def test_people_of_the_enterprise_grid_are_members_by_any_of_its_ids(
    team_ids: set[str], claimed: str, right: Right
) -> None:
    person = replace(MEMBER, team_ids=frozenset(team_ids))

    assert judge(right, person, claimed=claimed, home_ids=GRID) is None


@pytest.mark.parametrize("right", list(Right))
def test_a_workspace_without_a_grid_knows_no_sister_workspace(right: Right) -> None:
    person = replace(MEMBER, team_ids=frozenset({SISTER, ORGANISATION}))

    assert judge(right, person, claimed=SISTER) == Denied(DenialReason.OTHER_ORGANISATION)


@pytest.mark.parametrize("right", list(Right))
def test_without_a_known_workspace_nobody_may_act(right: Right) -> None:
    assert isinstance(judge(right, home_ids=frozenset()), Denied)


@pytest.mark.parametrize("right", [Right.READ, Right.SUBSCRIBE])
def test_a_list_of_people_who_may_pause_leaves_reading_to_all_members(right: Right) -> None:
    assert judge(right, rule=listed(BOB, GROUP)) is None


@pytest.mark.parametrize("right", CHANGES)
@pytest.mark.parametrize(
    ("rule", "members", "decision"),
    [
        (listed(ALICE), {}, None),
        (listed(ALICE, GROUP), {GROUP: Unanswered("timeout")}, None),
        (listed(BOB), {}, Denied(DenialReason.NOT_LISTED)),
        (listed(BOB, GROUP), {GROUP: {ALICE}}, None),
        (listed(BOB, GROUP), {GROUP: {BOB}}, Denied(DenialReason.NOT_LISTED)),
        (listed(GROUP), {GROUP: set()}, Denied(DenialReason.NOT_LISTED)),
        (
            listed(GROUP),
            {GROUP: Unanswered("missing_scope")},
            Denied(DenialReason.UNVERIFIABLE, "missing_scope"),
        ),
        (listed(GROUP), {}, Denied(DenialReason.UNVERIFIABLE, "not_asked")),
        (listed(GROUP, SECOND_GROUP), {GROUP: {ALICE}, SECOND_GROUP: Unanswered("x")}, None),
        (
            listed(GROUP, SECOND_GROUP),
            {GROUP: {BOB}, SECOND_GROUP: Unanswered("x")},
            Denied(DenialReason.UNVERIFIABLE, "x"),
        ),
        (listed(), {}, Denied(DenialReason.NOT_LISTED)),
    ],
    ids=map(str, range(11)),
)
def test_the_listed_and_the_members_of_listed_groups_may_change_a_queue(
    rule: Listed,
    members: dict[str, Collection[str] | Unanswered],
    decision: Denied | None,
    right: Right,
) -> None:
    assert judge(right, rule=rule, members=members) == decision


@pytest.mark.parametrize("right", list(Right))
def test_groups_matter_only_to_people_who_are_not_named(right: Right) -> None:
    rule = ruled(listed(ALICE, GROUP, SECOND_GROUP)).who_may.get(right, Everyone())

    assert rule.names(ALICE)
    assert rule.names(BOB) is (right not in CHANGES)
    assert rule.groups == ({GROUP, SECOND_GROUP} if right in CHANGES else set())


@pytest.mark.parametrize(
    ("action", "right"), [(Action.PAUSE, Right.PAUSE), (Action.RESUME, Right.RESUME)]
)
def test_each_action_needs_its_right(action: Action, right: Right) -> None:
    assert RIGHTS[action] is right
