"""Adds the post about an act."""

from collections.abc import Iterable

from bot.acts.record import AuditRecord
from bot.posts.delivery import Subject, SubjectKind
from bot.posts.enqueueing import enqueue_urgent
from bot.store.transaction import Transaction


def post_act(transaction: Transaction, act: AuditRecord, channels: Iterable[str]) -> None:
    """Post one line about a stored act, once in each channel."""
    subject = Subject(SubjectKind.ACT, act.repository, act.record_id)
    enqueue_urgent(transaction, subject, channels, act.at, identity=act.identity)
