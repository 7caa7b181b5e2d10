"""A delivery that is about to be sent."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.blocks.message import Message
from bot.posts.delivery import POSTS_OF_LIVE_MESSAGES, Delivery
from bot.posts.live_message import LiveMessage
from bot.slack.errors import PostError
from bot.store.lease_values import Lease

LAST_SEND = timedelta(seconds=8)
"""Nothing starts later than this after the claim.

Reading the address takes seven seconds at most, a request ten. So it is over before another
process may consider the claim abandoned and look up the message.
"""


@dataclass(slots=True)
class Claim:
    """Deliveries claimed together: when, under which lease, and a message for each, by its id.

    There is no message if its subject is gone or over.
    """

    claimed: Sequence[Delivery]
    at: datetime
    lease: Lease
    #: the live messages that the deliveries post, or to whose threads they go, by id
    live: dict[int, LiveMessage]
    messages: dict[str, Message] = field(default_factory=dict)
    #: the deliveries whose message is plain text because of a defect
    failed: set[str] = field(default_factory=set)

    @property
    def send_until(self) -> datetime:
        return self.at + LAST_SEND

    def root_of(self, delivery: Delivery) -> LiveMessage | None:
        """The first message of its thread; a summary that replaced a reply goes to the channel."""
        if delivery.root_id is None or delivery.summarizes:
            return None
        return self.live.get(delivery.root_id)

    def thread_of(self, delivery: Delivery) -> str | None:
        """The `ts` of that first message, once it is posted."""
        root = self.root_of(delivery)
        return root.message_ts if root is not None else None

    def posted_by(self, delivery: Delivery) -> LiveMessage | None:
        """The live message whose first post it is."""
        if not is_first_post(delivery):
            return None
        return self.live.get(delivery.subject.subject_id)

    def log_fields(
        self, action: str, delivery: Delivery, error: Exception | None = None
    ) -> dict[str, object]:
        """What a log record about the delivery holds, and what its message is about."""
        subject = delivery.subject
        code: str | None = None
        if isinstance(error, PostError):
            code = error.code
        elif error is not None:
            code = type(error).__name__
        message = self.messages.get(delivery.delivery_id)
        about = message.about if message is not None else {}
        return {
            "action": action,
            "channel": delivery.channel_id,
            "delivery_id": delivery.delivery_id,
            "repository": subject.repository,
            "subject": f"{subject.kind} {subject.subject_id}",
            "error": code,
            **about,
        }


def is_first_post(delivery: Delivery) -> bool:
    """Whether it posts a live message; a summary may have replaced such a post."""
    return delivery.subject.kind in POSTS_OF_LIVE_MESSAGES and not delivery.summarizes
