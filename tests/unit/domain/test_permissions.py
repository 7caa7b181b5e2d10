"""Who may change a queue."""

import pytest

from bot.domain.audit import Action, Actor
from bot.domain.errors import PermissionDenied
from bot.domain.permissions import Policy, require_permission

POLICY = Policy(frozenset({"T0ACME", "E0ACME"}))


@pytest.mark.parametrize("team", ["T0ACME", "E0ACME"])
def test_people_of_the_organisation_may(team: str) -> None:
    require_permission(Actor("U1", "alice", team), Action.PAUSE, POLICY)


@pytest.mark.parametrize("team", ["T0OTHER", "", None])
@pytest.mark.parametrize("action", list(Action))
def test_others_and_people_of_unknown_teams_may_not(team: str | None, action: Action) -> None:
    with pytest.raises(PermissionDenied) as refused:
        require_permission(Actor("U1", "mallory", team), action, POLICY)

    assert refused.value.action == f"{action} the queue"
    assert "organisation" in refused.value.why


def test_without_a_known_home_nobody_may() -> None:
    with pytest.raises(PermissionDenied):
        require_permission(Actor("U1", "alice", "T0ACME"), Action.PAUSE, Policy(frozenset()))
