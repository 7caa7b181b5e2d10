"""Store what became of a post."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.domain.deliveries import Delivery, DeliveryState, SubjectKind
from bot.domain.outbox import ParkedChannel
from bot.store.transactions import Transaction


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
