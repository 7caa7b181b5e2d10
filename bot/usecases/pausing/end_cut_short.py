"""Finishes group acts cut off by a crash or a restart, or ends them and notifies the actor."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.domain.audit import Action, Origin
from bot.domain.errors import BotError
from bot.domain.group_acts import GO_ON_WITHIN, GroupAct, acts_like
from bot.store.transactions import Transaction
from bot.usecases.enqueue_urgent import enqueue_urgent
from bot.usecases.leases import LEASE
from bot.usecases.pausing.group_pauses import as_known, subject_of
from bot.usecases.pausing.group_work import GroupWork, Report, ignore_progress, lock_name
from bot.usecases.tasks import Tasks

logger = logging.getLogger(__name__)

STILL_NEWS = timedelta(days=1)
"""The actor of an older one, before a long outage, knows the outcome by now."""

CarryOut = Callable[[GroupAct, Report], Awaitable[GroupAct]]


@dataclass(frozen=True, slots=True)
class EndCutShort:
    """Finishes each act once, in the first process to find it. With none it costs one query.

    `carry_out`: how to do the rest of each kind of act.
    """

    work: GroupWork
    carry_out: Mapping[Action, CarryOut]
    tasks: Tasks = field(
        default_factory=lambda: Tasks(
            "continuing an act on a group has a defect", "continue_defect"
        )
    )

    async def run(self) -> None:
        """Start on acts that were cut off, without waiting for them. Raises StoreError."""
        acts = self.work.acts
        # An act that has just begun may not have its lock yet.
        before = acts.clock.now() - LEASE
        found = await acts.store.run(lambda transaction: transaction.group_acts.unended(before))
        for act in found:
            if lock_name(act) not in acts.locks.held:
                self.tasks.start(self._guarded(act), lock_name(act))

    async def drain(self) -> None:
        """Leave unfinished acts to the next process."""
        under_way = list(self.tasks)
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)

    async def _guarded(self, act: GroupAct) -> None:
        try:
            await self._go_on(act)
        except BotError as error:
            logger.warning(
                "an act on a group that was cut off does not go on",
                extra={"action": "group_not_gone_on", "error": type(error).__name__},
            )

    async def _go_on(self, act: GroupAct) -> None:
        clock, store = self.work.acts.clock, self.work.acts.store
        known, latest = await store.run(_look_up, act)
        is_latest = latest is not None and latest.group_act_id == act.group_act_id
        is_recent = clock.now() - act.at < GO_ON_WITHIN
        # Timers resume the rest by themselves.
        if is_latest and is_recent and act.origin is not Origin.TIMER:
            ended = await self.carry_out[act.action](known, ignore_progress)
        else:
            async with self.work.acts.locks.alone(lock_name(act)) as is_ours:
                ended = await self.work.end(known) if is_ours else act
        now = clock.now()
        nobody_waits = act.origin in {Origin.TIMER, Origin.MACHINE} or now - act.at >= STILL_NEWS
        if ended.ended_at is None or nobody_waits:
            return
        await store.run(_notify_actor, ended, now)
        self.work.acts.wake()


def _look_up(transaction: Transaction, act: GroupAct) -> tuple[GroupAct, GroupAct | None]:
    """The act's current state, and the latest act on its group."""
    latest = transaction.group_acts.latest(act.group, acts_like(act.action))
    return as_known(transaction, act), latest


def _notify_actor(transaction: Transaction, ended: GroupAct, now: datetime) -> None:
    """Notify only the actor, whose private reply may still show the act as running."""
    is_posted_here = ended.has_changed and ended.channel_id in ended.notified_together
    if is_posted_here and not ended.left_to_try:
        return
    enqueue_urgent(
        transaction, subject_of(ended), [ended.actor.user_id], now, identity=ended.identity
    )
