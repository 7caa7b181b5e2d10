"""Deliveries: the first posts of live messages, replies to them, and what goes ahead of others."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from bot.posts.delivery import NewDelivery, Subject, SubjectKind, delivery_id
from bot.posts.live_message import POSTED_FIRST, LiveMessage, LiveSubject
from bot.posts.live_messages import LiveMessages
from bot.posts.outbox import Outbox
from bot.store.transaction import Transaction


def open_live_messages(  # noqa: PLR0913  # four are keywords
    transaction: Transaction,
    subject: LiveSubject,
    channels: Iterable[str],
    now: datetime,
    *,
    identity: str,
    closed: bool = False,
    kind: str | None = None,
    roots: Mapping[str, int] | None = None,
) -> None:
    """Add one that shows the subject to each channel without one.

    `identity` as in `delivery_id`: most subjects have a row number as their key.
    `kind` as in `first_post`; `roots`: by channel, the live message to whose thread it goes.
    """
    first_posts = []
    for channel_id in sorted(set(channels)):
        message_id = LiveMessages(transaction).add(subject, channel_id, now=now, closed=closed)
        if message_id is not None:
            post = first_post(subject, message_id, channel_id, now, identity, kind)
            first_posts.append(replace(post, root_id=(roots or {}).get(channel_id)))
    Outbox(transaction).add(first_posts)


def first_post(
    subject: LiveSubject,
    message_id: int,
    channel_id: str,
    now: datetime,
    identity: str,
    kind: str | None = None,
) -> NewDelivery:
    """The delivery of the first post; `kind` is what a summary counts it as."""
    about = Subject(SubjectKind.LIVE_MESSAGE, subject.repository, message_id)
    new_id = delivery_id(channel_id, about, f"{subject.kind} {identity}")
    is_urgent = subject.kind in POSTED_FIRST
    return NewDelivery(new_id, channel_id, about, now, urgent=is_urgent, kind=kind)


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
    new = [
        _urgent(address, subject, due_at, identity=identity, kind=kind)
        for address in sorted(set(addresses))
    ]
    return Outbox(transaction).add(new)


def reply(
    transaction: Transaction,
    about: Subject,
    roots: Iterable[LiveMessage],
    now: datetime,
    *,
    identity: str,
    kind: str | None = None,
) -> None:
    """Post about something in the threads of live messages; one that begins now shows it itself.

    `identity` and `kind` as in `enqueue_urgent`.
    """
    root_ids = {root.channel_id: root.message_id for root in roots if root.created_at != now}
    replies: list[NewDelivery] = []
    for channel_id, root_id in sorted(root_ids.items()):
        post = _urgent(channel_id, about, now, identity=identity, kind=kind)
        replies.append(replace(post, root_id=root_id))
    Outbox(transaction).add(replies)


def _urgent(
    address: str, subject: Subject, due_at: datetime, *, identity: str, kind: str | None
) -> NewDelivery:
    new_id = delivery_id(address, subject, identity)
    return NewDelivery(new_id, address, subject, due_at, urgent=True, kind=kind)


def post_again(transaction: Transaction, lost: LiveMessage, now: datetime) -> None:
    """Post a replacement, once, for a message that can't be edited any more."""
    LiveMessages(transaction).forget_message(lost.message_id)
    about = Subject(SubjectKind.LIVE_MESSAGE_AGAIN, lost.subject.repository, lost.message_id)
    identity = f"{lost.subject.kind} after {lost.message_ts}"
    new_id = delivery_id(lost.channel_id, about, identity)
    is_urgent = lost.subject.kind in POSTED_FIRST
    again = NewDelivery(new_id, lost.channel_id, about, now, urgent=is_urgent)
    Outbox(transaction).add([again])
