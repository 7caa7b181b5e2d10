"""Live messages: posted once, then edited whenever their subject changes."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import IntEnum, StrEnum

from bot.domain.repository import RepositoryName


class LiveKind(StrEnum):
    """The kinds of live messages.

    The key of its subject identifies it: a pause by its id; a group by the act that paused it,
    under the name of its first repository; a queue entry or bisection by its key; a board by its
    channel and creation time; a reminder by its pause or its group's act; a freeze by its first
    event.
    """

    PAUSE = "pause"
    GROUP = "group"
    ENTRY = "entry"
    BISECTION = "bisection"
    BOARD = "board"
    REMINDER = "reminder"
    FREEZE = "freeze"


class Priority(IntEnum):
    """The order of edits, lowest first, because Slack allows only a few."""

    PAUSE = 0
    FAILURE = 1
    BOARD = 2
    REST = 3


PRIORITIES = {
    LiveKind.PAUSE: Priority.PAUSE,
    LiveKind.GROUP: Priority.PAUSE,
    LiveKind.REMINDER: Priority.PAUSE,
    LiveKind.FREEZE: Priority.PAUSE,
    LiveKind.BOARD: Priority.BOARD,
}
"""Of the others REST, and FAILURE while they wait to show one."""

POSTED_FIRST = frozenset(PRIORITIES)
"""Their first posts are urgent, because a person waits for them."""


LATEST_EDIT = timedelta(minutes=45)
"""An edit due later than this has its time from a wrong clock: it is due now."""


@dataclass(frozen=True, slots=True)
class LiveSubject:
    """The subject of live messages, in any channel."""

    kind: LiveKind
    repository: RepositoryName
    key: str


@dataclass(frozen=True, slots=True)
class LiveMessage:
    """One message that shows one subject in one channel.

    `message_ts`: None until its first post, an ordinary delivery, is delivered.
    `wanted`: counts the changes of its subject.
    `shown`: the count that the message was last known to show.
    `digest`: the digest of the message shown, None if unknown.
    `due_at`: when to edit it, while `wanted` is ahead of `shown`.
    `closed`: nothing changes any more.
    `is_second`: Slack refused its edits for good, so it was posted once more.
    `is_lost`: Slack refused the edits of the second one too.
    """

    message_id: int
    subject: LiveSubject
    channel_id: str
    is_second: bool
    message_ts: str | None
    wanted: int
    shown: int
    digest: str | None
    due_at: datetime
    failures: int
    closed: bool
    is_lost: bool
    created_at: datetime

    @property
    def shows_its_end(self) -> bool:
        """Whether it can be edited, and people see the last state of its subject."""
        is_first = self.message_ts is not None and not self.is_second and not self.is_lost
        return is_first and self.closed and self.shown == self.wanted
