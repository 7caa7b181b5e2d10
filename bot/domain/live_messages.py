"""Live messages: posted once, then edited whenever what they show changes."""

import json
from datetime import datetime, timedelta
from enum import IntEnum, StrEnum
from hashlib import blake2b

from bot.domain.message import Message
from bot.domain.repository import RepositoryName
from bot.domain.values import value


class LiveKind(StrEnum):
    """What a live message shows.

    The key of its subject names the one it shows: a pause by its id, a group of repositories by
    the act that paused it, under the name of its first repository, a queue entry and a bisection
    by their keys, a board by its channel and when it was made.
    """

    PAUSE = "pause"
    GROUP = "group"
    ENTRY = "entry"
    BISECTION = "bisection"
    BOARD = "board"


class Priority(IntEnum):
    """Slack grants few edits: lower numbers come first."""

    PAUSE = 0
    FAILURE = 1
    BOARD = 2
    REST = 3


PRIORITIES = {
    LiveKind.PAUSE: Priority.PAUSE,
    LiveKind.GROUP: Priority.PAUSE,
    LiveKind.BOARD: Priority.BOARD,
}
"""Of the others REST, and FAILURE while they wait to show one."""

POSTED_FIRST = frozenset({LiveKind.PAUSE, LiveKind.GROUP, LiveKind.BOARD})
"""Their first posts go into a channel's urgent queue: somebody asked for them."""


LATEST_EDIT = timedelta(minutes=45)
"""No edit is put off for so long: what is due later has its time from a clock that was wrong, and
is due now."""


@value(frozen=True, slots=True)
class LiveSubject:
    """What is shown, in whatever channels."""

    kind: LiveKind
    repository: RepositoryName
    key: str


@value(frozen=True, slots=True)
class LiveMessage:
    """One message that shows one subject in one channel.

    `message_ts` is None until its first post, an ordinary delivery, is delivered. `wanted` counts
    the changes of its subject; `shown` is the count that its message was last seen to show, and
    `digest` is that of what it says then, None when that is not known. It is edited while `wanted`
    is ahead, from `due_at` on. `closed`: nothing changes any more. When Slack refuses its edits
    for good it is posted anew, once (`is_second`), and after that `is_lost`.
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


def digest_of(message: Message) -> str:
    """Equal for messages that say the same."""
    said = json.dumps([message.text, message.blocks], sort_keys=True)
    return blake2b(said.encode(), digest_size=16).hexdigest()
