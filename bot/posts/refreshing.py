"""Edits live messages whose subject has changed."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from bot.blocks.message import Message
from bot.kernel.clock import Clock
from bot.kernel.metrics import UNSCRAPED, Metrics
from bot.kernel.pacing import POST_BURST, ClaimSize, TokenBucket, retry_delay
from bot.kernel.tasks import side_by_side
from bot.posts.enqueueing import post_again
from bot.posts.live_message import LiveKind, LiveMessage
from bot.posts.live_messages import LiveMessages
from bot.posts.rendering import Renderers
from bot.posts.wake import Wake
from bot.slack.errors import PostError, Refusal
from bot.slack.ports import ChannelPoster
from bot.store.coordination import Leases
from bot.store.errors import LeaseLost
from bot.store.job_lease import JobLease
from bot.store.lease_values import EDIT_LEASE, Lease
from bot.store.transaction import Transaction
from bot.store.transactions import Store

logger = logging.getLogger(__name__)

LEASE = timedelta(seconds=30)
LAST_SEND = timedelta(seconds=8)
"""No edit is sent later than this after it was rendered.

A request takes ten seconds at most, and a refusal of blocks leads to a second one. Both are over
when another process may take the lease and edit with newer content.
"""

CLAIMED_EDITS = 20
CONCURRENT_EDITS = 2
"""Requests, and database connections for their outcomes; the rest is for others
(`CONCURRENT_STORES`)."""

EDITS_PER_SECOND = 0.7
"""With a burst of five, under the fifty a minute that Slack grants the workspace for chat.update
(https://docs.slack.dev/apis/web-api/rate-limits)."""

DELETED = "message_not_found"
LOST_MESSAGE_REFUSALS = frozenset({Refusal.EDIT, Refusal.PERSON})
"""The message can't be edited any more."""

REFUSED_RETRY = timedelta(minutes=2)
"""How soon a refused channel or credential is retried."""

REFUSED_LONGEST = timedelta(minutes=30)
"""The wait for a channel doubles up to this: one that is archived for good may have many messages,
whose edits would take the rate from all others."""


class _Edit(NamedTuple):
    """A message and its new content."""

    live: LiveMessage
    message: Message


@dataclass(frozen=True, slots=True)
class _Claim:
    """The messages to edit with their new content, decided at one time and under one lease."""

    edits: list[_Edit]
    #: how many messages could not be rendered; they stay as they are until the next change
    failed: int
    at: datetime
    lease: Lease


@dataclass(slots=True)
class RefreshLiveMessages:
    """Edits each changed message at least once; repeating an edit is harmless.

    One edit shows all changes that arrive while it waits. Unchanged content is not edited.
    """

    store: Store
    poster: ChannelPoster
    clock: Clock
    wake: Wake
    holder: str
    jitter: Callable[[], float]
    renderers: Renderers
    pace: TokenBucket = field(default_factory=lambda: TokenBucket(POST_BURST, EDITS_PER_SECOND))
    concurrency: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(CONCURRENT_EDITS)
    )
    ending: asyncio.Event = field(default_factory=asyncio.Event)
    size: ClaimSize = field(default_factory=ClaimSize)
    metrics: Metrics = UNSCRAPED
    lease: JobLease = field(init=False)

    def __post_init__(self) -> None:
        self.lease = JobLease(EDIT_LEASE, self.holder, LEASE)

    async def run(self) -> None:
        """Make the edits that are due; raises StoreError. Writes nothing if none is."""
        if self.ending.is_set():
            return
        room = self.pace.room(self.clock.now())
        claim = await self.store.run(self._claim, self.size.of(CLAIMED_EDITS), room)
        if claim is None:
            return
        self.size.learn(self.clock.now() - claim.at, LAST_SEND)
        self.metrics.not_rendered.inc(claim.failed)
        for _ in claim.edits:
            self.pace.take(claim.at)
        await side_by_side(self._edit(live, message, claim) for live, message in claim.edits)
        self.wake(self.pace.wait(self.clock.now()).total_seconds())

    def _claim(self, transaction: Transaction, limit: int, room: int) -> _Claim | None:
        """Claim due edits, as many as the budget allows.

        None when nothing is due, and while another process edits.
        """
        # Take the time now: waiting for the transaction doesn't delay an edit.
        now = self.clock.now()
        due = LiveMessages(transaction).due(now, limit)
        lease = self.lease.take(transaction, now) if due else None
        if lease is None:
            return None
        affordable = due[:room]
        rendered = self.renderers.render(transaction, [live.subject for live in affordable])
        edits: list[_Edit] = []
        for live in affordable:
            message = rendered.messages.get(live.subject)
            if message is not None and message.content_hash != live.content_hash:
                edits.append(_Edit(live, message))
            else:
                LiveMessages(transaction).showed(live.message_id, live.wanted, live.content_hash)
        return _Claim(edits, rendered.failed, now, lease)

    def begin_no_more(self) -> None:
        """Finish running edits and leave the rest, because the process is about to end."""
        self.ending.set()

    async def release(self) -> None:
        """Release our lease."""
        await self.lease.release(self.store, self.clock.now())

    async def _edit(self, live: LiveMessage, message: Message, claim: _Claim) -> None:
        async with self.concurrency:
            if self.clock.now() >= claim.at + LAST_SEND or self.ending.is_set():
                return
            content_hash: str | None = message.content_hash
            error = await self._send(live, message)
            if error is not None and error.refusal is Refusal.MESSAGE:
                logger.error("blocks refused", extra=_fields("blocks_refused", live, error))
                # The message still has to appear, so send the text alone.
                content_hash = None
                error = await self._send(live, Message(message.text))
            now = self.clock.now()
            if error is None:
                subject = f"{live.subject.kind} {live.subject.key}"
                fields = {**_fields("edited", live), **message.about, "subject": subject}
                logger.info("edited", extra={**fields, "ts": live.message_ts})
            after = self._after(replace(live, content_hash=content_hash), error, now)
            try:
                await self.store.run(_record, after, error, claim.lease, now)
            except LeaseLost:
                logger.warning("lease lost while editing", extra=_fields("lease_lost", live))
                # The new holder may have shown something newer before this was sent.
                await self.store.run(_mark_again, live, self.clock.now())

    async def _send(self, live: LiveMessage, message: Message) -> PostError | None:
        try:
            await self.poster.update(live.channel_id, live.message_ts or "", message)
        except PostError as error:
            return error
        return None

    def _after(self, live: LiveMessage, error: PostError | None, now: datetime) -> LiveMessage:
        """The message with the time of the next attempt, if there is one."""
        if error is None:
            return live
        if error.refusal is None:
            logger.info("edit postponed", extra=_fields("edit_postponed", live, error))
            return self._postponed(live, error, now)
        if error.refusal is Refusal.MESSAGE:
            logger.error("edit refused", extra=_fields("edit_refused", live, error))
            # The next state of it may be accepted.
            return replace(live, content_hash=None)
        if error.refusal in LOST_MESSAGE_REFUSALS:
            logger.info(
                "a live message can't be edited any more",
                extra=_fields("live_message_lost", live, error),
            )
            return live
        logger.warning("edit refused", extra=_fields("edit_refused", live, error))
        failures = live.failures + 1 if error.refusal is Refusal.CHANNEL else 1
        doublings = min(failures - 1, 10)
        wait = min(REFUSED_RETRY * 2**doublings, REFUSED_LONGEST)
        return replace(live, due_at=now + wait, failures=failures)

    def _postponed(self, live: LiveMessage, error: PostError, now: datetime) -> LiveMessage:
        hint = error.retry_after
        if error.workspace_wide and hint is not None:
            self.pace.pause_for(now, timedelta(seconds=hint))
        failures = live.failures + 1 if hint is None else 0
        wait = timedelta(seconds=retry_delay(failures, hint=hint, jitter=self.jitter()))
        return replace(live, due_at=now + wait, failures=failures)


def _record(
    transaction: Transaction,
    after: LiveMessage,
    error: PostError | None,
    lease: Lease,
    now: datetime,
) -> None:
    Leases(transaction).require(lease, now)
    live_messages = LiveMessages(transaction)
    stored = live_messages.get([after.message_id]).get(after.message_id)
    if stored is None or stored.message_ts != after.message_ts:
        # A reply has taken its place meanwhile, and is to be edited.
        return
    if error is None or error.refusal is Refusal.MESSAGE:
        live_messages.showed(after.message_id, after.wanted, after.content_hash, lease.holder)
    elif error.refusal not in LOST_MESSAGE_REFUSALS:
        live_messages.postpone(after.message_id, after.due_at, after.failures)
    elif after.is_second or _is_deleted_for_good(after, error):
        live_messages.lose(after.message_id)
    else:
        # Its message is gone.
        post_again(transaction, after, now)


def _is_deleted_for_good(live: LiveMessage, error: PostError) -> bool:
    """Whether somebody deleted it when nothing changes any more.

    The message of a queue entry is the only notice of its end, so it is posted again all the same.
    """
    is_deleted = live.closed and error.code == DELETED
    return is_deleted and live.subject.kind is not LiveKind.ENTRY


def _mark_again(transaction: Transaction, live: LiveMessage, now: datetime) -> None:
    LiveMessages(transaction).mark(live.subject, due_at=now, force=True)


def _fields(action: str, live: LiveMessage, error: PostError | None = None) -> dict[str, object]:
    return {
        "action": action,
        "channel": live.channel_id,
        "live_message": live.message_id,
        "repository": live.subject.repository,
        "error": error.code if error is not None else None,
    }
