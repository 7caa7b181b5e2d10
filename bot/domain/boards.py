"""Boards: what one says of a queue, and what counts as a change of it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from bot.domain.event_records import FreezeAttributes
from bot.domain.live_messages import LiveKind, LiveSubject
from bot.domain.pause_records import PauseRecord
from bot.domain.queue import Batch, QueuedPullRequest
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

FREEZES_KEPT = 10

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Board:
    """One message in a channel that is kept true of one repository's queue, until `ended_at`.

    `board_id` is given by the store, 0 before. `made_by` and `ended_by` are names of people; a
    board that ended because nobody could see it any more, or because its repository is not
    followed any more, has no `ended_by`.
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


class OutageCause(StrEnum):
    """Why the queue cannot be read: no answer, a refusal, or an answer that makes no sense."""

    SILENT = "silent"
    REFUSED = "refused"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class PausedFor:
    """The pause in force. `by` is None when nobody knows; `lifts_at` is the end of a timed one.

    `is_overdue`: that end was tried, and could not be.
    """

    reason: str
    paused_at: datetime
    by: str | None = None
    lifts_at: datetime | None = None
    is_overdue: bool = False


@dataclass(frozen=True, slots=True)
class Shown:
    """A pull request as a board shows it."""

    number: int
    title: str
    url: str
    author: str


@dataclass(frozen=True, slots=True)
class ShownBatch:
    """A batch with its first pull requests, `more` besides, and `passed` of `total` checks."""

    batch_id: str
    name: str
    code: str
    passed: int
    total: int
    due_at: datetime | None
    pull_requests: tuple[Shown, ...]
    more: int = 0


@dataclass(frozen=True, slots=True)
class Picture:
    """All that a board says of a queue; two that are equal say the same.

    `in_batches` and `waiting` are how many there are, of which `batches`, `next_up` and the
    numbers `behind` them are named. `due_at` is when the next merge is expected.
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
    freezes: tuple[FreezeAttributes, ...] = ()


@dataclass(frozen=True, slots=True)
class BoardState:
    """What is known of a queue: the picture read last, and since when no other could be read."""

    repository: RepositoryName
    picture: Picture
    read_at: datetime
    outage: OutageCause | None = None
    out_since: datetime | None = None

    def says_the_same(self, other: "BoardState") -> bool:
        """Whether a board would say the same of both; when it was read is no difference."""
        return replace(self, read_at=other.read_at) == other


def seen(before: BoardState | None, snapshot: Snapshot) -> BoardState:
    """What is known after an answer; estimates that moved a little are told as before."""
    picture = _picture(snapshot)
    if before is not None:
        picture = _settled(before.picture, picture, snapshot)
    return BoardState(snapshot.repository, _rounded(picture), snapshot.read_at)


def unseen(
    before: BoardState, outage: OutageCause, since: datetime, read_at: datetime | None
) -> BoardState:
    """What is known while there is no answer. `since` is the first that failed to come.

    `read_at` is when the queue was last read and found as `before`, if that was later.
    """
    if before.outage is not None:
        return replace(before, outage=outage)
    last = max(before.read_at, read_at) if read_at is not None else before.read_at
    return replace(before, read_at=last, outage=outage, out_since=since)


def _picture(snapshot: Snapshot) -> Picture:
    batches, waiting = snapshot.status.batches, snapshot.status.waiting_pull_requests
    known = snapshot.pause
    behind = waiting[NEXT_UP : NEXT_UP + NAMED_WAITING]
    return Picture(
        pause=_paused_for(known) if known is not None else None,
        batches=tuple(_batch(batch) for batch in batches[:SHOWN_BATCHES]),
        batch_count=len(batches),
        in_batches=len(snapshot.status.in_batches),
        due_at=snapshot.impact().next_merge_at,
        next_up=_shown(waiting[:NEXT_UP]),
        behind=tuple(one.number for one in behind),
        waiting=len(waiting),
        is_pause_known=snapshot.is_pause_known,
        freezes=snapshot.freezes[:FREEZES_KEPT],
    )


def _paused_for(known: PauseRecord) -> PausedFor:
    return PausedFor(known.reason, known.paused_at, known.by_name, known.lifts_at, known.is_overdue)


def _batch(batch: Batch) -> ShownBatch:
    return ShownBatch(
        batch_id=batch.id,
        name=batch.name[:WORDS_KEPT],
        code=batch.status.code[:WORDS_KEPT],
        passed=batch.checks_summary.passed,
        total=batch.checks_summary.total,
        due_at=batch.estimated_merge_at,
        pull_requests=_shown(batch.pull_requests[:SHOWN_IN_BATCH]),
        more=max(len(batch.pull_requests) - SHOWN_IN_BATCH, 0),
    )


def _shown(pull_requests: Iterable[QueuedPullRequest]) -> tuple[Shown, ...]:
    """An address too long to be kept is left out; the number says which it is."""
    return tuple(
        Shown(
            one.number,
            one.title[:TITLE_KEPT],
            one.url if len(one.url) <= ADDRESS_KEPT else "",
            one.author.login[:WORDS_KEPT],
        )
        for one in pull_requests
    )


def _settled(before: Picture, now: Picture, snapshot: Snapshot) -> Picture:
    """`now` with the estimates of `before`, as far as they are still good."""
    told = {batch.batch_id: batch.due_at for batch in before.batches}
    at = snapshot.read_at
    return _with_estimates(
        now,
        {
            batch.batch_id: _keep(told.get(batch.batch_id), batch.due_at, at)
            for batch in now.batches
        },
        _keep(before.due_at, now.due_at, at),
    )


def _rounded(picture: Picture) -> Picture:
    return _with_estimates(
        picture,
        {batch.batch_id: round_up(batch.due_at) for batch in picture.batches},
        round_up(picture.due_at),
    )


def _with_estimates(
    picture: Picture, of_batches: Mapping[str, datetime | None], due_at: datetime | None
) -> Picture:
    batches = tuple(replace(batch, due_at=of_batches[batch.batch_id]) for batch in picture.batches)
    return replace(picture, batches=batches, due_at=due_at)


def _keep(told: datetime | None, due_at: datetime | None, at: datetime) -> datetime | None:
    """The estimate that was told, while the new one is at most a step away from it.

    One whose time has passed is told anew as soon as the service expects another.
    """
    if told is None or due_at is None or (told < at and due_at > told):
        return due_at
    return told if abs(due_at - told) <= STEP else due_at


def round_up(due_at: datetime | None) -> datetime | None:
    """An estimated time, to the next whole step."""
    return None if due_at is None else _EPOCH - (_EPOCH - due_at) // STEP * STEP
