"""A board: a live status message of one queue."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from bot.kernel.repository import RepositoryName
from bot.posts.live_message import LiveKind, LiveSubject
from bot.queues.picture import Picture, ShownBatch, picture, steady_estimate
from bot.queues.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Board:
    """One message in a channel that shows one repository's live queue until `ended_at`."""

    channel_id: str
    repository: RepositoryName
    made_by: str  #: the person's name
    made_at: datetime
    ended_at: datetime | None = None
    #: the person's name; None if it ended because nobody can see it any more, or because the bot
    #: no longer follows its repository
    ended_by: str | None = None
    board_id: int = 0  #: assigned by the store, 0 before

    @property
    def subject(self) -> LiveSubject:
        return LiveSubject(LiveKind.BOARD, self.repository, str(self.board_id))


class WhyUnread(StrEnum):
    """Why a queue can't be read: no answer, a refusal, or an unreadable answer."""

    SILENT = "silent"
    REFUSED = "refused"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class UnreadQueue:
    """The queue can't be read; only boards say so, and channels aren't notified."""

    since: datetime
    why: WhyUnread


@dataclass(frozen=True, slots=True)
class BoardState:
    """The last known picture of a queue, and when it was first read."""

    repository: RepositoryName
    picture: Picture
    read_at: datetime
    unread: UnreadQueue | None = None  #: None while it can be read


def seen(before: BoardState | None, snapshot: Snapshot) -> BoardState:
    """The state after an answer; estimates that moved only a little are shown as before."""
    current = picture(snapshot)
    at = snapshot.read_at
    earlier = before.picture if before is not None else current
    due_before = {batch.batch_id: batch.due_at for batch in earlier.batches}
    batches: list[ShownBatch] = []
    for batch in current.batches:
        due_at = steady_estimate(due_before.get(batch.batch_id), batch.due_at, at)
        batches.append(replace(batch, due_at=due_at))
    due_at = steady_estimate(earlier.due_at, current.due_at, at)
    shown = replace(current, batches=tuple(batches), due_at=due_at)
    return BoardState(snapshot.repository, shown, at)
