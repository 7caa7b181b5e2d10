"""A board: a live status message of one queue."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from bot.kernel.repository import RepositoryName
from bot.posts.live_message import LiveKind, LiveSubject
from bot.queues.picture import Picture, estimate_kept, picture
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
class Unread:
    """The queue can't be read; only boards say so, and channels aren't notified."""

    since: datetime
    why: WhyUnread


@dataclass(frozen=True, slots=True)
class BoardState:
    """The last known picture of a queue, and when it was first read."""

    repository: RepositoryName
    picture: Picture
    read_at: datetime
    unread: Unread | None = None  #: None while it can be read


def seen(before: BoardState | None, snapshot: Snapshot) -> BoardState:
    """The state after an answer; estimates that moved only a little stay as shown before."""
    now = picture(snapshot)
    at = snapshot.read_at
    was = before.picture if before is not None else now
    due_before = {batch.batch_id: batch.due_at for batch in was.batches}
    batches = tuple(
        replace(batch, due_at=estimate_kept(due_before.get(batch.batch_id), batch.due_at, at))
        for batch in now.batches
    )
    now = replace(now, batches=batches, due_at=estimate_kept(was.due_at, now.due_at, at))
    return BoardState(snapshot.repository, now, at)
