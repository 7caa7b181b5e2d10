"""Who may change a queue."""

from dataclasses import dataclass

from bot.domain.audit import Action, Actor
from bot.domain.errors import PermissionDenied


@dataclass(frozen=True, slots=True)
class Policy:
    """`home_ids`: the ids under which Slack names people of this organisation.

    They are the workspace's id and, on Enterprise Grid, the organisation's: a button in a shared
    channel can be pressed by people of others, and only `user.team_id` tells them apart
    (https://docs.slack.dev/apis/slack-connect).
    """

    home_ids: frozenset[str]


def require_permission(actor: Actor, action: Action, policy: Policy) -> None:
    """Raise PermissionDenied unless the actor is known to belong to the organisation."""
    if actor.team_id is None or actor.team_id not in policy.home_ids:
        raise PermissionDenied(
            f"{action.value} the queue", "only people of this workspace's organisation may."
        )
