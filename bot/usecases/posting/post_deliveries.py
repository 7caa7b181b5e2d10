"""Claim what is due, look for what is in doubt, post, record the result."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import groupby

from bot.domain import deliveries as states
from bot.domain.classification import EventKind
from bot.domain.deliveries import PLAIN_AFTER, Delivery, DeliveryState, SubjectKind
from bot.domain.errors import (
    LeaseLost,
    PostError,
    PostInDoubt,
    PostPostponed,
    PostRefused,
    Refusal,
    StoreUnavailable,
)
from bot.domain.message import Message, Thread
from bot.domain.outbox import ParkedChannel
from bot.domain.pacing import WORKSPACE_BURST, WORKSPACE_PER_SECOND, Pace, TokenBucket
from bot.ports import UNMEASURED, ChannelPoster, Clock, Measures, Nudge
from bot.store.transactions import Store, Transaction
from bot.usecases.leases import JobLease
from bot.usecases.posting.batches import (
    Batch,
    Claim,
    Outcome,
    more_may_wait,
    record_outcome,
    root_of,
    thread_of,
)
from bot.usecases.posting.claim_size import ClaimSize
from bot.usecases.posting.posted_before import PostedBefore
from bot.usecases.posting.render_deliveries import load_messages
from bot.usecases.tasks import side_by_side

logger = logging.getLogger(__name__)

CHANNELS_AT_ONCE = 50
PER_CHANNEL = 10
REQUESTS_AT_ONCE = 8
OUTCOMES_AT_ONCE = 3
"""Of the connections to the database, those in which it is stored what became of posts: others are
left to everybody else (`STORED_AT_ONCE`), however many channels are posted to."""

FOLD_OVER = 30
"""More than this waiting for a channel would take over half a minute, one message a second."""

FOLD_AT_MOST = 10_000
CLAIM = timedelta(seconds=30)
LEASE_NAME = "post"
LEASE = timedelta(seconds=30)
LASTING = timedelta(seconds=20)
"""A lease is renewed when less is left of it, and with each claim: it has to outlive posts."""

LAST_SEND = timedelta(seconds=8)
"""Nothing is begun later than this after the claim.

To ask who or what the address is takes seven seconds at most, a request ten: it is over before
another process may take the claim for abandoned and look whether the message is there.
"""

LAST_REPEAT = timedelta(seconds=15)
"""What was refused is sent in another form no later than this after the claim; else with the next.
"""

PARKED_RETRY = timedelta(minutes=2)
"""How often a channel that Slack refuses is tried again, so that it resumes by itself."""

NOT_A_MEMBER = "not_in_channel"
"""Slack shows the bot no history there, but may take its posts."""

TRUE_FOR_A_WHILE = frozenset({SubjectKind.REMINDER, SubjectKind.STALE, SubjectKind.ALERT})
"""What is not posted any more once it is over."""


@dataclass(frozen=True, slots=True)
class PostDeliveries:
    """One process posts at a time; a channel stops at its first delivery that is not settled."""

    store: Store
    poster: ChannelPoster
    clock: Clock
    nudge: Nudge
    holder: str
    jitter: Callable[[], float]
    pace: Pace = field(
        default_factory=lambda: Pace(budget=TokenBucket(WORKSPACE_BURST, WORKSPACE_PER_SECOND))
    )
    gate: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(REQUESTS_AT_ONCE))
    storing: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(OUTCOMES_AT_ONCE))
    measures: Measures = UNMEASURED
    ending: asyncio.Event = field(default_factory=asyncio.Event)
    size: ClaimSize = field(default_factory=ClaimSize)
    before: PostedBefore = field(default_factory=PostedBefore)
    lease: JobLease = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "lease", JobLease(LEASE_NAME, self.holder, LEASE))

    async def run(self) -> None:
        """Post what is due now; raises StoreError."""
        if self.ending.is_set():
            return
        room = self.pace.room(self.clock.now())
        if not room:
            # What matters most is claimed first: nothing is claimed before it may be sent.
            self.nudge(1 / WORKSPACE_PER_SECOND)
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
            self.nudge()

    def _claim(self, transaction: Transaction, channels: int, per_channel: int) -> Claim | None:
        """None while another process posts."""
        # Not before: how long the turn was waited for is no time that a claim has lasted.
        now = self.clock.now()
        lease = self.lease.keep(transaction, now, at_least=LASTING)
        lease = lease or self.lease.take(transaction, now)
        if lease is None:
            return None
        transaction.outbox.fold(now=now, longer_than=FOLD_OVER, at_most=FOLD_AT_MOST)
        claimed = transaction.outbox.claim(
            now=now, claimed_until=now + CLAIM, channels=channels, per_channel=per_channel
        )
        rendered = load_messages(transaction, claimed, now)
        if claimed and lease.expires_at < now + LEASE:
            lease = self.lease.take(transaction, now) or lease
        return Claim(claimed, rendered, now, lease)

    async def _send_all(self, claim: Claim) -> Sequence[Sequence[Delivery]]:
        """Send what was claimed, the lines side by side; return it line by line."""
        rendered = claim.rendered
        if rendered.failed:
            self.measures.not_rendered(rendered.failed)
        batch = Batch(
            rendered.messages,
            rendered.revisions,
            dict(rendered.roots),
            send_until=claim.at + LAST_SEND,
            repeat_until=claim.at + LAST_REPEAT,
        )
        lines = groupby(claim.claimed, key=lambda one: (one.channel_id, one.urgent, one.digest))
        runs = [list(run) for _, run in lines]
        await side_by_side(self._channel(run, batch) for run in runs)
        return runs

    def begin_no_more(self) -> None:
        """The process is about to end: posts under way end, those behind them are given back."""
        self.ending.set()

    async def release(self) -> None:
        """Give the lease back, if it is ours: the next process may post at once."""
        await self.lease.release(self.store, self.clock.now())

    async def _channel(self, run: Sequence[Delivery], batch: Batch) -> None:
        """Post a channel's deliveries in order; give back those behind one that must wait."""
        for index, delivery in enumerate(run):
            try:
                after, parked = await self._attempt(delivery, batch)
                if after.subject.kind is SubjectKind.CARD and after.message_ts is not None:
                    batch.roots[after.subject.subject_id] = after.message_ts
                goes_on = after.state.is_settled and not self.ending.is_set()
                left = run[index + 1 :]
                behind = (
                    [] if goes_on else [states.given_back(one, self.clock.now()) for one in left]
                )
                following = left[0] if goes_on and left else None
                shown = batch.revisions.get(delivery.delivery_id, 0)
                ts = after.message_ts
                lacks_buttons = ts is not None and self.poster.lacks_buttons(after.channel_id, ts)
                if after.times_absent >= PLAIN_AFTER or lacks_buttons:
                    # Its blocks are missing: the next edit adds them.
                    shown = 0
                await self._record(Outcome([after, *behind], shown, parked, following), batch)
            except LeaseLost:
                logger.warning(
                    "claim lost while posting",
                    extra={"action": "claim_lost", "channel": delivery.channel_id},
                )
                return
            if not goes_on:
                return

    async def _record(self, outcome: Outcome, batch: Batch) -> None:
        """Raises LeaseLost when the claim is another's by now, and StoreUnavailable.

        At the end of the process a database that failed one is not asked by each that waits.
        """
        async with self.storing:
            if self.ending.is_set() and batch.unstored.is_set():
                raise StoreUnavailable("the outcome before this one was not stored")
            try:
                await self.store.run(record_outcome, outcome, self.clock.now())
            except StoreUnavailable:
                batch.unstored.set()
                raise

    async def _attempt(
        self, delivery: Delivery, batch: Batch
    ) -> tuple[Delivery, ParkedChannel | None]:
        async with self.gate:
            now = self.clock.now()
            if now >= batch.send_until or self.ending.is_set():
                return states.given_back(delivery, now), None
            delivery = self.before.as_sent(delivery)
            if delivery.attempted_at is not None:
                return await self._look(delivery, batch)
            message = batch.messages.get(delivery.delivery_id)
            if message is None:
                return self._nothing_to_post(delivery, now), None
            return await self._first(delivery, message, batch)

    async def _first(
        self, delivery: Delivery, message: Message, batch: Batch
    ) -> tuple[Delivery, ParkedChannel | None]:
        """Post what the database does not know to have been sent."""
        known = await self._look_before(delivery, message, batch)
        if known is not None:
            return known, None
        now = self.clock.now()
        presses = delivery.urgent or delivery.kind == EventKind.FAILURE
        wait = self.pace.wait(delivery.channel_id, now, urgent=presses)
        if wait:
            self.nudge(wait.total_seconds())
            return states.given_back(delivery, now + wait), None
        return await self._post(delivery, message, batch)

    def _nothing_to_post(self, delivery: Delivery, now: datetime) -> Delivery:
        if delivery.subject.kind in TRUE_FOR_A_WHILE:
            return states.failed(delivery, "no_longer_true", now)
        logger.error("nothing to post", extra=_fields("subject_missing", delivery))
        return states.failed(delivery, "subject_missing", now)

    async def _look_before(
        self, delivery: Delivery, message: Message, batch: Batch
    ) -> Delivery | None:
        """A first post that a database which went back may have lost; None: to be posted."""
        try:
            found = await self.before.find(self.poster, delivery, message, root_of(delivery, batch))
        except PostError as error:
            wait = error.retry_after if isinstance(error, PostPostponed) else None
            logger.info("history not read", extra=_fields("look_failed", delivery, error))
            return states.postponed(
                delivery, str(error), now=self.clock.now(), retry_after=wait, jitter=self.jitter()
            )
        now = self.clock.now()
        if found is not None:
            logger.info("post found in the history", extra=_fields("post_found", delivery))
            return states.delivered(delivery, found, now)
        return states.given_back(delivery, now) if now >= batch.send_until else None

    async def _look(
        self, delivery: Delivery, batch: Batch
    ) -> tuple[Delivery, ParkedChannel | None]:
        """Whether the post whose outcome we never heard is there."""
        since = delivery.attempted_at or delivery.created_at
        try:
            found = await self.poster.find(
                delivery.channel_id, delivery.delivery_id, since, root_of(delivery, batch)
            )
        except PostError as error:
            after, parked = self._not_read(delivery, error)
        else:
            if found is not None:
                logger.info("post found in the history", extra=_fields("post_found", delivery))
                return states.delivered(delivery, found, self.clock.now()), None
            after, parked = states.not_found(delivery, self.clock.now()), None
            if after.state is DeliveryState.PENDING:
                self.before.forget(delivery)
        if after.state is DeliveryState.FAILED:
            logger.error("post given up", extra=_fields("given_up", delivery))
        return after, parked

    def _not_read(
        self, delivery: Delivery, error: PostError
    ) -> tuple[Delivery, ParkedChannel | None]:
        """Look again when Slack says so; in a channel that Slack refuses, only with the retries."""
        now = self.clock.now()
        level = logging.INFO if isinstance(error, PostPostponed) else logging.WARNING
        logger.log(level, "history not read", extra=_fields("look_failed", delivery, error))
        if isinstance(error, PostRefused) and error.refusal is Refusal.PERSON:
            return states.failed(delivery, error.code, now), None
        parked, wait = None, error.retry_after if isinstance(error, PostPostponed) else None
        if (
            isinstance(error, PostRefused)
            and error.refusal is Refusal.CHANNEL
            and error.code != NOT_A_MEMBER
        ):
            parked = ParkedChannel(delivery.channel_id, error.code, now, now + PARKED_RETRY)
            wait = PARKED_RETRY.total_seconds()
        jitter = 0 if parked is not None else self.jitter()
        after = states.look_failed(delivery, str(error), now=now, jitter=jitter, retry_after=wait)
        return after, parked

    async def _post(
        self, delivery: Delivery, message: Message, batch: Batch
    ) -> tuple[Delivery, ParkedChannel | None]:
        sent_at = self.clock.now()
        if delivery.times_absent >= PLAIN_AFTER and message.blocks:
            # Perhaps its blocks are what Slack cannot answer for.
            logger.error("sent as plain text", extra=_fields("plain_text", delivery))
            message = replace(message, blocks=())
        self.before.remember(delivery, sent_at)
        try:
            message_ts = await self._send(delivery, message, thread_of(delivery, batch), batch)
        except PostInDoubt as error:
            logger.warning("post in doubt", extra=_fields("post_in_doubt", delivery, error))
            doubted = replace(delivery, attempted_at=sent_at)
            return states.in_doubt(doubted, error.code, self.clock.now()), None
        except PostPostponed as error:
            self.before.forget(delivery)
            return self._postponed(delivery, error), None
        except PostRefused as error:
            self.before.forget(delivery)
            return self._refused(delivery, error)
        now = self.clock.now()
        # What waited for a digest was not late.
        if message.since is not None and not delivery.digest:
            self.measures.posted(now - message.since)
        logger.info("posted", extra=_fields("posted", delivery))
        return states.delivered(delivery, message_ts, now), None

    async def _send(
        self, delivery: Delivery, message: Message, thread: Thread | None, batch: Batch
    ) -> str:
        """People are told, always.

        When the blocks are refused, the text goes alone; when the thread is gone, to the channel.
        """
        try:
            return await self.poster.post(
                delivery.channel_id, message, delivery.delivery_id, thread
            )
        except PostRefused as error:
            if error.refusal is Refusal.THREAD and thread is not None:
                logger.info("thread gone", extra=_fields("thread_gone", delivery, error))
                self._require_time(batch)
                return await self._send(delivery, message, None, batch)
            if error.refusal is not Refusal.MESSAGE or not message.blocks:
                raise
            logger.exception("blocks refused", extra=_fields("blocks_refused", delivery, error))
            self._require_time(batch)
            plain = Message(message.text, told=message.told)
            return await self.poster.post(delivery.channel_id, plain, delivery.delivery_id, thread)

    def _require_time(self, batch: Batch) -> None:
        """For another request within the claim. Raises PostPostponed."""
        if self.clock.now() >= batch.repeat_until:
            raise PostPostponed("refused_late")

    def _postponed(self, delivery: Delivery, error: PostPostponed) -> Delivery:
        now = self.clock.now()
        logger.info("post postponed", extra=_fields("post_postponed", delivery, error))
        return states.postponed(
            delivery, error.code, now=now, retry_after=error.retry_after, jitter=self.jitter()
        )

    def _refused(
        self, delivery: Delivery, error: PostRefused
    ) -> tuple[Delivery, ParkedChannel | None]:
        now = self.clock.now()
        # Who has left, or reads no more, is nothing for an operator to mend.
        level = logging.INFO if error.refusal is Refusal.PERSON else logging.ERROR
        logger.log(level, "post refused", extra=_fields("post_refused", delivery, error))
        if error.refusal in {Refusal.MESSAGE, Refusal.PERSON}:
            return states.failed(delivery, error.code, now), None
        retry_at = now + PARKED_RETRY
        kept = states.postponed(
            delivery, error.code, now=now, retry_after=PARKED_RETRY.total_seconds(), jitter=0
        )
        return kept, ParkedChannel(delivery.channel_id, error.code, now, retry_at)


def _fields(
    action: str, delivery: Delivery, error: PostError | None = None
) -> dict[str, str | None]:
    return {
        "action": action,
        "channel": delivery.channel_id,
        "delivery_id": delivery.delivery_id,
        "repository": delivery.subject.repository,
        "subject": f"{delivery.subject.kind} {delivery.subject.subject_id}",
        "error": str(error) if error is not None else None,
    }
