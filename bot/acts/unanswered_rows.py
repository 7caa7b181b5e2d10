"""Requests whose answers are owed."""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import select

from bot.acts.tables import unanswered
from bot.acts.unanswered import SOON, Unanswered
from bot.store.statements import Numbered, as_row


class UnansweredRequests(Numbered[Unanswered]):
    """A row stays until its request is answered."""

    kind = Unanswered
    rows = select(unanswered)
    number = unanswered.c.number

    def add(self, request: Unanswered) -> None:
        self._add_new(unanswered, as_row(unanswered, request))

    def answered(self, requests: Collection[str]) -> None:
        self._remove(unanswered, unanswered.c.request.in_(sorted(requests)))

    def renew(self, requests: Collection[str], due_at: datetime) -> None:
        """Their process is alive and carries them out."""
        self._change(unanswered, unanswered.c.request.in_(sorted(requests)), due_at=due_at)

    def left(self, request: str, due_at: datetime) -> None:
        """Its process ends with it; the outcome is to be found out from `due_at` on."""
        this = unanswered.c.request == request
        self._change(unanswered, this, due_at=due_at, was_left=True)

    def cut_off(self, now: datetime) -> None:
        """The processes that had them have died, so nobody renews them."""
        # The log, which tells most, is read first.
        self._change(unanswered, unanswered.c.due_at.is_not(None), due_at=now + SOON)

    def postpone(self, request: Unanswered, due_at: datetime | None) -> None:
        self._change(unanswered, unanswered.c.number == request.number, due_at=due_at)

    def claim(self, request: Unanswered, until: datetime) -> bool:
        """Whether no other process has looked at it since it was read; then it is ours."""
        this = unanswered.c.number == request.number, unanswered.c.due_at == request.due_at
        return self._change(unanswered, *this, due_at=until) > 0

    def due(self, now: datetime, limit: int) -> Sequence[Unanswered]:
        due = select(unanswered).where(unanswered.c.due_at <= now)
        return self._records(Unanswered, due.order_by(unanswered.c.due_at).limit(limit))

    def of(self, request: str) -> Unanswered | None:
        return self._first(Unanswered, select(unanswered).where(unanswered.c.request == request))
