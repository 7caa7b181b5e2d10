"""Tell a person when a queue goes on."""

from dataclasses import dataclass
from enum import StrEnum

from bot.domain.audit import Actor
from bot.domain.denials import Right
from bot.domain.repository import RepositoryName
from bot.ports import Clock, Store
from bot.usecases.check_permission import CheckPermission
from bot.usecases.pausing.group_pauses import held_in_force
from bot.usecases.pausing.pause_cards import pause_in_force


class Watching(StrEnum):
    """What came of asking."""

    BEGUN = "begun"
    ALREADY = "already"
    NOT_PAUSED = "not_paused"


@dataclass(frozen=True, slots=True)
class WatchResume:
    """Whoever lifts the pause in force, or one that replaces it: the person hears of it once."""

    store: Store
    clock: Clock
    check: CheckPermission

    async def run(self, repository: RepositoryName, actor: Actor) -> Watching:
        """Raises PermissionDenied."""
        await self.check.require(actor, Right.READ)
        async with self.store.begin() as transaction:
            in_force = await pause_in_force(transaction, repository, self.clock.now())
            if in_force is None:
                return Watching.NOT_PAUSED
            is_new = await transaction.resume_watchers.add(in_force.pause_id, actor.user_id)
        return Watching.BEGUN if is_new else Watching.ALREADY

    async def of_group(self, group: str, actor: Actor) -> Watching:
        """As `run`, for all that is held paused for a group. Raises PermissionDenied."""
        await self.check.require(actor, Right.READ)
        async with self.store.begin() as transaction:
            # Or the last of them may end unseen, having told whoever waited before.
            for held in await transaction.group_acts.held(group):
                await transaction.pauses.of(held.repository, self.clock.now())
            in_force = await held_in_force(transaction, group)
            watchers = transaction.resume_watchers
            added = [await watchers.add(one.pause_id, actor.user_id) for one in in_force.values()]
        if not added:
            return Watching.NOT_PAUSED
        return Watching.BEGUN if any(added) else Watching.ALREADY
