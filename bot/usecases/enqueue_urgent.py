"""Deliveries that go ahead of ordinary posts: pauses, alerts, outages."""

from collections.abc import Iterable
from datetime import datetime

from bot.domain.audit import AuditRecord
from bot.domain.deliveries import NewDelivery, Subject, SubjectKind, delivery_id
from bot.store.transactions import Transaction


def enqueue_urgent(
    transaction: Transaction,
    subject: Subject,
    addresses: Iterable[str],
    due_at: datetime,
    *,
    identity: str,
    kind: str | None = None,
) -> int:
    """Add a delivery to the urgent queue of each address; return how many were new.

    `identity`: as in `delivery_id`.
    `kind`: what a summary counts it as.
    """
    return transaction.outbox.add(
        [
            NewDelivery(
                delivery_id(address, subject, identity),
                address,
                subject,
                due_at,
                urgent=True,
                kind=kind,
            )
            for address in sorted(set(addresses))
        ]
    )


def post_act(transaction: Transaction, act: AuditRecord, channels: Iterable[str]) -> None:
    """Post one line about a stored act, once in each channel."""
    subject = Subject(SubjectKind.ACT, act.repository, act.record_id)
    enqueue_urgent(transaction, subject, channels, act.at, identity=act.identity)
