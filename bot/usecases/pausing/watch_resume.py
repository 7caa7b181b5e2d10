"""Notify a person when a queue resumes."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.domain.audit import Actor
from bot.domain.pause_records import PauseRecord
from bot.domain.permissions import Right
from bot.domain.repository import RepositoryName
from bot.ports import Clock
from bot.store.transactions import Store, Transaction
from bot.usecases.check_permission import CheckPermission
from bot.usecases.pausing.pause_history import pause_in_force


class Watching(StrEnum):
    """The result of asking to be notified."""

    BEGUN = "begun"
    ALREADY = "already"
    NOT_PAUSED = "not_paused"


@dataclass(frozen=True, slots=True)
class WatchResume:
    """Notifies the person once, after the pause in force or its replacement ends."""

    store: Store
    clock: Clock
    check: CheckPermission

    async def run(self, repository: RepositoryName, actor: Actor) -> Watching:
        """Watch one repository; raises PermissionDenied."""
        await self.check.require(actor, Right.READ)
        return await self.store.run(_watch, repository, actor.user_id, self.clock.now())

    async def of_group(self, group: str, actor: Actor) -> Watching:
        """Like `run`, for all pauses of a group. Raises PermissionDenied."""
        await self.check.require(actor, Right.READ)
        return await self.store.run(_watch_group, group, actor.user_id, self.clock.now())


def _watch(
    transaction: Transaction, repository: RepositoryName, user_id: str, now: datetime
) -> Watching:
    in_force = pause_in_force(transaction, repository, now)
    return _add(transaction, user_id, [in_force] if in_force is not None else [])


def _watch_group(transaction: Transaction, group: str, user_id: str, now: datetime) -> Watching:
    # Otherwise the last of them could end in between, without notifying this person.
    for pause in transaction.pauses.of_group(group):
        transaction.pauses.of(pause.repository, now)
    return _add(transaction, user_id, transaction.pauses.of_group(group))


def _add(transaction: Transaction, user_id: str, pauses: Iterable[PauseRecord]) -> Watching:
    added = [transaction.resume_watchers.add(one.pause_id, user_id) for one in pauses]
    if not added:
        return Watching.NOT_PAUSED
    return Watching.BEGUN if any(added) else Watching.ALREADY
