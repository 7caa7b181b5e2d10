"""The life of a delivery: one subject, posted once to one channel."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID, uuid5

from bot.kernel.pacing import retry_delay
from bot.kernel.repository import RepositoryName
from bot.log.classification import EventKind
from bot.slack.ports import SURELY_SHOWN

MAXIMUM_AGE = timedelta(days=7)
"""Deliveries fail after this long without a post."""


RECHECK_DELAYS = (timedelta(seconds=2), timedelta(seconds=5), timedelta(seconds=10))
"""The waits between lookups before a post counts as absent; the history may lag."""


HISTORY_LOOKUPS = len(RECHECK_DELAYS)


PLAIN_AFTER = 5
"""After this many attempts without a clear answer, the message is sent as plain text."""


LATEST_DUE = timedelta(minutes=15)
"""A delivery due later than this, except for a digest, has its time from a wrong clock: it is due
now."""


class DeliveryState(StrEnum):
    """States of a delivery; `DELIVERED`, `FAILED` and `SUMMARIZED` are final."""

    PENDING = "pending"
    SENDING = "sending"
    IN_DOUBT = "in_doubt"
    DELIVERED = "delivered"
    FAILED = "failed"
    SUMMARIZED = "summarized"
    """Shown by another message of its channel: a summary, or the first message of its thread."""

    @property
    def is_settled(self) -> bool:
        return self in SETTLED


UNSUBSCRIBED = "unsubscribed"
"""Waited for a digest and was dropped: its channel is no longer subscribed to the repository."""


SETTLED = frozenset({DeliveryState.DELIVERED, DeliveryState.FAILED, DeliveryState.SUMMARIZED})


class SubjectKind(StrEnum):
    """What a delivery is about; in brackets, what its `subject_id` refers to.

    Posted to channels, unless a kind says that one person gets it.
    """

    EVENT = "event"  #: an event (its id in the log)
    ACT = "act"  #: an act made through this bot (its audit record)
    #: an act on a group (the act, under the name of its first repository)
    GROUP = "group"
    LIVE_MESSAGE = "live_message"  #: the first post of a live message (the live message)
    LIVE_MESSAGE_AGAIN = "live_message_again"  #: its replacement (the live message)
    PAUSE_END = "pause_end"  #: the end of a pause (that end)
    STILL_PAUSED = "still_paused"  #: the correction of a wrongly posted end (that end)
    #: a change of a pause that no event has told of yet (the pause's line before it)
    PAUSE_CHANGED = "pause_changed"
    ADOPTED = "adopted"  #: the planned end of a pause isn't known (the pause record)
    #: for one person: somebody replaced their pause (the audit record)
    REPLACED = "replaced"
    #: for one person: somebody replaced their pause, or the pause whose end they had set, outside
    #: the bot (the line before it)
    REPLACED_ELSEWHERE = "replaced_elsewhere"
    #: for one person: the log names somebody else for the pause whose end they had set (the pause
    #: record)
    END_VOID = "end_void"
    #: for one person: a pause ended that they made or asked to be notified of (that end)
    RESUMED = "resumed"
    #: for one person: such a pause ended as the last of a group (that end)
    GROUP_RESUMED = "group_resumed"
    #: for one person: the first reminder of a pause (the pause record)
    REMINDER = "reminder"
    ESCALATION = "escalation"  #: nobody answers the reminders of a pause (the pause record)
    OUTAGE = "outage"  #: an outage (the outage, under the name of its first repository)
    OUTAGE_OVER = "outage_over"  #: its end (likewise)
    SLACK_OUTAGE_OVER = "slack_outage_over"  #: the end of an outage of Slack (that outage)
    ALERT_CAUSE = "alert_cause"  #: a cause that an alert hasn't named before (that cause)
    ALERT_OVER = "alert_over"  #: the end of an alert (the alert)
    #: a freeze begins soon (the event that gave it its terms)
    FREEZE_ANNOUNCED = "freeze_announced"
    FREEZE_BEGUN = "freeze_begun"  #: its start (likewise)
    FREEZE_OVER = "freeze_over"  #: its end (likewise)
    WEEKLY = "weekly"  #: the statistics of a week (the ordinal number of its Monday)
    #: for one person, or the channel where they expect it: the outcome of a request that was cut
    #: off (its row)
    OUTCOME = "outcome"
    #: the same, while the outcome isn't known yet (its row)
    OUTCOME_FOLLOWS = "outcome_follows"


REMINDER_POST = "reminder"
"""The kind of a reminder's first post: in a card's thread, it also shows in the channel."""


END_POST = "end"
"""The kind of a post that a pause is over: in its card's thread, it also shows in the channel."""


POSTS_OF_LIVE_MESSAGES = frozenset({SubjectKind.LIVE_MESSAGE, SubjectKind.LIVE_MESSAGE_AGAIN})


@dataclass(frozen=True, slots=True)
class Subject:
    """A reference to what a delivery is about; see `SubjectKind` for the id."""

    kind: SubjectKind
    repository: RepositoryName
    subject_id: int


_DELIVERIES = UUID("6f9e0c1c-2f0b-4a55-9d4e-6f0d6b1f7a3e")


def delivery_id(channel_id: str, subject: Subject, identity: str) -> str:
    """The id of the delivery of one subject to one channel or person.

    `identity` distinguishes the subject from others of its kind in the repository, also in a
    restored database: an event's id, or the time and person of an act. Row numbers don't, because
    a restored database assigns them again.
    """
    name = f"{channel_id}\n{subject.repository}\n{subject.kind}\n{identity}"
    return uuid5(_DELIVERIES, name).hex


def following_id(taken: str) -> str:
    """Another id for a delivery whose own id belongs to another subject."""
    return uuid5(_DELIVERIES, taken).hex


def summary_id(first: str, last: str) -> str:
    """The id of the summary from the first to the last of these deliveries.

    It differs from the first one's id: if a restored database summarizes other deliveries, neither
    the old summary nor a post about the first one counts as the new summary.
    """
    return uuid5(_DELIVERIES, f"{first}\n{last}").hex


@dataclass(frozen=True, slots=True)
class NewDelivery:
    """A delivery to add to the outbox; unique by (channel, subject)."""

    delivery_id: str
    channel_id: str
    subject: Subject
    due_at: datetime
    #: use the channel's urgent queue, so that a pause doesn't wait behind a backlog
    urgent: bool = False
    kind: str | None = None  #: what a summary counts it as
    root_id: int | None = None  #: the live message whose thread it goes to
    digest_at: datetime | None = None  #: send it then, together with the rest of that digest
    #: the summary, added before it in the same transaction, that covers it
    summarized_by: str | None = None
    summarizes: int = 0  #: how many other deliveries it covers


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the sending of a delivery has come."""

    #: when to claim it; while it is being sent, the end of its claim
    due_at: datetime
    state: DeliveryState = DeliveryState.PENDING
    attempts: int = 0  #: number of claims
    #: the time of the oldest request with an unknown outcome, stored before sending; None when
    #: every earlier request is known not to have posted
    attempted_at: datetime | None = None
    #: lookups in Slack's history that didn't find it, a multiple of `HISTORY_LOOKUPS` each time the
    #: post counts as absent
    lookups: int = 0
    failures: int = 0  #: failed claims since Slack last answered, even if only with a wait
    message_ts: str | None = None  #: of the message in Slack that shows it
    error: str | None = None  #: the code of the last failure
    settled_at: datetime | None = None  #: None until it is delivered, failed or summarized
    #: the one that claimed it last, by the name under which it takes leases
    process: str | None = None

    @property
    def times_absent(self) -> int:
        """The number of attempts in a row without a clear answer or a find in the history."""
        return self.lookups // HISTORY_LOOKUPS


@dataclass(frozen=True, slots=True)
class Delivery:
    """A delivery in the outbox."""

    delivery_id: str
    channel_id: str
    subject: Subject
    #: its order in the channel's ordinary or urgent queue, or among those waiting for its digest
    sequence: int
    created_at: datetime
    progress: Progress
    urgent: bool = False
    waits_for_digest: bool = False  #: of its channel, a summary at a time of day
    kind: str | None = None
    summarizes: int = 0  #: how many other deliveries it covers as a summary
    root_id: int | None = None

    @property
    def earliest_post(self) -> datetime:
        """Before then Slack can't have got it."""
        return self.progress.attempted_at or self.created_at


def is_due(delivery: Delivery, now: datetime) -> bool:
    """Whether it may be claimed."""
    due_at = delivery.progress.due_at
    if now < due_at <= now + LATEST_DUE:
        return False
    return due_at <= now or not delivery.waits_for_digest


def sending(delivery: Delivery, until: datetime, process: str | None) -> Delivery:
    """Claimed by that process until then."""
    progress = replace(
        delivery.progress,
        state=DeliveryState.SENDING,
        attempts=delivery.progress.attempts + 1,
        due_at=until,
        process=process,
    )
    return replace(delivery, progress=progress)


def attempted(delivery: Delivery, at: datetime | None) -> Delivery:
    """It may have been posted since then; surely not if None."""
    return replace(delivery, progress=replace(delivery.progress, attempted_at=at))


def delivered(delivery: Delivery, message_ts: str, now: datetime) -> Delivery:
    progress = replace(
        delivery.progress,
        state=DeliveryState.DELIVERED,
        message_ts=message_ts,
        error=None,
        settled_at=now,
    )
    return replace(delivery, progress=progress)


def shown_by(delivery: Delivery, message_ts: str, now: datetime) -> Delivery:
    """Delivered by another message: its thread's first one, with a stored edit."""
    progress = delivered(delivery, message_ts, now).progress
    return replace(delivery, progress=replace(progress, state=DeliveryState.SUMMARIZED))


def failed(delivery: Delivery, code: str, now: datetime) -> Delivery:
    progress = replace(delivery.progress, state=DeliveryState.FAILED, error=code, settled_at=now)
    return replace(delivery, progress=progress)


def given_back(delivery: Delivery, due_at: datetime) -> Delivery:
    """A delivery claimed but not sent, as it was before the claim."""
    in_doubt = delivery.progress.attempted_at is not None
    state = DeliveryState.IN_DOUBT if in_doubt else DeliveryState.PENDING
    return replace(delivery, progress=replace(delivery.progress, state=state, due_at=due_at))


def postponed(
    delivery: Delivery, code: str, *, now: datetime, retry_after: float | None, jitter: float
) -> Delivery:
    """Not posted, or still in doubt because the history can't be read: retry later.

    Never post blindly. Failed when older than MAXIMUM_AGE, because nobody can ever check a channel
    that is gone.
    `retry_after`: Slack's wait in seconds.
    `jitter`: between 0 and 1.
    """
    if now - delivery.created_at > MAXIMUM_AGE:
        return failed(delivery, code, now)
    before = delivery.progress
    failures = before.failures + 1 if retry_after is None else 0
    wait = retry_delay(failures, hint=retry_after, jitter=jitter)
    back = given_back(delivery, now + timedelta(seconds=wait)).progress
    lookups = before.lookups if before.attempted_at is not None else 0
    progress = replace(back, failures=failures, error=code, lookups=lookups)
    return replace(delivery, progress=progress)


def in_doubt(delivery: Delivery, code: str, now: datetime) -> Delivery:
    """May have been posted: check the channel's history after a short wait."""
    progress = replace(
        delivery.progress,
        state=DeliveryState.IN_DOUBT,
        due_at=now + RECHECK_DELAYS[0],
        lookups=delivery.progress.times_absent * HISTORY_LOOKUPS,
        error=code,
    )
    return replace(delivery, progress=progress)


def not_found(delivery: Delivery, now: datetime) -> Delivery:
    """Not in the history: check again, or post again once it has had time to show up.

    The first repeat is immediate, later waits double. Failed when older than MAXIMUM_AGE.
    """
    progress = replace(delivery.progress, failures=0)
    delivery = replace(delivery, progress=progress)
    lookups = progress.lookups + 1
    attempted_at = progress.attempted_at
    is_fresh = attempted_at is None or now - attempted_at < SURELY_SHOWN
    if is_fresh and lookups % HISTORY_LOOKUPS:
        due_at = now + RECHECK_DELAYS[lookups % HISTORY_LOOKUPS]
        progress = replace(progress, state=DeliveryState.IN_DOUBT, lookups=lookups, due_at=due_at)
        return replace(delivery, progress=progress)
    if now - delivery.created_at > MAXIMUM_AGE:
        return failed(delivery, progress.error or "not_found", now)
    before = progress.times_absent
    wait = retry_delay(before, hint=None, jitter=1.0) if before else 0.0
    progress = replace(
        progress,
        state=DeliveryState.PENDING,
        attempted_at=None,
        lookups=(before + 1) * HISTORY_LOOKUPS,
        due_at=now + timedelta(seconds=wait),
    )
    return replace(delivery, progress=progress)


@dataclass(frozen=True, slots=True)
class LateMessages:
    """How many messages of a channel wait for Slack; `repository` is of one of them."""

    channel_id: str
    repository: RepositoryName
    count: int


@dataclass(frozen=True, slots=True)
class SummaryContent:
    """What a summary covers: counts per repository and kind, and the time of the first."""

    counts: Mapping[tuple[RepositoryName, str | None], int]
    oldest_created_at: datetime
    subjects: Sequence[Subject]  #: the latest failures among them, at most ten, oldest first


ENDS_IN_QUEUE = frozenset({EventKind.MERGE, EventKind.FAILURE, EventKind.DEQUEUE})


SHOWN_BY_ROOTS = ENDS_IN_QUEUE - {EventKind.FAILURE}
"""Ends shown by the last edit of a thread's first message; a failure is also broadcast."""
