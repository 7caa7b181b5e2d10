"""The life of a delivery: one subject to one channel, posted once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID, uuid5

from bot.domain.pacing import retry_delay
from bot.domain.repository import RepositoryName
from bot.domain.values import value

MAXIMUM_AGE = timedelta(days=7)
"""Deliveries that could not be posted for this long are given up (UX, "When things are wrong")."""

RECHECK_DELAYS = (timedelta(seconds=2), timedelta(seconds=5), timedelta(seconds=10))
"""A post may show in Slack's history late: waits between looks before it counts as absent."""

SURELY_SHOWN = timedelta(seconds=30)
"""A post whose attempt is older shows by now, so that one look is enough."""

LOOKS = len(RECHECK_DELAYS)

PLAIN_AFTER = 5
"""Sent so often without a clear answer, and never found: the next time it goes as plain text."""


LATEST_DUE = timedelta(minutes=15)
"""Nothing but a digest is put off for so long: what is due later has its time from a clock that was
wrong, and is due now."""

PEOPLE = ("U", "W")
"""What the ids of people begin with."""


class DeliveryState(StrEnum):
    """The states of the delivery state machine; `DELIVERED`, `FAILED`, `SUMMARIZED` are settled."""

    PENDING = "pending"
    SENDING = "sending"
    IN_DOUBT = "in_doubt"
    DELIVERED = "delivered"
    FAILED = "failed"
    SUMMARIZED = "summarized"
    """Told by another delivery of its channel, a summary, whose fate it shares."""

    @property
    def is_settled(self) -> bool:
        return self in SETTLED


NOT_HEARD = "not_heard_any_more"
"""What waited for a digest is dropped when its channel does not hear of the repository any more."""

SETTLED = frozenset({DeliveryState.DELIVERED, DeliveryState.FAILED, DeliveryState.SUMMARIZED})


class SubjectKind(StrEnum):
    """What a delivery tells.

    An event of the log (`subject_id`: its id in the repository), an act made through this bot (its
    audit record), one on a group of repositories (the act on the group, under the name of its
    first repository), the first post of a live message, and the one that
    takes its place (the live message), the end of a pause, or that a pause is
    not over although its end was posted (its pause record).
    To one person: that another's act replaced their pause (its audit record), that it was replaced
    elsewhere (the pause record of what is in its place), or that a pause ended which they had begun
    or had asked to hear of, alone or as the last of a group's (its pause record). A reminder that a
    pause goes on has an id of its own, which says of which pause. An outage, and its end (under the
    name of its first repository). An alert about a queue, and its end.
    """

    EVENT = "event"
    ACT = "act"
    GROUP = "group"
    LIVE_MESSAGE = "live_message"
    LIVE_MESSAGE_AGAIN = "live_message_again"
    PAUSE_END = "pause_end"
    STILL_PAUSED = "still_paused"
    REPLACED = "replaced"
    REPLACED_ELSEWHERE = "replaced_elsewhere"
    RESUMED = "resumed"
    GROUP_RESUMED = "group_resumed"
    REMINDER = "reminder"
    OUTAGE = "outage"
    OUTAGE_OVER = "outage_over"
    ALERT = "alert"
    ALERT_OVER = "alert_over"


POSTS_OF_LIVE_MESSAGES = frozenset({SubjectKind.LIVE_MESSAGE, SubjectKind.LIVE_MESSAGE_AGAIN})


@value(frozen=True, slots=True)
class Subject:
    """A reference to what is told; `SubjectKind` says what the id is of."""

    kind: SubjectKind
    repository: RepositoryName
    subject_id: int


_DELIVERIES = UUID("6f9e0c1c-2f0b-4a55-9d4e-6f0d6b1f7a3e")


def delivery_id(channel_id: str, subject: Subject, identity: str) -> str:
    """The id of the delivery of one subject to one channel or person.

    `identity` tells the subject from all others of its kind in the repository, and is the same in
    a database that was restored: an event's id, the time and person of an act. Row numbers are
    not: after a restore the database gives the same number to something else.
    """
    name = f"{channel_id}\n{subject.repository}\n{subject.kind}\n{identity}"
    return uuid5(_DELIVERIES, name).hex


def following_id(taken: str) -> str:
    """The id of a delivery whose own id belongs to another subject."""
    return uuid5(_DELIVERIES, taken).hex


def summary_id(first: str, last: str) -> str:
    """The id of what tells all from the first of these deliveries to the last.

    Not that of the first: where a restored database summarizes others, the message in the channel
    does not count as the new summary, nor one about the first alone.
    """
    return uuid5(_DELIVERIES, f"{first}\n{last}").hex


@value(frozen=True, slots=True)
class NewDelivery:
    """A delivery to add to the outbox; unique by (channel, subject).

    `urgent` ones have a line of their own in each channel, so that a person who pauses a queue
    does not wait behind a backlog of events. `kind` is what a summary counts it as. `root_id` is
    the live message in whose thread it is told. `digest_at`: it waits until then, in a queue of
    its own with all that is told by the same digest. `summarized_by` is the one, added before it
    and with it, that tells it as well; `summarizes` is how many others this one tells.
    """

    delivery_id: str
    channel_id: str
    subject: Subject
    due_at: datetime
    urgent: bool = False
    kind: str | None = None
    root_id: int | None = None
    digest_at: datetime | None = None
    summarized_by: str | None = None
    summarizes: int = 0


@value(frozen=True, slots=True)
class Delivery:
    """A delivery in the outbox.

    `sequence` gives the order within the channel's line, the ordinary or the urgent one, or the
    one that waits for the `digest`.
    `attempts` counts claims, `failures` those that failed since Slack last answered, if only
    that it wants to be asked later. `summarizes` is how many
    others this one tells as well: it is a summary then. `attempted_at` is the time of the oldest
    request whose outcome is not known, stored before it is sent; None when every earlier request
    is known not to have posted. `looks` counts the looks into the channel's history that did not
    find it; it becomes a multiple of `LOOKS` each time the post counts as absent.
    """

    delivery_id: str
    channel_id: str
    subject: Subject
    sequence: int
    created_at: datetime
    due_at: datetime
    state: DeliveryState = DeliveryState.PENDING
    attempts: int = 0
    attempted_at: datetime | None = None
    looks: int = 0
    message_ts: str | None = None
    error: str | None = None
    settled_at: datetime | None = None
    failures: int = 0
    urgent: bool = False
    kind: str | None = None
    summarizes: int = 0
    root_id: int | None = None
    digest: bool = False

    @property
    def times_absent(self) -> int:
        """How often in a row it was sent without a clear answer and then not found."""
        return self.looks // LOOKS


def is_due(delivery: Delivery, now: datetime) -> bool:
    """Whether it may be claimed."""
    if now < delivery.due_at <= now + LATEST_DUE:
        return False
    return delivery.due_at <= now or not delivery.digest


def delivered(delivery: Delivery, message_ts: str, now: datetime) -> Delivery:
    return replace(
        delivery,
        state=DeliveryState.DELIVERED,
        message_ts=message_ts,
        error=None,
        settled_at=now,
    )


def given_back(delivery: Delivery, due_at: datetime) -> Delivery:
    """Claimed but not tried: as it was before the claim."""
    in_doubt = delivery.attempted_at is not None
    state = DeliveryState.IN_DOUBT if in_doubt else DeliveryState.PENDING
    return replace(delivery, state=state, due_at=due_at)


def failed(delivery: Delivery, code: str, now: datetime) -> Delivery:
    return replace(delivery, state=DeliveryState.FAILED, error=code, settled_at=now)


def postponed(
    delivery: Delivery, code: str, *, now: datetime, retry_after: float | None, jitter: float
) -> Delivery:
    """Certainly not posted: pending again, later; given up when older than MAXIMUM_AGE.

    `retry_after` is Slack's own wait in seconds; `jitter` is between 0 and 1.
    """
    if now - delivery.created_at > MAXIMUM_AGE:
        return failed(delivery, code, now)
    failures = delivery.failures + 1 if retry_after is None else 0
    wait = retry_delay(failures, hint=retry_after, jitter=jitter)
    return replace(
        delivery,
        state=DeliveryState.PENDING,
        due_at=now + timedelta(seconds=wait),
        attempted_at=None,
        failures=failures,
        looks=0,
        error=code,
    )


def in_doubt(delivery: Delivery, code: str, now: datetime) -> Delivery:
    """May have been posted: the channel's history decides, after a short wait."""
    return replace(
        delivery,
        state=DeliveryState.IN_DOUBT,
        due_at=now + RECHECK_DELAYS[0],
        looks=delivery.times_absent * LOOKS,
        error=code,
    )


def not_found(delivery: Delivery, now: datetime) -> Delivery:
    """The history does not show it: look again, or post again once it has had time to show.

    Posted again at once the first time, then after waits that double. Given up when older than
    MAXIMUM_AGE.
    """
    delivery = replace(delivery, failures=0)
    looks = delivery.looks + 1
    attempted_at = delivery.attempted_at
    is_fresh = attempted_at is None or now - attempted_at < SURELY_SHOWN
    if is_fresh and looks % LOOKS:
        return replace(
            delivery,
            state=DeliveryState.IN_DOUBT,
            looks=looks,
            due_at=now + RECHECK_DELAYS[looks % LOOKS],
        )
    if now - delivery.created_at > MAXIMUM_AGE:
        return failed(delivery, delivery.error or "not_found", now)
    before = delivery.times_absent
    wait = retry_delay(before, hint=None, jitter=1.0) if before else 0.0
    return replace(
        delivery,
        state=DeliveryState.PENDING,
        attempted_at=None,
        looks=(before + 1) * LOOKS,
        due_at=now + timedelta(seconds=wait),
    )


def look_failed(
    delivery: Delivery,
    code: str,
    *,
    now: datetime,
    jitter: float,
    retry_after: float | None = None,
) -> Delivery:
    """The history could not be read: stay in doubt, look again later. Never post blindly.

    `retry_after` is Slack's own wait in seconds. Given up when older than MAXIMUM_AGE: in a channel
    that is gone nobody will ever know.
    """
    if now - delivery.created_at > MAXIMUM_AGE:
        return failed(delivery, code, now)
    failures = delivery.failures + 1 if retry_after is None else 0
    wait = retry_delay(failures, hint=retry_after, jitter=jitter)
    return replace(
        delivery,
        state=DeliveryState.IN_DOUBT,
        failures=failures,
        due_at=now + timedelta(seconds=wait),
        error=code,
    )


def is_person(address: str) -> bool:
    """Whether a post is addressed to a person, to come to their direct messages with the bot."""
    return address.startswith(PEOPLE)


@dataclass(frozen=True, slots=True)
class SuspendedChannel:
    """A channel that Slack refuses posts to; its head delivery is tried again at `retry_at`."""

    channel_id: str
    code: str
    suspended_at: datetime
    retry_at: datetime


@dataclass(frozen=True, slots=True)
class OutboxSummary:
    """What is not settled: counts, and the creation time of the oldest outside suspended channels.

    `suspended` are those of them for which something waits.
    """

    pending: int
    sending: int
    in_doubt: int
    oldest_created_at: datetime | None
    suspended: Sequence[SuspendedChannel]


@dataclass(frozen=True, slots=True)
class SummaryContent:
    """What a summary tells: how many deliveries of each repository and kind, and since when.

    `subjects` are the latest failures among them, at most ten, oldest first.
    """

    counts: Mapping[tuple[RepositoryName, str | None], int]
    oldest_created_at: datetime
    subjects: Sequence[Subject]
