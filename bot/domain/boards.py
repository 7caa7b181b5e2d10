"""Boards: what a board shows of a queue, and which differences count as a change."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from bot.domain.freezes import Freeze
from bot.domain.live_messages import LiveKind, LiveSubject
from bot.domain.queue import Batch, Hold, QueuedPullRequest, QueueStatus
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import Snapshot

SHOWN_BATCHES = 5
SHOWN_IN_BATCH = 5
NEXT_UP = 5
NAMED_WAITING = 10
"""How many of those behind the next are named by their numbers."""

TITLE_KEPT = 200
WORDS_KEPT = 100
ADDRESS_KEPT = 2000

STEP = timedelta(minutes=5)
"""Estimated times are rounded up to whole steps."""

FREEZES_SHOWN = 10

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Board:
    """One message in a channel that shows one repository's live queue until `ended_at`.

    `board_id`: assigned by the store, 0 before.
    `made_by`, `ended_by`: names of people. A board has no `ended_by` if it ended because nobody
    can see it any more, or because the bot no longer follows its repository.
    """

    channel_id: str
    repository: RepositoryName
    made_by: str
    made_at: datetime
    ended_at: datetime | None = None
    ended_by: str | None = None
    board_id: int = 0

    @property
    def subject(self) -> LiveSubject:
        key = f"{self.channel_id} {self.made_at.isoformat()}"
        return LiveSubject(LiveKind.BOARD, self.repository, key)


@dataclass(frozen=True, slots=True)
class PausedFor:
    """The pause in force.

    `by`: None when nobody knows.
    `resumes_at`: the end of a timed pause.
    `is_overdue`: the bot tried to resume at that time and failed.
    """

    reason: str
    paused_at: datetime
    by: str | None = None
    resumes_at: datetime | None = None
    is_overdue: bool = False


@dataclass(frozen=True, slots=True)
class Shown:
    """A pull request as a board shows it, and what holds it back."""

    number: int
    title: str
    url: str
    author: str
    hold: Hold | None = None


@dataclass(frozen=True, slots=True)
class ShownBatch:
    """A batch: its first pull requests, how many `more`, and `passed` of `total` checks.

    `ahead`: the names of the batches that it is tested on top of.
    """

    batch_id: str
    name: str
    code: str
    passed: int
    total: int
    due_at: datetime | None
    pull_requests: tuple[Shown, ...]
    more: int = 0
    ahead: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Picture:
    """Everything a board shows of a queue; equal pictures look the same.

    `in_batches`, `waiting`: total counts.
    `batches`, `next_up`: those shown in full.
    `behind`: the numbers of those that follow them.
    `due_at`: the expected time of the next merge.
    `unreadable`: how many entries could not be read.
    """

    pause: PausedFor | None
    batches: tuple[ShownBatch, ...]
    batch_count: int
    in_batches: int
    due_at: datetime | None
    next_up: tuple[Shown, ...]
    behind: tuple[int, ...]
    waiting: int
    is_pause_known: bool = True
    freezes: tuple[Freeze, ...] = ()
    unreadable: int = 0


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
    """The last known picture of a queue, and when it was first read.

    `unread`: None while it can be read.
    """

    repository: RepositoryName
    picture: Picture
    read_at: datetime
    unread: Unread | None = None


def seen(before: BoardState | None, snapshot: Snapshot) -> BoardState:
    """The state after an answer; estimates that moved only a little stay as shown before."""
    now, at = picture(snapshot), snapshot.read_at
    was = before.picture if before is not None else now
    due_before = {batch.batch_id: batch.due_at for batch in was.batches}
    batches = tuple(
        replace(batch, due_at=_estimate(due_before.get(batch.batch_id), batch.due_at, at))
        for batch in now.batches
    )
    now = replace(now, batches=batches, due_at=_estimate(was.due_at, now.due_at, at))
    return BoardState(snapshot.repository, now, at)


def picture(snapshot: Snapshot) -> Picture:
    """What can be shown of the queue, with the service's own estimates."""
    batches, waiting = snapshot.status.batches, snapshot.status.waiting_pull_requests
    known = snapshot.pause
    paused = None
    if known is not None:
        until = known.resumes_at, known.is_overdue
        paused = PausedFor(known.reason, known.paused_at, known.by_name, *until)
    behind = waiting[NEXT_UP : NEXT_UP + NAMED_WAITING]
    return Picture(
        pause=paused,
        batches=tuple(_batch(batch, snapshot.status) for batch in batches[:SHOWN_BATCHES]),
        batch_count=len(batches),
        in_batches=len(snapshot.status.in_batches),
        due_at=snapshot.status.next_merge_at,
        next_up=tuple(map(shown, waiting[:NEXT_UP])),
        behind=tuple(one.number for one in behind),
        waiting=len(waiting),
        is_pause_known=snapshot.is_pause_known,
        freezes=snapshot.freezes[:FREEZES_SHOWN],
        unreadable=snapshot.status.unreadable,
    )


def _batch(batch: Batch, queue: QueueStatus) -> ShownBatch:
    return ShownBatch(
        batch_id=batch.id,
        name=batch.name[:WORDS_KEPT],
        code=batch.status.code[:WORDS_KEPT],
        passed=batch.checks_summary.passed,
        total=batch.checks_summary.total,
        due_at=batch.estimated_merge_at,
        pull_requests=tuple(map(shown, batch.pull_requests[:SHOWN_IN_BATCH])),
        more=max(len(batch.pull_requests) - SHOWN_IN_BATCH, 0),
        ahead=tuple(name[:WORDS_KEPT] for name in queue.ahead_of(batch)),
    )


def shown(one: QueuedPullRequest) -> Shown:
    """Leave out an address that is too long to store; the number identifies the pull request."""
    return Shown(
        one.number,
        one.title[:TITLE_KEPT],
        one.url if len(one.url) <= ADDRESS_KEPT else "",
        one.author.login[:WORDS_KEPT],
        one.hold,
    )


def _estimate(shown: datetime | None, due_at: datetime | None, at: datetime) -> datetime | None:
    """The estimate already shown, while the new one is at most a step away from it.

    Once the shown time has passed, the service's next estimate replaces it.
    """
    if shown is None or due_at is None or (shown < at and due_at > shown):
        return round_up(due_at)
    return round_up(shown if abs(due_at - shown) <= STEP else due_at)


def round_up(due_at: datetime | None) -> datetime | None:
    """Round an estimated time up to the next whole step."""
    return None if due_at is None else _EPOCH - (_EPOCH - due_at) // STEP * STEP
