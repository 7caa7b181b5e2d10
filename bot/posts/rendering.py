"""Renders deliveries and live messages when they are sent. The subjects' `posts` say how."""

import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple, TypeVar

from bot.blocks import explain
from bot.blocks.message import Message
from bot.kernel.errors import BotError
from bot.posts.claim import Claim, is_first_post
from bot.posts.delivery import Delivery, SubjectKind
from bot.posts.live_message import NOT_POSTED_ONCE_CLOSED, LiveKind, LiveSubject
from bot.posts.live_messages import LiveMessages
from bot.store.engines import as_store_errors
from bot.store.lease_values import Lease
from bot.store.transaction import Transaction

logger = logging.getLogger(__name__)

RenderPost = Callable[[Transaction, Delivery, Claim], Message | None]
"""The post for a delivery; None if there is nothing left to say."""

RenderLiveMessage = Callable[[Transaction, LiveSubject], Message | None]
"""A live message as it is to look now; None if what it shows is gone from the store."""

_Key = TypeVar("_Key")


SAYS_WHEN = timedelta(minutes=15)
"""A post about something that happened longer ago says when: the bot, or Slack, was away."""


def says_when(post: Message, now: datetime) -> Message:
    """The post, with the time of the event that it is about if that was long ago."""
    if post.since is None or now - post.since <= SAYS_WHEN:
        return post
    return explain.late(post, post.since)


class RenderedMessages(NamedTuple):
    """The content of live messages."""

    messages: Mapping[LiveSubject, Message]  #: not of subjects that are gone from the store
    failed: int  #: how many could not be rendered


@dataclass(frozen=True, slots=True)
class Renderers:
    """One function for each kind of post and of live message."""

    posts: Mapping[SubjectKind, RenderPost]
    live_messages: Mapping[LiveKind, RenderLiveMessage]
    #: for a post that stands for several, at the time when it is sent
    summary: Callable[[Transaction, Delivery, datetime], Message]
    when_posted: Callable[[Transaction, Delivery, str | None], None]
    """Called with a delivery that was just posted, and the hash of its message."""

    def render_claim(
        self, transaction: Transaction, claimed: Sequence[Delivery], now: datetime, lease: Lease
    ) -> Claim:
        """Render the deliveries as of now; one that can't be rendered becomes plain text.

        Raises StoreError only.
        """
        live = {delivery.subject.subject_id for delivery in claimed if is_first_post(delivery)}
        live |= {delivery.root_id for delivery in claimed if delivery.root_id is not None}
        claim = Claim(claimed, now, lease, dict(LiveMessages(transaction).get(live)))
        for delivery in claimed:
            message: Message | None = None
            fields = claim.log_fields("not_rendered", delivery)
            with _guarded(claim.failed, delivery.delivery_id, fields):
                message = self._post(transaction, delivery, claim)
            if delivery.delivery_id in claim.failed:
                message = explain.unrendered(
                    delivery.subject.repository, delivery.kind, updates=delivery.summarizes + 1
                )
            if message is not None:
                claim.messages[delivery.delivery_id] = message
        return claim

    def _post(self, transaction: Transaction, delivery: Delivery, claim: Claim) -> Message | None:
        if delivery.summarizes:
            return self.summary(transaction, delivery, claim.at)
        if is_first_post(delivery):
            return self._first_post(transaction, delivery, claim)
        return self.posts[delivery.subject.kind](transaction, delivery, claim)

    def _first_post(
        self, transaction: Transaction, delivery: Delivery, claim: Claim
    ) -> Message | None:
        live = claim.live.get(delivery.subject.subject_id)
        if live is None or (live.closed and live.subject.kind in NOT_POSTED_ONCE_CLOSED):
            return None
        message = self.live_messages[live.subject.kind](transaction, live.subject)
        return says_when(message, claim.at) if message is not None else None

    def render(
        self, transaction: Transaction, subjects: Collection[LiveSubject]
    ) -> RenderedMessages:
        """Render the messages as they are to look now. Raises StoreError."""
        messages: dict[LiveSubject, Message] = {}
        failed: set[LiveSubject] = set()
        for subject in dict.fromkeys(subjects):
            fields = {"kind": subject.kind, "repository": subject.repository, "key": subject.key}
            with _guarded(failed, subject, fields):
                message = self.live_messages[subject.kind](transaction, subject)
                if message is not None:
                    messages[subject] = message
        return RenderedMessages(messages, len(failed))


@contextmanager
def _guarded(failed: set[_Key], key: _Key, fields: Mapping[str, object]) -> Iterator[None]:
    """Log a defect and add the key to those that failed, so that the others go on.

    Raises StoreError.
    """
    try:
        with as_store_errors():
            yield
    except BotError:
        raise
    except Exception:
        logger.exception("message not rendered", extra={"action": "not_rendered", **fields})
        failed.add(key)
