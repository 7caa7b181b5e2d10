"""Live messages: posted once, then edited whenever their subject changes."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import IntEnum, StrEnum

from bot.kernel.repository import RepositoryName


class LiveKind(StrEnum):
    """The kinds of live messages; in brackets, the key of the subject."""

    PAUSE = "pause"  #: a pause (its id)
    #: the pauses or freezes of a group (the act, under the name of its first repository)
    GROUP = "group"
    ENTRY = "entry"  #: a queue entry (its key)
    BISECTION = "bisection"  #: a bisection (its key)
    BOARD = "board"  #: a board (its id)
    REMINDER = "reminder"  #: a reminder (its pause, or its group's act)
    CHANGES = "changes"  #: one person's changes of a pause (the first of these acts)
    FREEZE = "freeze"  #: a freeze (its row)
    #: a request to confirm an act (the act that asks for it, or its group's)
    CONFIRMATION = "confirmation"
    #: a post about an event, once another one had the same verdict (the first event, and the form)
    REPEATED = "repeated"
    STORM = "storm"  #: a storm of failures (its key)
    ALERT = "alert"  #: an alert about the health of a queue (its id)


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
    LiveKind.CHANGES: Priority.PAUSE,
    LiveKind.FREEZE: Priority.PAUSE,
    LiveKind.CONFIRMATION: Priority.PAUSE,
    LiveKind.ALERT: Priority.FAILURE,
    LiveKind.BOARD: Priority.BOARD,
}
"""Of the others REST, and FAILURE while they wait to show one."""

POSTED_FIRST = frozenset(PRIORITIES)
"""Their first posts are urgent, because a person waits for them."""


NOT_POSTED_ONCE_CLOSED = frozenset({LiveKind.REMINDER, LiveKind.ALERT})
"""Their end has a post of its own, or needs none."""


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
    """One message that shows one subject in one channel."""

    message_id: int
    subject: LiveSubject
    channel_id: str
    is_second: bool  #: Slack refused its edits for good, so it was posted once more
    message_ts: str | None  #: None until its first post, an ordinary delivery, is delivered
    wanted: int  #: counts the changes of its subject
    shown: int  #: the count that the message was last known to show
    content_hash: str | None  #: a hash of the message shown, None if unknown
    due_at: datetime  #: when to edit it, while `wanted` is ahead of `shown`
    failures: int
    closed: bool  #: nothing changes any more
    is_lost: bool  #: Slack refused the edits of the second one too
    created_at: datetime
    #: the process that edited it last, by the name under which it takes leases
    edited_by: str | None = None

    @property
    def is_first(self) -> bool:
        """Whether Slack has taken all its edits so far."""
        return not self.is_second and not self.is_lost

    @property
    def is_posted(self) -> bool:
        """Whether people see it, and it can be edited."""
        return self.message_ts is not None and self.is_first

    @property
    def shows_its_end(self) -> bool:
        """Whether it can be edited, and people see the last state of its subject."""
        return self.is_posted and self.closed and self.shown == self.wanted
