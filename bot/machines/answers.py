"""What machines get: the documented shape of each answer, version 1.

Fields may be added within the version. None is ever renamed or removed, and none changes its
meaning.
"""

from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from bot.acts.group_act import GroupOutcome
from bot.acts.request_state import RequestState
from bot.doctor.diagnosis import QueueVerdict
from bot.log.classification import EventKind
from bot.merge_queue.event_types import Turn
from bot.merge_queue.queue import ObstacleKind
from bot.verdicts.verdict import Cause, Hold, Step


class Shape(BaseModel):
    """A part of an answer."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Answer(Shape):
    """Any answer."""

    message: str
    """The same for people, as plain text."""


class ProblemKind(StrEnum):
    """Why a request got nothing else."""

    WRONG_FIELD = "wrong_field"  #: `field` says which
    NOT_ACCEPTED = "not_accepted"  #: the token, or what was asked for
    NOT_PERMITTED = "not_permitted"  #: the machine hasn't the right
    NOT_FOUND = "not_found"
    TOO_MANY = "too_many"  #: requests of this machine, or open proposals
    UNAVAILABLE = "unavailable"  #: try again later


class Problem(Answer):
    """The request was refused, or failed and changed nothing."""

    error: ProblemKind
    field: str | None
    """The field of the body that is wrong, if it is one."""


class PauseShape(Shape):
    """A pause in force."""

    reason: str
    by: str | None
    """The name of a person or machine, if known."""
    since: datetime
    ends_at: datetime | None
    """None until someone resumes it."""


class FreezeShape(Shape):
    """A freeze, planned or in force."""

    id: str | None
    """The service's id; None where it gives none."""
    repository: str
    reason: str
    by: str | None
    begins_at: datetime | None
    ends_at: datetime | None
    """None until someone ends it."""
    in_force: bool
    conditions: list[str]
    """Only pull requests that meet them wait; empty for all."""
    exceptions: list[str]
    """Conditions of those that may merge all the same."""


class RepositoryShape(Shape):
    """What became of one repository of a group."""

    repository: str
    outcome: GroupOutcome
    by: str | None
    """Who made the pause or freeze that was found there, if known."""
    failure: str | None
    """Why it failed, in the service's words."""


class Acted(Answer):
    """The act was carried out, or there was nothing to do."""

    changed: bool
    pause: PauseShape | None
    """The pause of the repository after the act, if there is one."""
    freezes: list[FreezeShape]
    """Those that were made, changed or ended; unless `changed`, those that were found."""
    repositories: list[RepositoryShape]
    """Of a group, what became of each."""


class ProposedRepositoryShape(Shape):
    """What became of a proposal for one repository of a group."""

    repository: str
    state: RequestState
    by: str | None
    """Who answered it, if somebody did."""


class ProposalShape(Shape):
    """What a machine proposed, and what became of it."""

    id: str
    """The last part of the address of its outcome."""
    state: RequestState
    """Of a group, the first of these states in which one of its repositories is."""
    ends_at: datetime
    """Until when people may approve it."""
    by: str | None
    """Who answered it, if somebody did."""
    repositories: list[ProposedRepositoryShape]
    """Of a group, what became of it for each."""


class Pending(Answer):
    """Nobody can tell yet what becomes of the act."""

    changed: None
    outcome: str
    """GET this address until it answers something else than 202."""
    proposal: ProposalShape | None
    """Of an act that waits for a person's approval."""


class OutcomeShape(Answer):
    """What became of an act that was pending."""

    changed: bool
    done: bool
    """The queue is as asked for; of a group, all of them are."""
    proposal: ProposalShape | None
    """Of an act that needed a person's approval."""
    repositories: list[RepositoryShape]
    """Of an act on a group that needed none, what became of each."""


class QueueState(StrEnum):
    """How a queue stands."""

    RUNNING = "running"
    PAUSED = "paused"
    FROZEN = "frozen"
    UNKNOWN = "unknown"  #: it couldn't be read


class QueuedShape(Shape):
    """A pull request in the queue."""

    number: int
    title: str
    author: str
    queued_at: datetime
    obstacle: ObstacleKind | None
    """Why it doesn't advance by itself."""


class BatchShape(Shape):
    """Pull requests that are tested together."""

    code: str
    """The service's word for its state."""
    pull_requests: list[int]
    checks_passed: int
    checks: int


class EstimateShape(Shape):
    """When something merges by the queue's own past, and how wrong that was in the last days.

    Half of the last estimates came true between `earliest` and `latest`. If these were too hopeful,
    both are later than `expected_at`; if they were too cautious, earlier.
    """

    expected_at: datetime
    earliest: datetime
    latest: datetime


class QueueShape(Shape):
    """One queue as it was read."""

    repository: str
    state: QueueState
    read_at: datetime | None
    """None for one that couldn't be read."""
    pause: PauseShape | None
    freezes: list[FreezeShape]
    """Those in force."""
    next_freeze: FreezeShape | None
    queued: int | None
    """The pull requests in batches and in line."""
    batches: list[BatchShape]
    waiting: list[QueuedShape]
    """Those in no batch yet, in the order of the queue."""
    merge_expected_at: datetime | None
    """The service's estimate; None where a pause or freeze makes it impossible."""
    merge_expected_by_past: EstimateShape | None
    """Our own of the same; None where the queue's past says nothing."""
    added_now_expected_by_past: EstimateShape | None
    """When a pull request would merge that is added now."""


class StatusAnswer(Answer):
    """The live queue of each repository of the target."""

    queues: list[QueueShape]


class FindingShape(Shape):
    """One cause, with what it rests on."""

    verdict: QueueVerdict
    since: datetime | None
    pull_requests: list[int]
    checks: list[str]
    times: int | None
    """How often it happened, where the verdict counts something."""


class WhyQueueAnswer(Answer):
    """Why nothing merges in a queue, or why it is slow."""

    repository: str
    at: datetime
    findings: list[FindingShape]
    """The first is the headline."""
    queued: int
    head: int | None
    """The pull request that is to merge next."""
    checks_passed: int
    checks: int
    last_merge: int | None
    last_merge_at: datetime | None
    """In the last day."""


class PullRequestPlace(StrEnum):
    """Where a pull request is."""

    BATCH = "batch"
    WAITING = "waiting"
    MERGED = "merged"
    LEFT = "left"
    UNKNOWN = "unknown"  #: nothing of it is known


class CheckShape(Shape):
    """A check that failed, and its run."""

    name: str
    url: str | None


class WhyPullRequestAnswer(Answer):
    """Where a pull request is, and why it left the queue."""

    repository: str
    pull_request: int
    where: PullRequestPlace
    since: datetime | None
    """When it was queued, merged or left."""
    ahead: int | None
    """How many batches have to merge before its own."""
    obstacle: ObstacleKind | None
    cause: Cause | None
    """Why it left; None unless it did."""
    code: str | None
    """The service's code for that."""
    checks: list[CheckShape]
    """The failed checks that are the cause."""
    turn: Turn | None
    """Who has to act."""
    step: Step | None
    hold: Hold | None
    """Why it had better not be queued again yet."""


class EventShape(Shape):
    """An event of the log."""

    id: int
    type: str
    """The service's type."""
    kind: EventKind
    at: datetime
    pull_request: int | None
    branch: str | None
    by: str | None
    code: str | None
    reason: str | None


class LogAnswer(Answer):
    """Events, newest first."""

    repository: str
    events: list[EventShape]
    older: str | None
    """Send it as `cursor`; None after the last event."""
    unreadable: int
    """Events that were left out."""
