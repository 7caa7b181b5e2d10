"""Ask Slack who somebody is, and decide whether they have permission."""

import asyncio
import logging
from dataclasses import dataclass
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.domain.audit import Actor
from bot.domain.errors import PermissionDenied
from bot.domain.permissions import (
    Allowed,
    Decision,
    DenialReason,
    Denied,
    Everyone,
    Evidence,
    Listed,
    Person,
    Policy,
    Right,
    WhoCan,
    decide,
    groups_to_ask,
    rule_for,
)
from bot.ports import PeopleDirectory

logger = logging.getLogger(__name__)

NAMED = 5
"""Groups and people each that a refusal names; a longer list is no help."""


@dataclass(frozen=True, slots=True)
class CheckPermission:
    """Checked again at every step: permission for a button may be gone at its form."""

    people: PeopleDirectory
    policy: Policy

    async def require(self, actor: Actor, right: Right) -> None:
        """Raise PermissionDenied, naming who may, also when Slack does not answer.

        Every decision is logged, also on reading; those on acts are audited as well.
        """
        match await self._decide(actor, right):
            case Allowed():
                _log(logging.INFO, actor, right, "allowed")
            case Denied() as denied:
                raised = PermissionDenied(right, denied, await self._who_can(right))
                _log(logging.INFO, actor, right, str(raised))
                raise raised

    async def is_refused(self, actor: Actor, right: Right) -> bool:
        """Whether they certainly may not; False while Slack doesn't say who they are."""
        decision = await self._decide(actor, right)
        return isinstance(decision, Denied) and decision.reason is not DenialReason.UNVERIFIABLE

    async def may(self, actor: Actor, right: Right) -> bool:
        """Whether to show it; using it calls `require` again."""
        is_allowed = isinstance(await self._decide(actor, right), Allowed)
        _log(logging.DEBUG, actor, right, "allowed" if is_allowed else "denied")
        return is_allowed

    async def zone(self, actor: Actor) -> ZoneInfo:
        """The person's time zone in Slack; UTC if unknown."""
        person = await self.people.person(actor.user_id)
        name = person.zone if isinstance(person, Person) else None
        try:
            return ZoneInfo(name or "UTC")
        except (ZoneInfoNotFoundError, ValueError):
            return ZoneInfo("UTC")

    async def _decide(self, actor: Actor, right: Right) -> Decision:
        groups = sorted(groups_to_ask(right, self.policy, actor.user_id))
        person, members = await asyncio.gather(
            self.people.person(actor.user_id),
            asyncio.gather(*map(self.people.members, groups)),
        )
        of_groups = dict(zip(groups, members, strict=True))
        evidence = Evidence(actor.user_id, actor.team_id, person, of_groups)
        return decide(right, evidence, self.policy)

    async def _who_can(self, right: Right) -> WhoCan:
        match rule_for(right, self.policy):
            case Everyone():
                return WhoCan()
            case Listed(people=people, groups=groups):
                left = max(len(groups) - NAMED, 0) + max(len(people) - NAMED, 0)
                handles, names = await asyncio.gather(
                    asyncio.gather(*(self._handle(one) for one in sorted(groups)[:NAMED])),
                    asyncio.gather(*(self._name(one) for one in sorted(people)[:NAMED])),
                )
                return WhoCan(tuple(handles), tuple(names), left)

    async def _handle(self, group_id: str) -> str:
        handle = await self.people.handle(group_id)
        return group_id if handle is None else f"@{handle}"

    async def _name(self, user_id: str) -> str:
        person = await self.people.person(user_id)
        return person.name if isinstance(person, Person) else user_id


def _log(level: int, actor: Actor, right: Right, decision: str) -> None:
    fields = {"actor": actor.user_id, "team": actor.team_id, "right": right, "decision": decision}
    logger.log(level, "who may", extra={"action": "decision", **fields})
