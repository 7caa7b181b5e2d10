"""Ask Slack who somebody is, and decide whether they have permission."""

import asyncio
import logging
from collections.abc import Collection
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from bot.domain.audit import Actor
from bot.domain.configured import Configured
from bot.domain.durations import zone_named
from bot.domain.errors import PermissionDenied
from bot.domain.permissions import (
    MACHINE,
    DenialReason,
    Denied,
    Everyone,
    Person,
    Right,
    WhoCan,
    WhoMayPause,
    decide,
    is_machine,
    not_a_member,
)
from bot.domain.repository import RepositoryName
from bot.ports import PeopleDirectory

logger = logging.getLogger(__name__)

EVERYONE = Everyone()
NAMED = 5
"""The most groups, and people, that a refusal names."""


@dataclass(frozen=True, slots=True)
class CheckPermission:
    """Checked again at every step: permission for a button may be gone at its form."""

    people: PeopleDirectory
    configured: Configured

    async def require(
        self, actor: Actor, right: Right, repositories: Collection[RepositoryName] = ()
    ) -> None:
        """Raise PermissionDenied, which names the people who may, also if Slack doesn't answer.

        The actor needs the right for all of the repositories. Every decision is logged, also on
        reading; those on acts are audited as well.
        """
        policies = self.configured.policies
        rules = {policies.of(one).who_may.get(right, EVERYONE): one for one in repositories}
        for rule in rules or [policies.default.who_may.get(right, EVERYONE)]:
            denied = await self._decide(actor, rule)
            if denied is not None:
                raised = PermissionDenied(right, denied, await self._who_can(rule))
                _log(logging.INFO, actor, right, str(raised))
                raise raised
            _log(logging.INFO, actor, right, "allowed")

    async def is_refused(self, actor: Actor) -> bool:
        """Whether the person certainly may not read; False while Slack doesn't say who they are."""
        denied = await self._decide(actor, EVERYONE)
        return denied is not None and denied.reason is not DenialReason.UNVERIFIABLE

    async def may(self, actor: Actor, right: Right) -> bool:
        """Whether to show it, for any repository; using it calls `require` again."""
        policies = self.configured.policies
        everywhere = (policies.default, *policies.own.values())
        rules = {one.who_may.get(right, EVERYONE) for one in everywhere}
        decisions = [await self._decide(actor, rule) for rule in rules]
        is_allowed = None in decisions
        _log(logging.DEBUG, actor, right, "allowed" if is_allowed else "denied")
        return is_allowed

    async def zone(self, actor: Actor) -> ZoneInfo:
        """The person's time zone in Slack; UTC if unknown."""
        if is_machine(actor.user_id):
            return ZoneInfo("UTC")
        person = await self.people.person(actor.user_id)
        zone = zone_named(person.zone) if isinstance(person, Person) else None
        return zone or ZoneInfo("UTC")

    async def _decide(self, actor: Actor, rule: WhoMayPause) -> Denied | None:
        if is_machine(actor.user_id):
            return None if rule.names(actor.user_id) else Denied(DenialReason.NOT_LISTED)
        groups = [] if rule.names(actor.user_id) else sorted(rule.groups)
        person, members = await asyncio.gather(
            self.people.person(actor.user_id), asyncio.gather(*map(self.people.members, groups))
        )
        standing = not_a_member(person, actor.team_id, self.configured.home_ids)
        return decide(actor.user_id, standing, rule, dict(zip(groups, members, strict=True)))

    async def _who_can(self, rule: WhoMayPause) -> WhoCan:
        if isinstance(rule, Everyone):
            return WhoCan()
        groups, people = sorted(rule.groups), sorted(rule.people)
        handles, names = await asyncio.gather(
            asyncio.gather(*map(self.people.handle, groups[:NAMED])),
            asyncio.gather(*map(self.name, people[:NAMED])),
        )
        known = zip(groups, handles, strict=False)
        shown = [group if handle is None else f"@{handle}" for group, handle in known]
        return WhoCan(tuple(shown), tuple(names), len(groups[NAMED:]) + len(people[NAMED:]))

    async def name(self, user_id: str) -> str:
        """The person's name, or the machine's; their id if unknown."""
        if is_machine(user_id):
            return user_id.removeprefix(MACHINE)
        person = await self.people.person(user_id)
        return person.name if isinstance(person, Person) else user_id


def _log(level: int, actor: Actor, right: Right, decision: str) -> None:
    fields = {"actor": actor.user_id, "team": actor.team_id, "right": right, "decision": decision}
    logger.log(level, "who may", extra={"action": "decision", **fields})
