"""Closes the requests that nobody can confirm any more."""

from dataclasses import dataclass
from datetime import datetime

from bot.acts.request_state import RequestState
from bot.freezes.requests import state_of_request
from bot.kernel.clock import Clock
from bot.pauses.requests import is_settled, read_request
from bot.posts.live_message import LiveKind, LiveSubject
from bot.posts.live_messages import LiveMessages
from bot.posts.wake import Wake
from bot.store.transaction import Transaction
from bot.store.transactions import Store


@dataclass(frozen=True, slots=True)
class CloseRequests:
    """Closes the requests whose time is up, and those whose end a crash kept from being shown."""

    store: Store
    clock: Clock
    wake: Wake

    async def run(self) -> None:
        """Raises StoreError. Without an open one it costs one query."""
        now = self.clock.now()
        found = await self.store.read(
            lambda transaction: LiveMessages(transaction).open_of(LiveKind.CONFIRMATION)
        )
        over = [subject for subject in found if await self.store.read(_is_over, subject, now)]
        if not over:
            return
        for subject in over:
            await self.store.run(_close, subject, now)
        self.wake()


def _is_over(transaction: Transaction, subject: LiveSubject, now: datetime) -> bool:
    request = read_request(transaction, subject, state_of_request)
    if request is None or is_settled(request):
        return True
    return request.state is RequestState.OPEN and request.ends_at <= now


def _close(transaction: Transaction, subject: LiveSubject, now: datetime) -> None:
    LiveMessages(transaction).mark(subject, due_at=now, closed=True)
