"""Store what became of posts: of those that end while others are being stored, all at once."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot.domain.deliveries import Delivery, DeliveryState, SubjectKind
from bot.domain.errors import BotError
from bot.ports import Clock, ParkedChannel, Store, Transaction

TOGETHER = 50
"""Outcomes in one transaction, which others wait for."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a claim: first that of what was sent, then what is given back.

    `shown`: which state of its card the first post of a card says. `following` is sent next.
    """

    after: Sequence[Delivery]
    shown: int = 0
    parked: ParkedChannel | None = None
    following: Delivery | None = None


@dataclass(frozen=True, slots=True)
class _Waiting:
    """`stored` gets True when it is, and False when it has to be stored alone."""

    outcome: Outcome
    stored: asyncio.Future[bool]

    def tell(self, *, are_stored: bool) -> None:
        """Whoever was cancelled does not wait any more."""
        if not self.stored.done():
            self.stored.set_result(are_stored)


@dataclass(frozen=True, slots=True)
class RecordOutcomes:
    """Whoever is the first to wait for a transaction takes along all who came until it begins.

    No lease is asked for: whether a claim is still the one that was posted under is known of each
    delivery. What Slack said is true, however late, and what is thrown away has to be looked for.
    """

    store: Store
    clock: Clock
    waiting: list[_Waiting] = field(default_factory=list)

    async def run(self, outcome: Outcome) -> None:
        """Raises LeaseLost when the claim is another's by now, and StoreUnavailable."""
        if not self.store.one_at_a_time:
            # Nobody waits there, and who held several lines and cards would keep others waiting.
            await self._alone(outcome)
            return
        mine = _Waiting(outcome, asyncio.get_running_loop().create_future())
        self.waiting.append(mine)
        if len(self.waiting) == 1:
            await self._with_those_waiting(mine)
        elif not await mine.stored:
            await self._alone(outcome)

    async def _with_those_waiting(self, mine: _Waiting) -> None:
        taken: Sequence[_Waiting] = ()
        are_stored = False
        try:
            async with self.store.begin() as transaction:
                taken = self._take()
                await _record(transaction, [one.outcome for one in taken], self.clock.now())
            are_stored = True
        except BotError:
            # Whose fault it is shows when each is stored alone.
            if not taken[1:]:
                raise
        finally:
            for one in taken or self._take():
                one.tell(are_stored=are_stored)
        if not are_stored:
            await self._alone(mine.outcome)

    def _take(self) -> Sequence[_Waiting]:
        """Who comes from now on waits for the next transaction."""
        taken = self.waiting[:TOGETHER]
        for one in self.waiting[TOGETHER:]:
            one.tell(are_stored=False)
        self.waiting.clear()
        return taken

    async def _alone(self, outcome: Outcome) -> None:
        async with self.store.begin() as transaction:
            await _record(transaction, [outcome], self.clock.now())


async def _record(transaction: Transaction, outcomes: Sequence[Outcome], now: datetime) -> None:
    """In one transaction with each outcome that its `following` is sent next."""
    # Whoever changes a card and its line takes them in this order.
    for one in sorted(outcomes, key=lambda one: one.after[0].subject.subject_id):
        await _record_card(transaction, one.after[0], one.shown)
    await transaction.outbox.record([each for one in outcomes for each in one.after])
    for one in outcomes:
        if one.following is not None:
            await transaction.outbox.attempt(one.following, now)
        if one.parked is not None:
            await transaction.outbox.park(one.parked)
        elif one.after[0].state is DeliveryState.DELIVERED:
            await transaction.outbox.unpark(one.after[0].channel_id)


async def _record_card(transaction: Transaction, delivery: Delivery, shown: int) -> None:
    if delivery.folded:
        # A summary that took the place of first posts: their cards have no message. Not when it
        # was folded, with the line locked that whoever changes a card locks after it.
        if delivery.state.is_settled:
            await transaction.cards.lose_folded(delivery.delivery_id)
        return
    if delivery.message_ts is not None and delivery.subject.kind is SubjectKind.CARD:
        # One that was found says what was true when it was sent, whenever that was: an edit too
        # many is harmless, one too few is not.
        shown_now = shown if delivery.attempted_at is None else 0
        await transaction.cards.posted(delivery.subject.subject_id, delivery.message_ts, shown_now)
