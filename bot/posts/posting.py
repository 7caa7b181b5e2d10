"""Claims due deliveries, looks up those in doubt, posts the rest, and stores the outcomes."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import groupby

from bot.kernel.clock import Clock
from bot.kernel.metrics import UNSCRAPED, Metrics, SuspendedChannel
from bot.kernel.pacing import WORKSPACE_PER_SECOND, ClaimSize
from bot.kernel.tasks import side_by_side
from bot.posts import delivery as deliveries
from bot.posts.channel_queues import queue_of
from bot.posts.claim import LAST_SEND, Claim
from bot.posts.delivery import PLAIN_AFTER, POSTS_OF_LIVE_MESSAGES, Delivery, DeliveryState
from bot.posts.live_messages import LiveMessages
from bot.posts.outbox import Outbox
from bot.posts.rendering import Renderers
from bot.posts.send import SUSPENDED_RETRY, Sender, SendResult
from bot.posts.wake import Wake
from bot.slack.ports import ChannelPoster
from bot.store.errors import LeaseLost, StoreUnavailable
from bot.store.job_lease import JobLease
from bot.store.lease_values import POST_LEASE
from bot.store.transaction import Transaction
from bot.store.transactions import Store

logger = logging.getLogger(__name__)

CONCURRENT_CHANNELS = 50
PER_CHANNEL = 10
CONCURRENT_OUTCOMES = 3
"""Database connections for storing outcomes; the rest is for others (`CONCURRENT_STORES`)."""

SUMMARIZE_OVER = 30
"""A longer backlog would take over half a minute, at one message a second."""

SUMMARIZE_AT_MOST = 10_000
POST_CLAIM = timedelta(seconds=30)
LEASE = timedelta(seconds=30)
LEASE_LEFT_TO_POST = timedelta(seconds=25)
"""The lease is renewed when less time is left: a claim's posts take as long at most (`LAST_SEND`).
"""


@dataclass(slots=True)
class PostDeliveries:
    """One process posts at a time; a channel stops at its first unsettled delivery."""

    store: Store
    poster: ChannelPoster
    clock: Clock
    wake: Wake
    holder: str
    jitter: Callable[[], float]
    renderers: Renderers
    metrics: Metrics = UNSCRAPED
    storing: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(CONCURRENT_OUTCOMES)
    )
    size: ClaimSize = field(default_factory=ClaimSize)
    #: set when an outcome could not be stored
    unstored: asyncio.Event = field(default_factory=asyncio.Event)
    lease: JobLease = field(init=False)
    sender: Sender = field(init=False)

    def __post_init__(self) -> None:
        self.lease = JobLease(POST_LEASE, self.holder, LEASE)
        self.sender = Sender(self.poster, self.clock, self.wake, self.jitter, self.metrics)

    async def run(self) -> None:
        """Post the deliveries that are due; raises StoreError."""
        if self.sender.ending.is_set():
            return
        room = self.sender.pace.budget.room(self.clock.now())
        if not room:
            # What is claimed too early would go ahead of something more urgent.
            self.wake(1 / WORKSPACE_PER_SECOND)
            return
        channels = min(room, self.size.of(CONCURRENT_CHANNELS))
        per_channel = min(room, self.size.of(PER_CHANNEL))
        claim = await self.store.run(self._claim, channels, per_channel)
        if claim is None:
            self.lease.current = None
            return
        self.lease.current = claim.lease
        self.sender.see_lease(claim.lease, claim.at)
        self.size.learn(self.clock.now() - claim.at, LAST_SEND)
        self.unstored.clear()
        self.metrics.not_rendered.inc(len(claim.failed))
        runs = [list(run) for _, run in groupby(claim.claimed, key=queue_of)]
        # In order within a channel, and channels in parallel.
        await side_by_side(self._channel(run, claim) for run in runs)
        # A claim is bounded, and a retry or a summary may have blocked its queue.
        may_be_more = len(runs) >= channels or any(
            len(run) >= per_channel or run[0].progress.attempts > 1 or run[0].summarizes
            for run in runs
        )
        if may_be_more:
            self.wake()

    def _claim(self, transaction: Transaction, channels: int, per_channel: int) -> Claim | None:
        """Claim deliveries; None while another process posts."""
        # Take the time now: waiting for the transaction doesn't shorten the claim.
        now = self.clock.now()
        lease = self.lease.claim(transaction, now, at_least=LEASE_LEFT_TO_POST)
        if lease is None:
            return None
        Outbox(transaction).summarize(
            now=now, longer_than=SUMMARIZE_OVER, at_most=SUMMARIZE_AT_MOST
        )
        claimed = Outbox(transaction).claim(
            now=now,
            claimed_until=now + POST_CLAIM,
            at_most=channels,
            per_channel=per_channel,
            process=self.holder,
        )
        return self.renderers.render_claim(transaction, claimed, now, lease)

    def begin_no_more(self) -> None:
        """Finish running posts and give back the rest, because the process is about to end."""
        self.sender.ending.set()

    async def release(self) -> None:
        """Release our lease, so that the next process can post immediately."""
        await self.lease.release(self.store, self.clock.now())

    async def _channel(self, run: Sequence[Delivery], claim: Claim) -> None:
        """Post a channel's deliveries in order; give back those behind one that must wait."""
        for index, delivery in enumerate(run):
            outcome = await self.sender.attempt(delivery, claim)
            after = outcome.after
            left = run[index + 1 :]
            live = claim.posted_by(delivery)
            if live is not None and after.progress.message_ts is not None:
                # The replies behind it go to its thread.
                claim.live[live.message_id] = replace(live, message_ts=after.progress.message_ts)
            continues = after.progress.state.is_settled and not self.sender.ending.is_set()
            if continues:
                outcome.following = left[0] if left else None
            else:
                now = self.clock.now()
                outcome.given_back = [deliveries.given_back(delivery, now) for delivery in left]
            _add_what_it_shows(outcome, delivery, claim)
            try:
                await self._record(outcome)
            except LeaseLost:
                logger.warning(
                    "claim lost while posting",
                    extra={"action": "claim_lost", "channel": delivery.channel_id},
                )
                return
            if not continues:
                return

    async def _record(self, outcome: SendResult) -> None:
        """Store an outcome; raises LeaseLost for another's claim, and StoreUnavailable.

        At the end of the process, posts do not all retry a database that has failed once.
        """
        async with self.storing:
            if self.sender.ending.is_set() and self.unstored.is_set():
                raise StoreUnavailable("the outcome before this one was not stored")
            try:
                await self.store.run(
                    record_outcome, outcome, self.clock.now(), self.renderers.when_posted
                )
            except StoreUnavailable:
                self.unstored.set()
                raise


def _add_what_it_shows(outcome: SendResult, delivery: Delivery, claim: Claim) -> None:
    """Add the state that the post of a live message shows, if it is certainly up to date.

    It isn't if its blocks are missing, which the next edit adds, nor if it was found in the
    history: then it shows an older state. One edit too many is harmless, one too few is not.
    """
    progress = outcome.after.progress
    is_plain = progress.times_absent >= PLAIN_AFTER
    if not outcome.is_complete or is_plain or progress.attempted_at is not None:
        return
    live = claim.posted_by(delivery)
    if live is not None and delivery.delivery_id not in claim.failed:
        outcome.shown = live.wanted
    message = claim.messages.get(delivery.delivery_id)
    if message is not None:
        outcome.content_hash = message.content_hash


def record_outcome(
    transaction: Transaction,
    outcome: SendResult,
    now: datetime,
    when_posted: Callable[[Transaction, Delivery, str | None], None],
) -> None:
    """Store an outcome and the `following` delivery in one transaction.

    It needs no lease, because each delivery knows whether its claim is still valid. Slack's answer
    is true however late, and losing it would cost a lookup. Raises LeaseLost for another's claim.
    """
    after = outcome.after
    progress = after.progress
    # Lock a live message before its channel queue, as everywhere else.
    if after.summarizes and progress.state.is_settled:
        # A summary replaced first posts, so those live messages have no message. Not done when
        # summarizing, because that locks the channel queue, which comes after live messages.
        LiveMessages(transaction).lose_summarized(after.delivery_id)
    elif progress.message_ts is not None and after.subject.kind in POSTS_OF_LIVE_MESSAGES:
        LiveMessages(transaction).posted(
            after.subject.subject_id, progress.message_ts, outcome.shown, outcome.content_hash
        )
    elif progress.message_ts is not None and outcome.replaces is not None:
        LiveMessages(transaction).replaced(
            after.root_id, outcome.replaces, progress.message_ts, now
        )
    Outbox(transaction).record([after, *outcome.given_back])
    if progress.state is DeliveryState.DELIVERED:
        when_posted(transaction, after, outcome.content_hash)
    if outcome.following is not None:
        Outbox(transaction).attempt(outcome.following, now)
    if outcome.is_suspended:
        retry_at = now + SUSPENDED_RETRY
        suspended = SuspendedChannel(after.channel_id, progress.error or "", now, retry_at)
        Outbox(transaction).suspend(suspended)
