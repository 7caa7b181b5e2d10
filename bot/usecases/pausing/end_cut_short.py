"""Give acts on groups an end that a crash or a restart cut short, and tell whoever acted."""

import uuid
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.domain.audit import Action, Origin
from bot.domain.deliveries import NewDelivery
from bot.domain.group_acts import CALLED_OFF, CUT_SHORT, GroupAct
from bot.ports import Clock, Nudge, Store, Transaction
from bot.usecases.pausing.group_cards import group_card_of
from bot.usecases.pausing.group_marks import as_known, subject_of, tell_together

STILL_NEWS = timedelta(days=1)
"""Whoever acted longer ago, before a long outage, knows by other ways how it came out."""


@dataclass(frozen=True, slots=True)
class EndCutShort:
    """Once each, whichever process comes first. Nothing cut short costs one look."""

    store: Store
    clock: Clock
    nudge: Nudge

    async def run(self) -> None:
        """Raises StoreError."""
        now = self.clock.now()
        async with self.store.begin() as transaction:
            found = await transaction.group_acts.unended(now - CALLED_OFF)
        for act in found:
            await self._end(act)

    async def _end(self, act: GroupAct) -> None:
        """What was told while it went on says no more than how far it had come."""
        now = self.clock.now()
        async with self.store.begin() as transaction:
            found = await transaction.group_acts.locked(act.group_act_id)
            if found is None or found.ended_at is not None:
                return
            ended = replace(await as_known(transaction, act), ended_at=act.at + CUT_SHORT)
            await transaction.group_acts.end(act.group_act_id, ended.results, act.at + CUT_SHORT)
            if act.action is Action.PAUSE:
                await transaction.cards.touch(group_card_of(act), due_at=now)
            if ended.has_changed:
                await tell_together(transaction, ended)
            if act.origin is not Origin.TIMER and now - act.at < STILL_NEWS:
                await _tell_actor(transaction, ended, now)
        self.nudge()


async def _tell_actor(transaction: Transaction, ended: GroupAct, now: datetime) -> None:
    """Alone: what only the actor saw may say for ever that it goes on, with nothing to press."""
    is_told_here = ended.has_changed and ended.channel_id in ended.told_together
    if is_told_here and not ended.left_to_try:
        return
    await transaction.outbox.add(
        [NewDelivery(uuid.uuid4().hex, ended.actor.user_id, subject_of(ended), now, urgent=True)]
    )
