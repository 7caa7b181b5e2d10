"""The requests that a process is carrying out; if it dies, another tells what became of them."""

import logging
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.acts.unanswered import ALIVE, SOON, Unanswered
from bot.acts.unanswered_rows import UnansweredRequests
from bot.blocks.controls import Repeat
from bot.kernel.clock import Clock
from bot.store.errors import StoreUnavailable
from bot.store.transactions import Store

logger = logging.getLogger(__name__)

RENEWED_SECONDS = 5.0
"""How often a process says that it still carries out a request."""


@dataclass(slots=True)
class OpenRequests:
    """Keeps the rows of the requests of this process."""

    store: Store
    clock: Clock
    under_way: dict[str, datetime] = field(default_factory=dict)  #: when each was asked, by its id
    answered: set[str] = field(default_factory=set)  #: those whose rows are yet to go
    to_follow: set[str] = field(default_factory=set)  #: those whose answers are not the last word

    def row(
        self,
        request: str,
        user_id: str,
        channel_id: str | None,
        *,
        typed: str | None = None,
        repeat: Repeat | None = None,
    ) -> Unanswered:
        """The row to store with the request."""
        now = self.clock.now()
        return Unanswered(request, user_id, channel_id, typed, now, now + ALIVE, repeat=repeat)

    def begin(self, row: Unanswered) -> None:
        """From now on, keep its row as that of a living process."""
        self.under_way[row.request] = row.asked_at

    def keep(self, request: str) -> None:
        """The person's answer says that the outcome follows."""
        self.to_follow.add(request)

    async def end(self, request: str) -> None:
        """The person has an answer."""
        if request in self.to_follow:
            await self.leave(request)
            return
        self.under_way.pop(request, None)
        self.answered.add(request)
        await self._forget()

    async def leave(self, request: str, *, wait: timedelta = SOON) -> None:
        """The person has been told that the outcome follows, or can't be told anything now."""
        self.under_way.pop(request, None)
        self.to_follow.discard(request)
        due_at = self.clock.now() + wait
        try:
            await self.store.run(
                lambda transaction: UnansweredRequests(transaction).left(request, due_at)
            )
        except StoreUnavailable:
            # Then it counts as cut off once it isn't renewed.
            logger.warning("an open request was not released", extra={"action": "request_not_left"})

    async def renew(self) -> None:
        """Say which requests are still carried out; raises StoreUnavailable."""
        await self._forget()
        now = self.clock.now()
        lasting = [
            request
            for request, asked_at in self.under_way.items()
            if now - asked_at >= timedelta(seconds=RENEWED_SECONDS) / 2
        ]
        if lasting:
            await self.store.run(
                lambda transaction: UnansweredRequests(transaction).renew(lasting, now + ALIVE)
            )

    async def _forget(self) -> None:
        answered = frozenset(self.answered)
        if not answered:
            return
        try:
            await self.store.run(
                lambda transaction: UnansweredRequests(transaction).answered(answered)
            )
        except StoreUnavailable:
            logger.warning("answers not stored", extra={"action": "answers_not_recorded"})
        else:
            self.answered -= answered
