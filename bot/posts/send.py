"""Sends one claimed delivery, after a lookup if it may have been posted before."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.blocks.message import Message, Thread
from bot.kernel.clock import Clock
from bot.kernel.metrics import Metrics
from bot.kernel.pacing import Pace
from bot.log.classification import EventKind
from bot.posts import delivery as deliveries
from bot.posts.claim import Claim
from bot.posts.delivery import (
    END_POST,
    PLAIN_AFTER,
    REMINDER_POST,
    SHOWN_BY_ROOTS,
    Delivery,
    DeliveryState,
    SubjectKind,
)
from bot.posts.live_message import NOT_POSTED_ONCE_CLOSED, LiveMessage
from bot.posts.wake import Wake
from bot.slack.errors import PostError, PostInDoubt, PostPostponed, PostRefused, Refusal
from bot.slack.ports import ChannelPoster, Sent
from bot.store.lease_values import Lease

logger = logging.getLogger(__name__)

REQUESTS_AT_ONCE = 8

LAST_REPEAT = timedelta(seconds=15)
"""Until this long after the claim, a refused message is sent in another form; later, by the next
claim."""

SUSPENDED_RETRY = timedelta(minutes=2)
"""How often a channel that Slack refuses is tried again, so that it resumes by itself."""

NOT_A_MEMBER = "not_in_channel"
"""Slack shows the bot no history there, but may take its posts."""

NOT_GRANTED = "missing_scope"
"""The workspace lets the bot read no history, so it will never know."""

HISTORY_REFUSED = timedelta(minutes=10)
"""How long a post waits for a history that Slack refuses to show. It is then given up, because
asking again brings no other answer and the rest of its channel waits behind it."""

OF_THE_CHANNEL = frozenset({Refusal.CHANNEL, Refusal.CREDENTIAL})
"""Refusals that every other post to the channel would get too."""

ALSO_TO_CHANNEL = frozenset({EventKind.FAILURE, EventKind.FREEZE, REMINDER_POST, END_POST})

MAY_SAY_NOTHING = frozenset(
    {
        SubjectKind.ADOPTED,
        SubjectKind.REMINDER,
        SubjectKind.ESCALATION,
        SubjectKind.OUTAGE,
        SubjectKind.ALERT_CAUSE,
        SubjectKind.END_VOID,
        SubjectKind.FREEZE_ANNOUNCED,
        SubjectKind.FREEZE_BEGUN,
        SubjectKind.FREEZE_OVER,
        SubjectKind.OUTCOME_FOLLOWS,
        SubjectKind.WEEKLY,
    }
)
"""What isn't posted once it is over, or after a week in which nothing happened."""


def _may_say_nothing(delivery: Delivery, live: LiveMessage | None) -> bool:
    """Whether having no message is no fault; `live`: whose first post it is."""
    if live is not None and live.subject.kind in NOT_POSTED_ONCE_CLOSED:
        return True
    return delivery.subject.kind in MAY_SAY_NOTHING or delivery.kind == REMINDER_POST


@dataclass(slots=True)
class SendResult:
    """The next state of a delivery, and of those behind it that are `given_back`."""

    after: Delivery
    is_suspended: bool = False  #: Slack refuses posts to its channel
    is_complete: bool = True  #: it was posted with its buttons
    given_back: Sequence[Delivery] = ()
    shown: int = 0  #: the state of its subject that the post of a live message shows
    content_hash: str | None = None  #: of that message
    following: Delivery | None = None  #: the delivery to send next
    #: the `ts` of its thread's first message, if that is gone and the post stands in the channel
    replaces: str | None = None


SENDS_REMEMBERED = 3000
"""How many of its own posts a process remembers: as many as Slack takes in ten minutes."""


@dataclass(slots=True)
class Sender:
    """Takes a claimed delivery to its next state, with one request to Slack."""

    poster: ChannelPoster
    clock: Clock
    wake: Wake
    jitter: Callable[[], float]
    metrics: Metrics
    pace: Pace = field(default_factory=Pace)
    concurrency: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(REQUESTS_AT_ONCE)
    )
    ending: asyncio.Event = field(default_factory=asyncio.Event)
    #: when this process sent the posts that Slack may have accepted, by delivery
    sent: dict[str, datetime] = field(default_factory=dict)
    most_remembered: int = SENDS_REMEMBERED
    #: when it took over. Only one process posts at a time, so posts of other processes are older.
    taken_over_at: datetime | None = None
    token: int | None = None

    def see_lease(self, lease: Lease, now: datetime) -> None:
        """A new token means that other processes may have posted, or that this one just started."""
        if lease.token != self.token:
            self.token = lease.token
            self.taken_over_at = now

    async def attempt(self, delivery: Delivery, claim: Claim) -> SendResult:
        async with self.concurrency:
            now = self.clock.now()
            if now >= claim.send_until or self.ending.is_set():
                return SendResult(deliveries.given_back(delivery, now))
            # In doubt if this process sent it, even if the database doesn't know.
            sent_at = delivery.progress.attempted_at or self.sent.get(delivery.delivery_id)
            delivery = deliveries.attempted(delivery, sent_at)
            if sent_at is not None:
                return await self._look_up(delivery, claim)
            root = claim.root_of(delivery)
            is_shown_there = (
                root is not None and not root.is_lost and delivery.kind in SHOWN_BY_ROOTS
            )
            if root is not None and root.message_ts is not None and is_shown_there:
                return SendResult(deliveries.shown_by(delivery, root.message_ts, now))
            message = claim.messages.get(delivery.delivery_id)
            if message is not None:
                return await self._first(delivery, message, claim)
            if _may_say_nothing(delivery, claim.posted_by(delivery)):
                code = "nothing_to_say"
                logger.info("nothing to post", extra=claim.log_fields(code, delivery))
            else:
                code = "subject_missing"
                logger.error("nothing to post", extra=claim.log_fields(code, delivery))
            return SendResult(deliveries.failed(delivery, code, now))

    async def _first(self, delivery: Delivery, message: Message, claim: Claim) -> SendResult:
        """Post a delivery that was never sent, according to the database.

        A restored database may have lost a post of another process: look for it first.
        """
        happened_at = message.happened_at or message.since or delivery.created_at
        since = min(delivery.created_at, happened_at)
        until = self.taken_over_at
        if until is not None and since < until:
            try:
                found = await self._find(delivery, claim, since, until)
            except PostRefused:
                # Databases go back rarely: if the history can't be read, post anyway.
                found = None
            except PostError as error:
                logger.info(
                    "history not read", extra=claim.log_fields("lookup_failed", delivery, error)
                )
                return self._postponed(delivery, error)
            if found is not None:
                return found
        now = self.clock.now()
        if now >= claim.send_until:
            return SendResult(deliveries.given_back(delivery, now))
        is_urgent = delivery.urgent or delivery.kind == EventKind.FAILURE
        wait = self.pace.wait(delivery.channel_id, now, urgent=is_urgent)
        if wait:
            self.wake(wait.total_seconds())
            return SendResult(deliveries.given_back(delivery, now + wait))
        return await self._post(delivery, message, claim)

    async def _find(
        self, delivery: Delivery, claim: Claim, since: datetime, until: datetime | None = None
    ) -> SendResult | None:
        """Its outcome, if Slack's history has it. Raises PostError."""
        thread_ts = claim.thread_of(delivery)
        ts = await self.poster.find(
            delivery.channel_id, delivery.delivery_id, since, thread_ts, until
        )
        if ts is None:
            return None
        logger.info("post found in the history", extra=claim.log_fields("post_found", delivery))
        return SendResult(deliveries.delivered(delivery, ts, self.clock.now()))

    async def _look_up(self, delivery: Delivery, claim: Claim) -> SendResult:
        """Look for a post whose outcome is unknown."""
        try:
            found = await self._find(delivery, claim, delivery.earliest_post)
        except PostError as error:
            outcome = self._not_read(delivery, error, claim)
        else:
            if found is not None:
                return found
            outcome = SendResult(deliveries.not_found(delivery, self.clock.now()))
            if outcome.after.progress.state is DeliveryState.PENDING:
                self.sent.pop(delivery.delivery_id, None)
        if outcome.after.progress.state is DeliveryState.FAILED:
            logger.error("post given up", extra=claim.log_fields("given_up", delivery))
        return outcome

    def _not_read(self, delivery: Delivery, error: PostError, claim: Claim) -> SendResult:
        """Retry the lookup when Slack says so; in a suspended channel, only with its retries."""
        level = logging.INFO if isinstance(error, PostPostponed) else logging.WARNING
        logger.log(
            level, "history not read", extra=claim.log_fields("lookup_failed", delivery, error)
        )
        now = self.clock.now()
        if error.refusal is Refusal.PERSON or error.code == NOT_GRANTED:
            return SendResult(deliveries.failed(delivery, error.code, now))
        is_refused = error.refusal is not None and error.refusal not in OF_THE_CHANNEL
        if is_refused and now - delivery.earliest_post > HISTORY_REFUSED:
            return SendResult(deliveries.failed(delivery, error.code, now))
        is_suspended = error.refusal is Refusal.CHANNEL and error.code != NOT_A_MEMBER
        return self._postponed(delivery, error, is_suspended=is_suspended)

    def _postponed(
        self, delivery: Delivery, error: PostError, *, is_suspended: bool = False
    ) -> SendResult:
        wait = SUSPENDED_RETRY.total_seconds() if is_suspended else error.retry_after
        jitter = 0 if is_suspended else self.jitter()
        now = self.clock.now()
        after = deliveries.postponed(delivery, error.code, now=now, retry_after=wait, jitter=jitter)
        return SendResult(after, is_suspended)

    async def _post(self, delivery: Delivery, message: Message, claim: Claim) -> SendResult:
        sent_at = self.clock.now()
        if delivery.progress.times_absent >= PLAIN_AFTER and message.blocks:
            # Perhaps Slack fails because of its blocks.
            logger.error(
                "sent as plain text, without its blocks",
                extra=claim.log_fields("plain_text", delivery),
            )
            message = replace(message, blocks=())
        self.sent[delivery.delivery_id] = sent_at
        if len(self.sent) > self.most_remembered:
            del self.sent[next(iter(self.sent))]
        root = claim.thread_of(delivery)
        # Failures, reminders and ends also go to the channel: few people follow the thread.
        thread = Thread(root, delivery.kind in ALSO_TO_CHANNEL) if root is not None else None
        try:
            sent = await self._send(delivery, message, thread, claim)
        except PostInDoubt as error:
            logger.warning(
                "post in doubt", extra=claim.log_fields("post_in_doubt", delivery, error)
            )
            doubted = deliveries.attempted(delivery, sent_at)
            return SendResult(deliveries.in_doubt(doubted, error.code, self.clock.now()))
        except PostError as error:
            self.sent.pop(delivery.delivery_id, None)
            return self._not_posted(delivery, error, claim)
        if sent.is_alone:
            logger.info(
                "posted without its thread, which was deleted",
                extra=claim.log_fields("posted_alone", delivery),
            )
        now = self.clock.now()
        # Waiting for a digest is not a delay.
        if message.since is not None and not delivery.waits_for_digest:
            delay = (now - message.since).total_seconds()
            # The service's clock may be ahead of the bot's.
            self.metrics.event_to_post.observe(max(0.0, delay))
        fields = {**claim.log_fields("posted", delivery), "ts": sent.ts}
        logger.info("posted", extra=fields)
        return SendResult(
            deliveries.delivered(delivery, sent.ts, now),
            is_complete=sent.is_complete,
            replaces=root if sent.is_alone else None,
        )

    async def _send(
        self, delivery: Delivery, message: Message, thread: Thread | None, claim: Claim
    ) -> Sent:
        """Post the message in any form that Slack accepts.

        If it refuses the blocks, send the text alone; if the thread is gone, post to the channel.
        """
        channel_id = delivery.channel_id
        try:
            return await self.poster.post(channel_id, message, delivery.delivery_id, thread)
        except PostRefused as error:
            if error.refusal is Refusal.THREAD and thread is not None:
                logger.info(
                    "the thread was deleted", extra=claim.log_fields("thread_gone", delivery, error)
                )
                self._require_time(claim)
                sent = await self._send(delivery, message, None, claim)
                return sent._replace(is_alone=True)
            if error.refusal is Refusal.MESSAGE and message.blocks:
                fields = claim.log_fields("blocks_refused", delivery, error)
                logger.exception("blocks refused", extra=fields)
                message = Message(message.text, updates=message.updates)
            else:
                raise
        self._require_time(claim)
        return await self._send(delivery, message, thread, claim)

    def _require_time(self, claim: Claim) -> None:
        if self.clock.now() >= claim.at + LAST_REPEAT:
            raise PostPostponed("refused_late")

    def _not_posted(self, delivery: Delivery, error: PostError, claim: Claim) -> SendResult:
        if error.refusal is None:
            logger.info("post postponed", extra=claim.log_fields("post_postponed", delivery, error))
            return self._postponed(delivery, error)
        # A person who has left, or can't be messaged, is not a problem an operator can fix.
        level = logging.INFO if error.refusal is Refusal.PERSON else logging.ERROR
        fields = claim.log_fields("post_refused", delivery, error)
        if error.refusal is Refusal.CHANNEL:
            channel_id = delivery.channel_id
            fields["fix"] = f"invite the bot there, or run: mqbot unsubscribe {channel_id}"
        logger.log(level, "post refused", extra=fields)
        if error.refusal in OF_THE_CHANNEL:
            return self._postponed(delivery, error, is_suspended=True)
        return SendResult(deliveries.failed(delivery, error.code, self.clock.now()))
