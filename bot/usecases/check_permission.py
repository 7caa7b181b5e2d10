"""Ask Slack who somebody is, and decide whether they may."""

import asyncio
from dataclasses import dataclass
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.domain.audit import Actor
from bot.domain.denials import Denied, Right, WhoCan
from bot.domain.errors import PermissionDenied
from bot.domain.people import Person
from bot.domain.permissions import (
    Allowed,
    Decision,
    Everyone,
    Evidence,
    Listed,
    Policy,
    decide,
    groups_to_ask,
    rule_for,
)
from bot.ports import PeopleDirectory

NAMED = 5
"""Groups and people each that a refusal names; a longer list is no help."""


@dataclass(frozen=True, slots=True)
class CheckPermission:
    """Asked anew at every step: what was allowed at a button need not be at its form."""

    people: PeopleDirectory
    policy: Policy

    async def require(self, actor: Actor, right: Right) -> None:
        """Raises PermissionDenied, which says who may; also when Slack cannot be asked."""
        match await self._decide(actor, right):
            case Allowed():
                return
            case Denied() as denied:
                raise PermissionDenied(right, denied, await self._who_can(right))

    async def may(self, actor: Actor, right: Right) -> bool:
        return isinstance(await self._decide(actor, right), Allowed)

    async def zone(self, actor: Actor) -> ZoneInfo:
        """The time zone the person has chosen in Slack; UTC when that is not known."""
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
            asyncio.gather(*(self.people.members(one) for one in groups)),
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
