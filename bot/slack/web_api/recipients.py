"""Whether a person may still be sent what they once asked to be told."""

from dataclasses import dataclass

from bot.domain.denials import DenialReason, Denied, Right
from bot.domain.errors import PostPostponed, PostRefused, Refusal
from bot.domain.permissions import Evidence, Policy, decide
from bot.ports import PeopleDirectory


@dataclass(frozen=True, slots=True)
class Recipients:
    """Who gets direct messages: full members of the home organisation, as all who read anything."""

    people: PeopleDirectory
    home_ids: frozenset[str]

    async def require(self, user_id: str) -> None:
        """Raises PostRefused for who is none, PostPostponed when Slack does not say."""
        person = await self.people.person(user_id)
        # The address is our own: nobody claims a team.
        evidence = Evidence(user_id, min(self.home_ids), person, {})
        decision = decide(Right.READ, evidence, Policy(self.home_ids))
        if not isinstance(decision, Denied):
            return
        if decision.reason is DenialReason.UNVERIFIABLE:
            raise PostPostponed("person_not_known")
        raise PostRefused(decision.reason.value, Refusal.PERSON)
