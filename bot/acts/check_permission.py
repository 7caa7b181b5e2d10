"""Ask Slack who somebody is, and decide whether they have permission."""

import asyncio
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from bot.acts.errors import PermissionDenied
from bot.acts.permission import (
    MACHINE,
    Everyone,
    Permitted,
    Right,
    RightRules,
    WhoCan,
    WhoMayPause,
    decide,
    is_machine,
)
from bot.kernel.actor import SOMEONE, Actor
from bot.kernel.configured import Configured
from bot.kernel.durations import zone_named
from bot.kernel.logins import login_in
from bot.kernel.repository import RepositoryName
from bot.slack.person import OUTSIDE, DenialReason, Denied, Person, not_a_member
from bot.slack.ports import PeopleDirectory

logger = logging.getLogger(__name__)


EVERYONE = Everyone()


PERMITTED_NAMED = 5
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
        default = self.configured.policies.default.rules(RightRules)
        rules = {self._rule(right, repository) for repository in repositories}
        for rule in rules or [default.who_may.get(right, EVERYONE)]:
            denied = await self._decide(actor, right, rule)
            if denied is None:
                _log_decision(logging.INFO, actor, right, "allowed")
                continue
            who_can = WhoCan()
            if denied.reason not in OUTSIDE and right is not Right.READ:
                who_can = await self._who_can(rule)
            raised = PermissionDenied(right, denied, who_can)
            _log_decision(logging.INFO, actor, right, str(raised))
            raise raised

    def _may_read_unverified(self, actor: Actor, right: Right, standing: Denied) -> bool:
        """Whether the settings let somebody read whom Slack doesn't vouch for, if they are listed.

        Their request must name our own team: people of other organisations press buttons too.
        """
        is_unverified = standing.reason is DenialReason.UNVERIFIABLE
        is_allowed = self.configured.unverified_may_read and right is Right.READ
        return is_unverified and is_allowed and actor.team_id in self.configured.home_ids

    async def turn_away(self, actor: Actor) -> None:
        """Raise PermissionDenied for a person who certainly may not read, before anything else.

        While Slack doesn't say who they are, each act and each answer checks for itself.
        """
        if await self.is_refused(actor):
            await self.require(actor, Right.READ)

    async def is_refused(self, actor: Actor) -> bool:
        """Whether the person certainly may not read; False while Slack doesn't say who they are."""
        default = self.configured.policies.default.rules(RightRules)
        rule = default.who_may.get(Right.READ, EVERYONE)
        denied = await self._decide(actor, Right.READ, rule)
        return denied is not None and denied.reason is not DenialReason.UNVERIFIABLE

    async def may(self, actor: Actor, right: Right) -> bool:
        """Whether to show it, for any repository; using it calls `require` again."""
        policies = self.configured.policies
        everywhere = (policies.default, *policies.own.values())
        rules = {policy.rules(RightRules).who_may.get(right, EVERYONE) for policy in everywhere}
        is_allowed = None in [await self._decide(actor, right, rule) for rule in rules]
        _log_decision(logging.DEBUG, actor, right, "allowed" if is_allowed else "denied")
        return is_allowed

    async def has(self, actor: Actor, right: Right, repository: RepositoryName) -> bool:
        """Whether somebody who takes part in an act of another person has the right now."""
        rule = self._rule(right, repository)
        return await self._decide(actor, right, rule) is None

    def named(self, right: Right, repository: RepositoryName) -> tuple[str, ...]:
        """The Slack ids of the people and groups that the settings give a right to."""
        rule = self._rule(right, repository)
        if isinstance(rule, Everyone):
            return ()
        people = [person for person in sorted(rule.people) if not is_machine(person)]
        return (*people, *sorted(rule.groups))

    def _rule(self, right: Right, repository: RepositoryName) -> WhoMayPause:
        rules = self.configured.policies.of(repository).rules(RightRules)
        return rules.who_may.get(right, EVERYONE)

    async def allowed(
        self, actor: Actor, right: Right, repositories: Sequence[RepositoryName]
    ) -> Sequence[RepositoryName]:
        """Those of the repositories for which the person has the right, to offer them."""
        rule_of = {repository: self._rule(right, repository) for repository in repositories}
        denied = {rule: await self._decide(actor, right, rule) for rule in set(rule_of.values())}
        return [repository for repository in repositories if denied[rule_of[repository]] is None]

    async def who_may(
        self, rights: Sequence[Right], repositories: Sequence[RepositoryName]
    ) -> Sequence[Permitted]:
        """Who has each right, for the repositories that share a rule."""
        found: list[Permitted] = []
        for right in rights:
            names: dict[WhoMayPause, list[RepositoryName]] = {}
            for repository in repositories:
                names.setdefault(self._rule(right, repository), []).append(repository)
            for rule, some in names.items():
                of = tuple(some) if len(names) > 1 else ()
                found.append(Permitted(right, await self._who_can(rule), of))
        return found

    async def owns_login(self, actor: Actor, login: str) -> bool:
        """Whether an operator, or a profile field that people can't edit, says so of the login."""
        configured = self.configured
        if configured.is_assigned(login, actor.user_id):
            return True
        if is_machine(actor.user_id) or not configured.may_be_proven(login):
            return False
        in_profile = await self.people.profile_field(actor.user_id, configured.login_field)
        return login_in(in_profile).lower() == login.lower()

    async def zone(self, actor: Actor) -> ZoneInfo:
        """The person's time zone in Slack; UTC if unknown."""
        if is_machine(actor.user_id):
            return ZoneInfo("UTC")
        person = await self.people.person(actor.user_id)
        zone = zone_named(person.zone) if isinstance(person, Person) else None
        return zone or ZoneInfo("UTC")

    async def _decide(self, actor: Actor, right: Right, rule: WhoMayPause) -> Denied | None:
        if is_machine(actor.user_id):
            return None if rule.names(actor.user_id) else Denied(DenialReason.NOT_LISTED)
        groups = [] if rule.names(actor.user_id) else sorted(rule.groups)
        person, answers = await asyncio.gather(
            self.people.person(actor.user_id), asyncio.gather(*map(self.people.members, groups))
        )
        standing = not_a_member(person, actor.team_id, self.configured.home_ids)
        if standing is not None and self._may_read_unverified(actor, right, standing):
            standing = None
        members = dict(zip(groups, answers, strict=True))
        return decide(actor.user_id, standing, rule, members)

    async def _who_can(self, rule: WhoMayPause) -> WhoCan:
        if isinstance(rule, Everyone):
            return WhoCan()
        groups = sorted(rule.groups)
        people = sorted(rule.people)
        handles, names = await asyncio.gather(
            asyncio.gather(*map(self.people.handle, groups[:PERMITTED_NAMED])),
            asyncio.gather(*map(self.name, people[:PERMITTED_NAMED])),
        )
        shown: list[str] = []
        for group, handle in zip(groups, handles, strict=False):
            shown.append(group if handle is None else f"@{handle}")
        left_out = len(groups[PERMITTED_NAMED:]) + len(people[PERMITTED_NAMED:])
        return WhoCan(tuple(shown), tuple(names), left_out)

    async def name(self, user_id: str) -> str:
        """The person's name, or the machine's; a plain word if unknown, never an id."""
        if is_machine(user_id):
            return user_id.removeprefix(MACHINE)
        person = await self.people.person(user_id)
        return person.name if isinstance(person, Person) else SOMEONE


def _log_decision(level: int, actor: Actor, right: Right, decision: str) -> None:
    fields = {"actor": actor.user_id, "team": actor.team_id, "right": right, "decision": decision}
    logger.log(level, "permission checked", extra={"action": "decision", **fields})
