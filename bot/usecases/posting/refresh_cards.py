"""Edit the messages of cards that do not say any more what is true."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.domain.backoff import retry_delay
from bot.domain.cards import GENERATIONS, Card
from bot.domain.errors import (
    BotError,
    LeaseLost,
    PostError,
    PostPostponed,
    PostRefused,
    Refusal,
)
from bot.domain.message import Message
from bot.domain.pacing import Pace
from bot.ports import ChannelPoster, Clock, Lease, Nudge, Store, Transaction
from bot.ports.measures import UNMEASURED, Measures
from bot.usecases.job_lease import JobLease
from bot.usecases.open_card import open_cards
from bot.usecases.posting.claim_size import ClaimSize
from bot.usecases.posting.render_cards import load_cards
from bot.usecases.side_by_side import side_by_side

logger = logging.getLogger(__name__)

LEASE_NAME = "edit cards"
LEASE = timedelta(seconds=30)
LAST_SEND = timedelta(seconds=8)
"""No edit is sent later than this after it was rendered.

A request lasts ten seconds at most, and there are two when the blocks are refused: none is under
way any more when another process may take the lease and edit with what is true by then.
"""

AT_ONCE = 20
EDITS_AT_ONCE = 2
"""Requests, and of the connections to the database those in which it is stored what became of them:
others are left to everybody else (`STORED_AT_ONCE`)."""

EDITS_PER_SECOND = 0.7
"""With a burst of five, under the fifty a minute that Slack grants the workspace for chat.update
(https://docs.slack.dev/apis/web-api/rate-limits)."""

EDITS = "edits"
DELETED = "message_not_found"
REFUSED_RETRY = timedelta(minutes=2)
"""How soon a channel or credential that Slack refuses is tried again."""

REFUSED_LONGEST = timedelta(minutes=30)
"""The wait for a channel doubles up to this: one that is archived for good may have many cards,
whose edits would take the rate from all others."""


@dataclass(frozen=True, slots=True)
class RefreshCards:
    """An edit says what is true and may be repeated, so it is made at least once.

    Changes that come while a card waits for its edit are told by that one edit.
    """

    store: Store
    poster: ChannelPoster
    clock: Clock
    nudge: Nudge
    holder: str
    jitter: Callable[[], float]
    pace: Pace = field(default_factory=lambda: Pace(per_second=EDITS_PER_SECOND))
    gate: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(EDITS_AT_ONCE))
    ending: asyncio.Event = field(default_factory=asyncio.Event)
    size: ClaimSize = field(default_factory=ClaimSize)
    measures: Measures = UNMEASURED
    lease: JobLease = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "lease", JobLease(LEASE_NAME, self.holder, LEASE))

    async def run(self) -> None:
        """Edit what is due; raises StoreError. With nothing due, nothing is written."""
        if self.ending.is_set():
            return
        async with self.store.begin() as transaction:
            # Not before: how long the turn was waited for is no time that an edit has waited.
            now = self.clock.now()
            due = await transaction.cards.due(now, self.size.of(AT_ONCE))
            if not due:
                return
            lease = await self.lease.take(transaction, now)
            if lease is None:
                return
            granted, wait = self._granted(due, now)
            messages = await self._render(transaction, granted) if granted else {}
        self.size.learn(self.clock.now() - now, LAST_SEND)
        await side_by_side(
            self._edit(card, messages.get(card.card_id), lease, now + LAST_SEND) for card in granted
        )
        self.nudge(wait.total_seconds())

    def _granted(self, due: Sequence[Card], now: datetime) -> tuple[Sequence[Card], timedelta]:
        """Those that may be edited now, and how long the next has to wait."""
        for count, _ in enumerate(due):
            wait = self.pace.wait(EDITS, now)
            if wait:
                return due[:count], wait
        return due, timedelta()

    def begin_no_more(self) -> None:
        """The process is about to end: edits under way end, the others are left to others."""
        self.ending.set()

    async def release(self) -> None:
        """Give the lease back, if it is ours."""
        await self.lease.release(self.store, self.clock.now())

    async def _render(
        self, transaction: Transaction, cards: Sequence[Card]
    ) -> Mapping[int, Message]:
        """One that cannot be rendered is left out, and stays as it is until its next change."""
        try:
            return await load_cards(transaction, cards)
        except BotError:
            raise
        except Exception:
            if len(cards) == 1:
                logger.exception("card not rendered", extra=_fields("not_rendered", cards[0]))
                self.measures.not_rendered(1)
                return {}
        alone = [await self._render(transaction, [one]) for one in cards]
        return {card_id: message for one in alone for card_id, message in one.items()}

    async def _edit(
        self, card: Card, message: Message | None, lease: Lease, send_until: datetime
    ) -> None:
        async with self.gate:
            if self.clock.now() >= send_until or self.ending.is_set():
                return
            error = await self._send(card, message) if message is not None else None
            await self._store(card, lease, error)

    async def _store(self, card: Card, lease: Lease, error: PostError | None) -> None:
        try:
            async with self.store.begin() as transaction:
                await transaction.leases.require(lease, self.clock.now())
                await self._record(transaction, card, error)
        except LeaseLost:
            logger.warning("lease lost while editing", extra=_fields("lease_lost", card))
            # Whoever has it may have shown something newer before this was sent.
            async with self.store.begin() as transaction:
                await transaction.cards.touch(card.name, due_at=self.clock.now())

    async def _send(self, card: Card, message: Message) -> PostError | None:
        """People are told, always: when the blocks are refused, the text goes alone."""
        message_ts = card.message_ts or ""
        try:
            await self.poster.update(card.channel_id, message_ts, message)
        except PostRefused as error:
            if error.refusal is not Refusal.MESSAGE or not message.blocks:
                return error
            logger.exception("blocks refused", extra=_fields("blocks_refused", card, error))
        except PostError as error:
            return error
        else:
            return None
        try:
            await self.poster.update(card.channel_id, message_ts, Message(message.text))
        except PostError as error:
            return error
        return None

    async def _record(self, transaction: Transaction, card: Card, error: PostError | None) -> None:
        match error:
            case None:
                await transaction.cards.showed(card.card_id, card.wanted)
            case PostRefused(refusal=Refusal.MESSAGE):
                # This state of it cannot be shown; the next may be.
                logger.error("edit refused", extra=_fields("edit_refused", card, error))
                await transaction.cards.showed(card.card_id, card.wanted)
            case PostRefused(refusal=Refusal.EDIT | Refusal.PERSON):
                await self._lose(transaction, card, error)
            case PostRefused():
                logger.warning("edit refused", extra=_fields("edit_refused", card, error))
                failures = card.failures + 1 if error.refusal is Refusal.CHANNEL else 1
                wait = min(REFUSED_RETRY * 2 ** min(failures - 1, 10), REFUSED_LONGEST)
                await transaction.cards.postpone(card.card_id, self.clock.now() + wait, failures)
            case _:
                await self._postpone(transaction, card, error)

    async def _lose(self, transaction: Transaction, card: Card, error: PostRefused) -> None:
        """Its message is gone: a new one is posted, once, unless all is over and it was deleted."""
        logger.info("card lost", extra=_fields("card_lost", card, error))
        await transaction.cards.lose(card.card_id)
        if card.generation >= GENERATIONS or (card.closed and error.code == DELETED):
            return
        await open_cards(
            transaction,
            card.name,
            [card.channel_id],
            self.clock.now(),
            generation=card.generation + 1,
            closed=card.closed,
        )

    async def _postpone(self, transaction: Transaction, card: Card, error: PostError) -> None:
        now = self.clock.now()
        hint = error.retry_after if isinstance(error, PostPostponed) else None
        if isinstance(error, PostPostponed) and error.workspace_wide and hint is not None:
            self.pace.hold_all(now, timedelta(seconds=hint))
        failures = card.failures + 1 if hint is None else 0
        wait = timedelta(seconds=retry_delay(failures, hint=hint, jitter=self.jitter()))
        logger.info("edit postponed", extra=_fields("edit_postponed", card, error))
        await transaction.cards.postpone(card.card_id, now + wait, failures)


def _fields(action: str, card: Card, error: PostError | None = None) -> dict[str, object]:
    return {
        "action": action,
        "channel": card.channel_id,
        "card": card.card_id,
        "repository": card.name.repository,
        "error": str(error) if error is not None else None,
    }
