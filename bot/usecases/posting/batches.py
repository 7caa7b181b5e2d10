"""What is posted of one claim, in which threads, and how it is stored what became of it."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot.domain.classification import EventKind
from bot.domain.deliveries import Delivery, DeliveryState, SubjectKind
from bot.domain.leases import Lease
from bot.domain.message import Message, Thread
from bot.domain.outbox import ParkedChannel
from bot.store.transactions import Transaction
from bot.usecases.posting.render_deliveries import Rendered


@dataclass(frozen=True, slots=True)
class Claim:
    """What was claimed, when and under which lease, and what it says."""

    claimed: Sequence[Delivery]
    rendered: Rendered
    at: datetime
    lease: Lease


@dataclass(frozen=True, slots=True)
class Batch:
    """What was claimed together, and until when it may be sent.

    `revisions`: which state of its card a card's first post says, by the delivery's id. `roots`:
    the first messages of threads, by their cards; those posted meanwhile are added. What was
    refused may be sent in another form until `repeat_until`. `unstored` is set when an outcome
    could not be stored.
    """

    messages: Mapping[str, Message]
    revisions: Mapping[str, int]
    roots: dict[int, str]
    send_until: datetime
    repeat_until: datetime
    unstored: asyncio.Event = field(default_factory=asyncio.Event)


def root_of(delivery: Delivery, batch: Batch) -> str | None:
    """A summary that took the place of a reply tells of more than its thread."""
    if delivery.card_id is None or delivery.folded:
        return None
    return batch.roots.get(delivery.card_id)


def thread_of(delivery: Delivery, batch: Batch) -> Thread | None:
    """A failure is for somebody who may not follow the thread."""
    root = root_of(delivery, batch)
    return Thread(root, delivery.kind == EventKind.FAILURE) if root is not None else None


def more_may_wait(runs: Sequence[Sequence[Delivery]], channels: int, per_channel: int) -> bool:
    """A claim is bounded, and what was tried before may have held back what stands behind it."""
    return len(runs) >= channels or any(
        len(run) >= per_channel or run[0].attempts > 1 or run[0].folded for run in runs
    )


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a claim: first that of what was sent, then what is given back.

    `shown`: which state of its card the first post of a card says. `following` is sent next.
    """

    after: Sequence[Delivery]
    shown: int = 0
    parked: ParkedChannel | None = None
    following: Delivery | None = None


def record_outcome(transaction: Transaction, outcome: Outcome, now: datetime) -> None:
    """In one transaction with the outcome that its `following` is sent next.

    No lease is asked for: whether a claim is still the one that was posted under is known of each
    delivery. What Slack said is true, however late, and what is thrown away has to be looked for.
    Raises LeaseLost when the claim is another's by now.
    """
    first = outcome.after[0]
    # Whoever changes a card and its line takes them in this order.
    _record_card(transaction, first, outcome.shown)
    transaction.outbox.record(outcome.after)
    if outcome.following is not None:
        transaction.outbox.attempt(outcome.following, now)
    if outcome.parked is not None:
        transaction.outbox.park(outcome.parked)
    elif first.state is DeliveryState.DELIVERED:
        transaction.outbox.unpark(first.channel_id)


def _record_card(transaction: Transaction, delivery: Delivery, shown: int) -> None:
    if delivery.folded:
        # A summary that took the place of first posts: their cards have no message. Not when it
        # was folded, with the line locked that whoever changes a card locks after it.
        if delivery.state.is_settled:
            transaction.cards.lose_folded(delivery.delivery_id)
        return
    if delivery.message_ts is not None and delivery.subject.kind is SubjectKind.CARD:
        # One that was found says what was true when it was sent, whenever that was: an edit too
        # many is harmless, one too few is not.
        shown_now = shown if delivery.attempted_at is None else 0
        transaction.cards.posted(delivery.subject.subject_id, delivery.message_ts, shown_now)
