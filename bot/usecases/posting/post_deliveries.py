"""Claim what is due, look for what is in doubt, post, record the result."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby

from bot.domain import deliveries as states
from bot.domain.deliveries import (
    PLAIN_AFTER,
    POSTS_OF_LIVE_MESSAGES,
    Delivery,
    DeliveryState,
    SuspendedChannel,
)
from bot.domain.errors import LeaseLost, StoreUnavailable
from bot.domain.pacing import (
    WORKSPACE_BURST,
    WORKSPACE_PER_SECOND,
    ClaimSize,
    Pace,
    TokenBucket,
)
from bot.ports import UNMEASURED, ChannelPoster, Clock, Measures, Wake
from bot.store.transactions import Store, Transaction
from bot.usecases.leases import JobLease
from bot.usecases.posting.render_deliveries import load_messages
from bot.usecases.posting.send import LAST_SEND, Claim, PostedBefore, Sender
from bot.usecases.tasks import side_by_side

logger = logging.getLogger(__name__)

CHANNELS_AT_ONCE = 50
PER_CHANNEL = 10
REQUESTS_AT_ONCE = 8
OUTCOMES_AT_ONCE = 3
"""Of the connections to the database, those in which it is stored what became of posts: others are
left to everybody else (`STORED_AT_ONCE`), however many channels are posted to."""

SUMMARIZE_OVER = 30
"""More than this waiting for a channel would take over half a minute, one message a second."""

SUMMARIZE_AT_MOST = 10_000
CLAIM = timedelta(seconds=30)
LEASE_NAME = "post"
LEASE = timedelta(seconds=30)
LASTING = timedelta(seconds=20)
"""A lease is renewed when less is left of it, and with each claim: it has to outlive posts."""


@dataclass(slots=True)
class Outcome:
    """What became of a delivery, and of those behind it that are `given_back`.

    `shown`: which state of its subject the post of a live message shows, and `digest` that of what
    it says then. `following` is sent next.
    """

    after: Delivery
    given_back: Sequence[Delivery] = ()
    shown: int = 0
    digest: str | None = None
    suspended: SuspendedChannel | None = None
    following: Delivery | None = None


@dataclass(slots=True)
class PostDeliveries:
    """One process posts at a time; a channel stops at its first delivery that is not settled."""

    store: Store
    poster: ChannelPoster
    clock: Clock
    wake: Wake
    holder: str
    jitter: Callable[[], float]
    pace: Pace = field(
        default_factory=lambda: Pace(budget=TokenBucket(WORKSPACE_BURST, WORKSPACE_PER_SECOND))
    )
    concurrency: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(REQUESTS_AT_ONCE)
    )
    storing: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(OUTCOMES_AT_ONCE))
    measures: Measures = UNMEASURED
    ending: asyncio.Event = field(default_factory=asyncio.Event)
    size: ClaimSize = field(default_factory=ClaimSize)
    before: PostedBefore = field(default_factory=PostedBefore)
    lease: JobLease = field(init=False)
    sender: Sender = field(init=False)

    def __post_init__(self) -> None:
        self.lease = JobLease(LEASE_NAME, self.holder, LEASE)
        self.sender = Sender(
            self.poster,
            self.clock,
            self.wake,
            self.jitter,
            self.pace,
            self.concurrency,
            self.measures,
            self.ending,
            self.before,
        )

    async def run(self) -> None:
        """Post what is due now; raises StoreError."""
        if self.ending.is_set():
            return
        room = self.pace.room(self.clock.now())
        if not room:
            # What matters most is claimed first: nothing is claimed before it may be sent.
            self.wake(1 / WORKSPACE_PER_SECOND)
            return
        channels = min(room, self.size.of(CHANNELS_AT_ONCE))
        per_channel = min(room, self.size.of(PER_CHANNEL))
        claim = await self.store.run(self._claim, channels, per_channel)
        self.lease.held = claim.lease if claim is not None else None
        if claim is None:
            return
        self.before.notice(claim.lease, claim.at)
        self.size.learn(self.clock.now() - claim.at, LAST_SEND)
        runs = await self._send_all(claim)
        if more_may_wait(runs, channels, per_channel):
            self.wake()

    def _claim(self, transaction: Transaction, channels: int, per_channel: int) -> Claim | None:
        """None while another process posts."""
        # Not before: how long the turn was waited for is no time that a claim has lasted.
        now = self.clock.now()
        lease = self.lease.keep(transaction, now, at_least=LASTING)
        lease = lease or self.lease.take(transaction, now)
        if lease is None:
            return None
        transaction.outbox.summarize(now=now, longer_than=SUMMARIZE_OVER, at_most=SUMMARIZE_AT_MOST)
        claimed = transaction.outbox.claim(
            now=now, claimed_until=now + CLAIM, channels=channels, per_channel=per_channel
        )
        rendered = load_messages(transaction, claimed, now)
        if claimed and lease.expires_at < now + LEASE:
            lease = self.lease.take(transaction, now) or lease
        return Claim(claimed, rendered, now, lease)

    async def _send_all(self, claim: Claim) -> Sequence[Sequence[Delivery]]:
        """Send what was claimed, the channel queues side by side; return it queue by queue."""
        if claim.rendered.failed:
            self.measures.not_rendered(claim.rendered.failed)
        queues = groupby(claim.claimed, key=lambda one: (one.channel_id, one.urgent, one.digest))
        runs = [list(run) for _, run in queues]
        await side_by_side(self._channel(run, claim) for run in runs)
        return runs

    def begin_no_more(self) -> None:
        """The process is about to end: posts under way end, those behind them are given back."""
        self.ending.set()

    async def release(self) -> None:
        """Give the lease back, if it is ours: the next process may post at once."""
        await self.lease.release(self.store, self.clock.now())

    async def _channel(self, run: Sequence[Delivery], claim: Claim) -> None:
        """Post a channel's deliveries in order; give back those behind one that must wait."""
        for index, delivery in enumerate(run):
            after, suspended = await self.sender.attempt(delivery, claim)
            if after.subject.kind in POSTS_OF_LIVE_MESSAGES and after.message_ts is not None:
                claim.rendered.roots[after.subject.subject_id] = after.message_ts
            goes_on = after.state.is_settled and not self.ending.is_set()
            left = run[index + 1 :]
            outcome = Outcome(after, suspended=suspended)
            if goes_on:
                outcome.following = left[0] if left else None
            else:
                outcome.given_back = [states.given_back(one, self.clock.now()) for one in left]
            if self._shows_all(after):
                message = claim.rendered.messages.get(delivery.delivery_id)
                outcome.shown = claim.rendered.revisions.get(delivery.delivery_id, 0)
                outcome.digest = message.digest if message is not None else None
            try:
                await self._record(outcome, claim)
            except LeaseLost:
                logger.warning(
                    "claim lost while posting",
                    extra={"action": "claim_lost", "channel": delivery.channel_id},
                )
                return
            if not goes_on:
                return

    def _shows_all(self, after: Delivery) -> bool:
        """Not when its blocks are missing, which the next edit adds, nor when it was found.

        One that was found says what was true when it was sent, whenever that was: an edit too many
        is harmless, one too few is not.
        """
        ts = after.message_ts
        lacks_buttons = ts is not None and self.poster.lacks_buttons(after.channel_id, ts)
        is_plain = after.times_absent >= PLAIN_AFTER
        return not lacks_buttons and not is_plain and after.attempted_at is None

    async def _record(self, outcome: Outcome, claim: Claim) -> None:
        """Raises LeaseLost when the claim is another's by now, and StoreUnavailable.

        At the end of the process a database that failed one is not asked by each that waits.
        """
        async with self.storing:
            if self.ending.is_set() and claim.unstored.is_set():
                raise StoreUnavailable("the outcome before this one was not stored")
            try:
                await self.store.run(record_outcome, outcome, self.clock.now())
            except StoreUnavailable:
                claim.unstored.set()
                raise


def more_may_wait(runs: Sequence[Sequence[Delivery]], channels: int, per_channel: int) -> bool:
    """A claim is bounded, and what was tried before may have held back what stands behind it."""
    return len(runs) >= channels or any(
        len(run) >= per_channel or run[0].attempts > 1 or run[0].summarizes for run in runs
    )


def record_outcome(transaction: Transaction, outcome: Outcome, now: datetime) -> None:
    """In one transaction with the outcome that its `following` is sent next.

    No lease is asked for: whether a claim is still the one that was posted under is known of each
    delivery. What Slack said is true, however late, and what is thrown away has to be looked for.
    Raises LeaseLost when the claim is another's by now.
    """
    after = outcome.after
    # Whoever changes a live message and its channel queue takes them in this order.
    if after.summarizes and after.state.is_settled:
        # A summary that took the place of first posts: those live messages have no message. Not
        # when it was summarized, with the queue locked that others lock after live messages.
        transaction.live_messages.lose_summarized(after.delivery_id)
    elif after.message_ts is not None and after.subject.kind in POSTS_OF_LIVE_MESSAGES:
        transaction.live_messages.posted(
            after.subject.subject_id, after.message_ts, outcome.shown, outcome.digest
        )
    transaction.outbox.record([after, *outcome.given_back])
    if outcome.following is not None:
        transaction.outbox.attempt(outcome.following, now)
    if outcome.suspended is not None:
        transaction.outbox.suspend(outcome.suspended)
    elif after.state is DeliveryState.DELIVERED:
        transaction.outbox.resume(after.channel_id)
