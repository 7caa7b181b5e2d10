"""Recurring windows: a freeze for each occurrence, or a pause where the service has no freezes."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from bot.domain.audit import Action, ActResult, AuditRecord, Caller, Origin
from bot.domain.configured import Configured
from bot.domain.durations import LONGEST
from bot.domain.errors import FreezesNotOffered, MergeQueueError, QueueBusy
from bot.domain.freezing import FreezeTerms
from bot.domain.pauses import signed_reason
from bot.domain.repository import RepositoryName
from bot.domain.windows import THERE_ALREADY, NextStart, Occurrence, occurrence, settles
from bot.store.transactions import Transaction
from bot.usecases.freezing import FreezeQueue
from bot.usecases.live_messages import post_act
from bot.usecases.pausing.pause_history import pause_subscribers
from bot.usecases.pausing.pause_queue import PauseQueue
from bot.usecases.tasks import side_by_side

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class HoldWindows:
    """Holds each occurrence once, whatever dies meanwhile: the audit says what has been done.

    A freeze is created ahead of its start, so that channels are notified as of any other. A pause
    begins at the start; its plan is posted ahead.
    """

    pause_queue: PauseQueue
    freeze_queue: FreezeQueue
    configured: Configured
    next_start: NextStart

    async def run(self) -> None:
        """Hold what is due; the next runs try again what failed. Raises StoreError."""
        now = self.pause_queue.acts.clock.now()
        coming = [occurrence(one, now, self.next_start) for one in self.configured.windows]
        due = [one for one in coming if one.announced_at <= now]
        await side_by_side(self._hold(one, name) for one in due for name in one.window.repositories)

    async def _hold(self, one: Occurrence, repository: RepositoryName) -> None:
        acts = self.pause_queue.acts
        try:
            if await acts.store.read(_waits, one, repository, acts.clock.now()):
                await self._freeze(one, repository)
        except (MergeQueueError, QueueBusy) as error:
            place = {"window": one.window.name, "repository": repository}
            problem = {"error": type(error).__name__, "detail": str(error)[:300]}
            extra = {"action": "window_not_held", **place, **problem}
            logger.warning("a window could not be held", extra=extra)

    def _act(self, one: Occurrence, repository: RepositoryName, action: Action) -> AuditRecord:
        window = one.window
        caller = Caller(window.actor, Origin.RULE)
        return replace(
            self.pause_queue.acts.record(caller, action, repository),
            reason=window.reason,
            stored_reason=signed_reason(window.reason, window.actor),
            resumes_at=one.ends_at,
            setting_after=one.key,
        )

    async def _freeze(self, one: Occurrence, repository: RepositoryName) -> None:
        """Freeze, or pause where no freezes are offered; raises MergeQueueError and QueueBusy."""
        queue = self.freeze_queue
        act = self._act(one, repository, Action.FREEZE)
        reason = act.stored_reason or ""
        start = one.begins_at if one.begins_at > act.at else None
        try:
            listed = await queue.merge_queue.freezes(repository)
        except FreezesNotOffered:
            await self._pause(one, repository)
            return
        async with queue.acts.locked(act):
            acts = queue.acts
            if not await acts.store.read(_waits, one, repository, acts.clock.now()):
                return
            if any(made.reason == reason and made.ends_at == one.ends_at for made in listed):
                # Its request was carried out, and the answer was lost.
                await acts.leave(act, THERE_ALREADY)
                return
            wanted = FreezeTerms(reason, start, one.ends_at, one.window.zone)
            async with queue.recorded(act) as answers:
                await queue.merge_queue.create_freeze(repository, wanted, on_answer=answers.append)

    async def _pause(self, one: Occurrence, repository: RepositoryName) -> None:
        """Pause if it is time, else say that the bot will."""
        acts = self.pause_queue.acts
        if one.begins_at > acts.clock.now():
            plan = replace(self._act(one, repository, Action.PLAN), paused_at=one.begins_at)
            if await acts.store.run(_announce, one, replace(plan, result=ActResult.DONE)):
                acts.wake()
            return
        act = self._act(one, repository, Action.PAUSE)
        await self.pause_queue.by_rule(act, partial(_begin, one=one, act=act))

    async def skip(
        self, caller: Caller, repository: RepositoryName, key: str
    ) -> tuple[AuditRecord, bool]:
        """Skip an occurrence whose plan was posted, unless it was skipped before, or held.

        Return the act that did so, and whether it is this one. Raises PermissionDenied.
        """
        acts = self.pause_queue.acts
        act = replace(acts.record(caller, Action.SKIP, repository), setting_after=key)
        await acts.permit(act)
        settled = await acts.store.run(_skip, replace(act, result=ActResult.DONE))
        acts.wake()
        return settled, settled.identity == act.identity


def _waits(
    transaction: Transaction, one: Occurrence, repository: RepositoryName, now: datetime
) -> bool:
    return one.waits(transaction.audit.since(repository, one.announced_at), now)


def _announce(transaction: Transaction, one: Occurrence, plan: AuditRecord) -> bool:
    _lock(transaction, plan)
    if one.is_announced(transaction.audit.since(plan.repository, one.announced_at)):
        return False
    _notify(transaction, plan, [])
    return True


def _begin(transaction: Transaction, *, one: Occurrence, act: AuditRecord) -> AuditRecord | None:
    _lock(transaction, act)
    if not _waits(transaction, one, act.repository, act.at):
        return None
    return replace(act, record_id=transaction.audit.add(act))


def _skip(transaction: Transaction, act: AuditRecord) -> AuditRecord:
    _lock(transaction, act)
    acts = transaction.audit.since(act.repository, act.at - LONGEST)
    same = [one for one in acts if one.setting_after == act.setting_after]
    settled = next((one for one in same if settles(one)), None)
    if settled is not None:
        return settled
    here = [act.channel_id] if act.channel_id is not None else []
    return _notify(transaction, act, here)


def _lock(transaction: Transaction, act: AuditRecord) -> None:
    """Decide alone, whichever process asks."""
    transaction.pauses.of(act.repository, act.at)


def _notify(transaction: Transaction, act: AuditRecord, here: Sequence[str]) -> AuditRecord:
    """Store the act, and post it to the channels that follow pauses."""
    done = replace(act, record_id=transaction.audit.add(act))
    post_act(transaction, done, {*here, *pause_subscribers(transaction, act.repository)})
    return done
