"""Edit the messages of cards that do not say any more what is true."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.domain.cards import GENERATIONS, Card
from bot.domain.errors import (
    BotError,
    LeaseLost,
    PostError,
    PostPostponed,
    PostRefused,
    Refusal,
)
from bot.domain.leases import Lease
from bot.domain.message import Message
from bot.domain.pacing import BURST, Pace, TokenBucket, retry_delay
from bot.ports import UNMEASURED, ChannelPoster, Clock, Measures, Nudge
from bot.store.failures import as_store_errors
from bot.store.transactions import Store, Transaction
from bot.usecases.leases import JobLease
from bot.usecases.open_card import open_cards
from bot.usecases.posting.claim_size import ClaimSize
from bot.usecases.posting.render_cards import load_cards
from bot.usecases.tasks import side_by_side

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
class _Claim:
    """The cards to edit, when and under which lease, and what they say, by their ids.

    `failed`: how many could not be rendered; they stay as they are until their next change.
    """

    cards: Sequence[Card]
    messages: Mapping[int, Message]
    failed: int
    at: datetime
    lease: Lease


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
    pace: Pace = field(default_factory=lambda: Pace(budget=TokenBucket(BURST, EDITS_PER_SECOND)))
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
        now = self.clock.now()
        room = 0 if self.pace.until(EDITS, now) else self.pace.room(now)
        claim = await self.store.run(self._claim, self.size.of(AT_ONCE), room)
        if claim is None:
            return
        self.size.learn(self.clock.now() - claim.at, LAST_SEND)
        if claim.failed:
            self.measures.not_rendered(claim.failed)
        for _ in claim.cards:
            self.pace.wait(EDITS, claim.at)
        await side_by_side(self._edit(card, claim) for card in claim.cards)
        self.nudge(self.pace.until(EDITS, self.clock.now()).total_seconds())

    def _claim(self, transaction: Transaction, limit: int, room: int) -> _Claim | None:
        """So many of those that are due as there is room for.

        None when nothing is due, and while another process edits.
        """
        # Not before: how long the turn was waited for is no time that an edit has waited.
        now = self.clock.now()
        due = transaction.cards.due(now, limit)
        lease = self.lease.take(transaction, now) if due else None
        if lease is None:
            return None
        messages, failed = _render(transaction, due[:room])
        return _Claim(due[:room], messages, failed, now, lease)

    def begin_no_more(self) -> None:
        """The process is about to end: edits under way end, the others are left to others."""
        self.ending.set()

    async def release(self) -> None:
        """Give the lease back, if it is ours."""
        await self.lease.release(self.store, self.clock.now())

    async def _edit(self, card: Card, claim: _Claim) -> None:
        async with self.gate:
            if self.clock.now() >= claim.at + LAST_SEND or self.ending.is_set():
                return
            message = claim.messages.get(card.card_id)
            error = await self._send(card, message) if message is not None else None
            await self._store(card, claim.lease, error)

    async def _store(self, card: Card, lease: Lease, error: PostError | None) -> None:
        now = self.clock.now()
        retry = self._retry(card, error, now) if error is not None else None
        try:
            await self.store.run(_record, card, lease, error, retry, now)
        except LeaseLost:
            logger.warning("lease lost while editing", extra=_fields("lease_lost", card))
            # Whoever has it may have shown something newer before this was sent.
            now = self.clock.now()
            await self.store.run(lambda transaction: transaction.cards.touch(card.name, due_at=now))

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

    def _retry(self, card: Card, error: PostError, now: datetime) -> tuple[datetime, int] | None:
        """When it is tried again, and how often it has failed by then; None when it is not."""
        match error:
            case PostRefused(refusal=Refusal.MESSAGE):
                logger.error("edit refused", extra=_fields("edit_refused", card, error))
                return None
            case PostRefused(refusal=Refusal.EDIT | Refusal.PERSON):
                logger.info("card lost", extra=_fields("card_lost", card, error))
                return None
            case PostRefused():
                logger.warning("edit refused", extra=_fields("edit_refused", card, error))
                failures = card.failures + 1 if error.refusal is Refusal.CHANNEL else 1
                wait = min(REFUSED_RETRY * 2 ** min(failures - 1, 10), REFUSED_LONGEST)
                return now + wait, failures
            case _:
                logger.info("edit postponed", extra=_fields("edit_postponed", card, error))
                return self._postponed(card, error, now)

    def _postponed(self, card: Card, error: PostError, now: datetime) -> tuple[datetime, int]:
        hint = error.retry_after if isinstance(error, PostPostponed) else None
        if isinstance(error, PostPostponed) and error.workspace_wide and hint is not None:
            self.pace.hold_all(now, timedelta(seconds=hint))
        failures = card.failures + 1 if hint is None else 0
        wait = timedelta(seconds=retry_delay(failures, hint=hint, jitter=self.jitter()))
        return now + wait, failures


def _render(transaction: Transaction, cards: Sequence[Card]) -> tuple[Mapping[int, Message], int]:
    """What the cards say, by their ids, and how many could not be rendered."""
    try:
        with as_store_errors():
            return load_cards(transaction, cards), 0
    except BotError:
        raise
    except Exception:
        if len(cards) == 1:
            logger.exception("card not rendered", extra=_fields("not_rendered", cards[0]))
            return {}, 1
    alone = [_render(transaction, [one]) for one in cards]
    messages = {card_id: message for some, _ in alone for card_id, message in some.items()}
    return messages, sum(failed for _, failed in alone)


def _record(
    transaction: Transaction,
    card: Card,
    lease: Lease,
    error: PostError | None,
    retry: tuple[datetime, int] | None,
    now: datetime,
) -> None:
    transaction.leases.require(lease, now)
    if retry is not None:
        transaction.cards.postpone(card.card_id, *retry)
    elif isinstance(error, PostRefused) and error.refusal is not Refusal.MESSAGE:
        _lose(transaction, card, error, now)
    else:
        # A state of it that Slack refuses cannot be shown; the next may be.
        transaction.cards.showed(card.card_id, card.wanted)


def _lose(transaction: Transaction, card: Card, error: PostRefused, now: datetime) -> None:
    """Its message is gone: a new one is posted, once, unless all is over and it was deleted."""
    transaction.cards.lose(card.card_id)
    if card.generation >= GENERATIONS or (card.closed and error.code == DELETED):
        return
    open_cards(
        transaction,
        card.name,
        [card.channel_id],
        now,
        identity=f"{card.generation + 1} after {card.message_ts}",
        generation=card.generation + 1,
        closed=card.closed,
    )


def _fields(action: str, card: Card, error: PostError | None = None) -> dict[str, object]:
    return {
        "action": action,
        "channel": card.channel_id,
        "card": card.card_id,
        "repository": card.name.repository,
        "error": str(error) if error is not None else None,
    }
