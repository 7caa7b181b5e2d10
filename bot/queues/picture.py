"""What status, boards and the Home tab show of a live queue."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Self

from bot.freezes.freeze import Freeze
from bot.merge_queue.queue import (
    ADVANCING,
    Batch,
    BatchStatusCode,
    Obstacle,
    QueuedPullRequest,
    QueueMode,
    QueueStatus,
)
from bot.pauses.pause import DrawnLine
from bot.queues.snapshot import Snapshot

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


FROZEN_IN_CHECKS = "held_by_a_freeze"
"""The state of a batch whose checks run though a freeze holds it, beside the service's codes."""


SEVERAL_LINES = frozenset({QueueMode.PARALLEL, QueueMode.ISOLATED})
"""Modes in which not all that were queued before have to merge before."""


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class PausedFor:
    """The pause in force."""

    reason: str
    since: datetime
    line: DrawnLine
    by: str | None = None  #: None when nobody knows
    resumes_at: datetime | None = None  #: the end of a timed pause
    is_overdue: bool = False  #: the bot tried to resume at that time and failed


@dataclass(frozen=True, slots=True)
class ShownPullRequest:
    """A pull request as a board shows it, and what keeps it from advancing."""

    number: int
    title: str
    url: str
    author: str
    obstacle: Obstacle | None = None


@dataclass(frozen=True, slots=True)
class ShownBatch:
    """A batch: its first pull requests, how many `more`, and `passed` of `total` checks."""

    batch_id: str
    name: str
    code: str
    passed: int
    total: int
    due_at: datetime | None
    pull_requests: tuple[ShownPullRequest, ...]
    more: int = 0
    place: int = 1  #: among the queue's batches, counted from 1
    ahead: tuple[int, ...] = ()  #: the places of the batches that it waits for


@dataclass(frozen=True, slots=True)
class Picture:
    """Everything a board shows of a queue; equal pictures look the same.

    `picture` makes it of one `Snapshot`, without asking anybody, and it keeps what is shown and no
    more, so that it can be stored: a board keeps the last one while the queue can't be read. It
    doesn't say when it was read; `Snapshot.read_at` and `BoardState.read_at` do.
    """

    pause: PausedFor | None  #: None if it runs, or if nobody can tell: see `is_pause_known`
    batches: tuple[ShownBatch, ...]  #: the first ones, which are shown in full
    batch_count: int
    in_batches: int  #: the number of queued pull requests in batches
    due_at: datetime | None  #: when the service expects the next merge; None if it doesn't say
    next_up: tuple[ShownPullRequest, ...]  #: the first of those that wait, which are shown in full
    behind: tuple[int, ...]  #: the numbers of those that follow them
    waiting: int  #: the number of all that wait
    is_pause_known: bool = True
    freezes: tuple[Freeze, ...] = ()
    is_spared: bool = False  #: not everything queued is held by them
    next_freeze: Freeze | None = None  #: the first of those to come; None for none
    unreadable: int = 0  #: how many entries could not be read
    failing: int = 0  #: the number of batches whose checks failed
    bisecting: int = 0  #: the number of batches that are split to find what broke them
    first_queued_at: datetime | None = None  #: since when the first is queued; None for none
    live: int = 0  #: the number of batches that are neither merged nor failed
    lead: str = ""  #: the state of a live batch behind no other, preferably of one that advances
    is_one_line: bool = True  #: False if not all that were queued before have to merge before

    @property
    def queued(self) -> int:
        """How many pull requests are in the queue."""
        return self.in_batches + self.waiting

    @property
    def is_frozen(self) -> bool:
        """Whether freezes keep everything queued from merging."""
        return bool(self.freezes) and not self.is_spared

    @property
    def is_held(self) -> bool:
        """Whether a pause or a freeze keeps everything from merging, so that no estimate holds."""
        return self.pause is not None or self.is_frozen

    def without_estimates(self) -> Self:
        """As it was known last: nobody can tell when something merges."""
        batches = tuple(replace(batch, due_at=None) for batch in self.batches)
        return replace(self, batches=batches, due_at=None)


def picture(snapshot: Snapshot) -> Picture:
    """What can be shown of the queue, with the service's own estimates."""
    status = snapshot.status
    batches = status.batches
    waiting = status.waiting_pull_requests
    queued = status.queued
    in_line = len({each.number for each in waiting})
    known = snapshot.pause
    paused = None
    if known is not None:
        paused = PausedFor(
            known.line.reason,
            known.since,
            known.drawn,
            known.by_name,
            known.resumes_at,
            known.is_overdue,
        )
    behind = waiting[NEXT_UP : NEXT_UP + NAMED_WAITING]
    leads = [_batch_state(batch) for batch in status.leads]
    advancing = [state for state in leads if state in ADVANCING]
    return Picture(
        pause=paused,
        batches=tuple(
            _shown_batch(place, batch, status)
            for place, batch in enumerate(batches[:SHOWN_BATCHES], 1)
        ),
        batch_count=len(batches),
        in_batches=len(queued) - in_line,
        due_at=status.next_merge_at,
        next_up=tuple(map(shown, waiting[:NEXT_UP])),
        behind=tuple(follower.number for follower in behind),
        waiting=in_line,
        is_pause_known=snapshot.is_pause_known,
        freezes=snapshot.freezes[:FREEZES_SHOWN],
        is_spared=bool(snapshot.freezes) and not snapshot.is_frozen,
        next_freeze=snapshot.next_freeze,
        unreadable=status.unreadable,
        failing=[batch.status.code for batch in batches].count(BatchStatusCode.FAILED),
        bisecting=len(status.bisecting),
        live=len(status.live),
        lead=next(iter(advancing or leads), "")[:WORDS_KEPT],
        first_queued_at=queued[0].queued_at if queued else None,
        is_one_line=status.mode not in SEVERAL_LINES,
    )


def _batch_state(batch: Batch) -> str:
    """Its code, unless its checks run though it won't merge."""
    members = batch.members
    is_frozen = bool(members) and all(member.is_frozen for member in members)
    return FROZEN_IN_CHECKS if is_frozen and batch.status.code in ADVANCING else batch.status.code


def _shown_batch(place: int, batch: Batch, queue: QueueStatus) -> ShownBatch:
    members = batch.members
    return ShownBatch(
        batch_id=batch.id,
        name=batch.name[:WORDS_KEPT],
        code=batch.status.code[:WORDS_KEPT],
        passed=batch.checks_summary.passed,
        total=batch.checks_summary.total,
        due_at=None if batch.is_over else batch.estimated_merge_at,
        pull_requests=tuple(map(shown, members[:SHOWN_IN_BATCH])),
        more=max(len(members) - SHOWN_IN_BATCH, 0),
        place=place,
        ahead=queue.places_ahead_of(batch),
    )


def shown(queued: QueuedPullRequest) -> ShownPullRequest:
    """Leave out an address that is too long to store; the number identifies the pull request."""
    return ShownPullRequest(
        queued.number,
        queued.title[:TITLE_KEPT],
        queued.url if len(queued.url) <= ADDRESS_KEPT else "",
        queued.author.login[:WORDS_KEPT],
        queued.obstacle,
    )


def steady_estimate(
    shown: datetime | None, due_at: datetime | None, at: datetime
) -> datetime | None:
    """The estimate already shown, while the new one is at most a step away from it.

    Once the shown time has passed, the service's next estimate replaces it.
    """
    if shown is None or due_at is None:
        return round_up(due_at)
    has_passed = shown < at and due_at > shown
    if has_passed or abs(due_at - shown) > STEP:
        return round_up(due_at)
    return round_up(shown)


def round_up(due_at: datetime | None) -> datetime | None:
    """Round an estimated time up to the next whole step."""
    if due_at is None:
        return None
    steps = (_EPOCH - due_at) // STEP
    return _EPOCH - steps * STEP
