"""The merge queue's resources: status, pause, rules, deprecated listing, application.

Fields, and which of them are required, follow the API document, "Resources and their fields".
Fields that only later versions of the service send are optional and marked "later". All times are
aware, in UTC. Codes and states are strings as sent: the enumerations name the known ones.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import AliasChoices, BeforeValidator, Field, JsonValue, model_validator
from typing_extensions import override

from bot.merge_queue.conditions import EvaluatedConditions, evaluated
from bot.merge_queue.resource import (
    Foretold,
    Later,
    Moment,
    Number,
    Readable,
    Resource,
    Several,
    flatten_platform_field,
)


class Account(Resource):
    """An account of the hosting platform."""

    login: str


class Application(Resource):
    """The identity of the credential (endpoint 8)."""

    #: a number in the document, the UUID that events carry in newer services. `account` is the
    #: document's `<host>_account`, or the later `account_scope`. `scope` (later) is `admin` or
    #: `ci`.
    id: Later[str] = ""
    name: Later[str] = ""
    account: Later[Account] = Field(default_factory=lambda: Account(login=""))
    scope: Later[str | None] = None

    @model_validator(mode="before")
    @classmethod
    def _name_the_account(cls, sent: Any) -> Any:  # noqa: ANN401 - anything the service may send
        if not isinstance(sent, Mapping):
            return sent
        if "account_scope" in sent and "account" not in sent:
            return {**sent, "account": sent["account_scope"]}
        return flatten_platform_field(sent, "_account", "account")


class Pause(Resource):
    """A pause in force; `reason` has at most 255 characters.

    Without `is_dated` the service didn't say since when: `paused_at` is when it was read.
    """

    reason: str
    paused_at: Moment
    is_dated: bool = True


class PauseAnswer(Resource):
    """A pause, or an array of them (endpoints 9 and 11), none of which is left out.

    An unreadable pause doesn't mean that the queue is running. Newer services answer without a
    pause, with `paused` false or missing.
    """

    paused: Later[bool | None] = None
    reason: Later[str | None] = None
    paused_at: Annotated[
        Foretold, Field(validation_alias=AliasChoices("paused_at", "pause_date"))
    ] = None
    queue_pause: Several["PauseAnswer"] = ()

    def in_force(self, now: datetime) -> Pause | None:
        """The latest pause. One without a time gets the time `now`."""
        is_given = self.paused_at is not None or self.reason is not None
        is_paused = is_given if self.paused is None else self.paused
        sent = list(self.queue_pause)
        if is_paused:
            sent.insert(0, self)
        pauses = [pause.at(now) for pause in sent]
        return max(pauses, key=lambda pause: pause.paused_at, default=None)

    def at(self, now: datetime) -> Pause:
        return Pause(
            reason=self.reason or "",
            paused_at=self.paused_at or now,
            is_dated=self.paused_at is not None,
        )


class BatchStatusCode(StrEnum):
    """The document's batch status codes; a service may send others."""

    RUNNING = "running"
    BISECTING = "bisecting"
    PREPARING = "preparing"
    FAILED = "failed"
    MERGED = "merged"
    WAITING_FOR_MERGE = "waiting_for_merge"
    WAITING_FOR_PREVIOUS_BATCHES = "waiting_for_previous_batches"
    WAITING_FOR_REQUEUE = "waiting_for_requeue"
    WAITING_SCHEDULE = "waiting_schedule"
    WAITING_FOR_BATCH = "waiting_for_batch"
    FROZEN = "frozen"


OVER = frozenset({BatchStatusCode.FAILED, BatchStatusCode.MERGED})
"""A service shows batches for a moment after their end."""

ADVANCING = frozenset(
    {BatchStatusCode.RUNNING, BatchStatusCode.PREPARING, BatchStatusCode.WAITING_FOR_MERGE}
)
"""A batch behind no other needs nothing but its checks to merge."""

_BEHIND_A_FAILURE = frozenset(
    {BatchStatusCode.WAITING_FOR_PREVIOUS_BATCHES, BatchStatusCode.WAITING_FOR_REQUEUE}
)


class BatchStatus(Resource):
    """The status of a batch."""

    code: str


class ChecksSummary(Resource):
    """How many of the batch's checks passed, out of how many."""

    passed: int
    total: int


class ObstacleKind(StrEnum):
    """Why a pull request doesn't advance by itself."""

    REMOVAL = "removal"
    CONFLICT = "conflict"
    DEPENDENCY = "dependency"
    FREEZE = "freeze"


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What keeps a pull request from advancing."""

    kind: ObstacleKind
    numbers: tuple[int, ...] = ()  #: the pull requests it waits for


class QueuedPullRequest(Resource):
    """A pull request in a batch or waiting.

    Only its number and `queued_at` are required. The following are sent by later versions only.
    """

    number: Number
    queued_at: Moment
    title: Later[str] = ""
    url: Later[str] = ""
    author: Later[Account] = Field(default_factory=lambda: Account(login=""))
    priority_alias: Later[str] = ""  #: the service's word
    estimated_merge_at: Foretold = None
    is_frozen: Later[bool | None] = None  #: a scheduled freeze keeps it from merging
    #: somebody asked for its removal, which is not done yet
    dequeue_requested: Later[bool | None] = None
    conflict_with_pull_requests: Later[Several[Number]] = ()  #: their numbers
    depends_on_pull_requests: Later[Several[Number]] = ()  #: their numbers
    scopes: Later[Several[str]] = ()  #: the parts of the code it touches
    all_scopes: Later[bool | None] = None  #: it touches all of them

    @property
    def obstacle(self) -> Obstacle | None:
        """None if it waits for nothing but the queue itself, as far as the service says."""
        if self.dequeue_requested:
            return Obstacle(ObstacleKind.REMOVAL)
        if self.conflict_with_pull_requests:
            return Obstacle(ObstacleKind.CONFLICT, self.conflict_with_pull_requests)
        if self.depends_on_pull_requests:
            return Obstacle(ObstacleKind.DEPENDENCY, self.depends_on_pull_requests)
        if self.is_frozen:
            return Obstacle(ObstacleKind.FREEZE)
        return None


_SLOT_FIELDS = ("batch_filled_slots", "max_batch_slots", "batch_max_start_at")


class Batch(Resource):
    """Pull requests checked together, and the pieces while it is bisected."""

    id: str  #: all else may be missing
    name: Later[str] = ""
    parent_ids: Later[Several[str]] = ()  #: the batches it is tested on top of
    status: Later[BatchStatus] = Field(default_factory=lambda: BatchStatus(code="unknown"))
    #: `batch_filled_slots`, `max_batch_slots` and `batch_max_start_at`: the pull requests in it,
    #: their maximum, and when it starts at the latest. They come from the batch, as documented, or
    #: from its `status`, where later services put them.
    batch_filled_slots: Later[int | None] = None
    max_batch_slots: Later[int | None] = None
    batch_max_start_at: Foretold = None
    started_at: Foretold = None
    estimated_merge_at: Foretold = None
    checks_summary: Later[ChecksSummary] = Field(
        default_factory=lambda: ChecksSummary(passed=0, total=0)
    )
    #: those named beside it. While it is bisected they may stand in its pieces alone: `members` are
    #: all of them.
    pull_requests: Later[Several[Readable[QueuedPullRequest]]] = ()
    #: the pieces, which later services split again
    sub_batches: Later[Several[Readable["Batch"]]] = ()

    @model_validator(mode="before")
    @classmethod
    def _move_slots(cls, sent: Any) -> Any:  # noqa: ANN401 - anything the service may send
        status = sent.get("status") if isinstance(sent, Mapping) else None
        if not isinstance(status, Mapping):
            return sent
        slots = {
            name: status[name]
            for name in _SLOT_FIELDS
            if status.get(name) is not None and sent.get(name) is None
        }
        return {**sent, **slots} if slots else sent

    @property
    def is_over(self) -> bool:
        """Whether it merged or failed: a service shows it for a moment longer."""
        return self.status.code in OVER

    def pieces(self) -> Iterator["Batch"]:
        """Its pieces at any depth, each before its own pieces."""
        for piece in self.sub_batches:
            yield piece
            yield from piece.pieces()

    @property
    def members(self) -> Sequence[QueuedPullRequest]:
        """Each pull request in it or in a piece at any depth, once, in queue order."""
        members: dict[int, QueuedPullRequest] = {}
        for part in (self, *self.pieces()):
            for pull_request in part.pull_requests:
                members.setdefault(pull_request.number, pull_request)
        return list(members.values())

    def smallest_parts(self) -> Mapping[int, "Batch"]:
        """The smallest part that has it, for each pull request that is in the queue.

        Pieces are tested on top of each other, so the first of several counts. What has merged
        with one of them is not in the queue any more.
        """
        merged: set[int] = set()
        for part in (self, *self.pieces()):
            if part.status.code == BatchStatusCode.MERGED:
                merged.update(pull_request.number for pull_request in part.pull_requests)
        smallest = _smallest_parts(self)
        return {number: part for number, part in smallest.items() if number not in merged}

    def runs(self) -> Sequence["Batch"]:
        """The smallest parts whose checks run."""
        inner = [run for piece in self.sub_batches for run in piece.runs()]
        if inner:
            return inner
        return [self] if self.status.code == BatchStatusCode.RUNNING else []

    @property
    def has_failed(self) -> bool:
        """Whether its checks failed, whether or not it is known by now what broke it."""
        return self.status.code == BatchStatusCode.FAILED or self.is_bisecting

    @property
    def is_bisecting(self) -> bool:
        """Whether it is being split and tested in pieces."""
        code = self.status.code
        if code == BatchStatusCode.BISECTING:
            return True
        if code == BatchStatusCode.RUNNING or self.is_over:
            return False
        return bool(self.runs())


def _smallest_parts(batch: Batch) -> Mapping[int, Batch]:
    smallest: dict[int, Batch] = {}
    for piece in batch.sub_batches:
        for number, part in _smallest_parts(piece).items():
            smallest.setdefault(number, part)
    if not batch.is_over:
        for pull_request in batch.pull_requests:
            smallest.setdefault(pull_request.number, batch)
    return smallest


class QueueMode(StrEnum):
    """How batches depend on each other, as later services say: in one line, by scopes, never."""

    SERIAL = "serial"
    PARALLEL = "parallel"
    ISOLATED = "isolated"


DEEPEST = 32
"""Pieces of pieces that are read. A batch has at most 128 pull requests, split in halves."""


def _cut_deep_pieces(batch: Any, depth: int = DEEPEST) -> Any:  # noqa: ANN401 - as above
    """Replace the pieces beyond that depth by one that can't be read, so that it is counted."""
    pieces = batch.get("sub_batches") if isinstance(batch, Mapping) else None
    if not isinstance(pieces, list) or not pieces:
        return batch
    if depth == 0:
        return {**batch, "sub_batches": [None]}
    return {**batch, "sub_batches": [_cut_deep_pieces(piece, depth - 1) for piece in pieces]}


class QueueStatus(Resource):
    """The live state of a repository's merge queue (endpoint 1)."""

    batches: Several[Readable[Batch]]
    waiting_pull_requests: Several[Readable[QueuedPullRequest]]
    mode: Later[str | None] = None  #: sent by later services only, as a string; see QueueMode
    #: sent by later services only; None doesn't mean that the queue is running
    paused: Later[bool | None] = None
    unreadable: Later[int] = 0  #: how many elements of the answer were left out

    @property
    def live(self) -> Sequence[Batch]:
        """The batches that are neither merged nor failed."""
        return [batch for batch in self.batches if not batch.is_over]

    @property
    def leads(self) -> Sequence[Batch]:
        """The live batches that are built on no other: nothing has to merge before them."""
        live = self.live
        ids = {batch.id for batch in live}
        return [batch for batch in live if ids.isdisjoint(batch.parent_ids)]

    def parts(self) -> Iterator[Batch]:
        """All batches and their pieces at any depth."""
        for batch in self.batches:
            yield batch
            yield from batch.pieces()

    def place_of(self, batch: Batch) -> int:
        """Its place, counted from 1, or that of the batch it is a piece of; 0 if unknown."""
        for place, other in enumerate(self.batches, 1):
            if batch.id in {other.id, *(piece.id for piece in other.pieces())}:
                return place
        return 0

    def places_ahead_of(self, batch: Batch) -> tuple[int, ...]:
        """The places of these batches, counted from 1; a piece stands in its batch's place.

        If it waits because some of them failed, only those: the others may still pass.
        """
        places = {
            place: other
            for place, other in enumerate(self.batches, 1)
            if other.id != batch.id
            if other.status.code != BatchStatusCode.MERGED
            if not {other.id, *(piece.id for piece in other.pieces())}.isdisjoint(batch.parent_ids)
        }
        if batch.status.code in _BEHIND_A_FAILURE:
            return tuple(place for place, other in places.items() if other.has_failed)
        return tuple(places)

    def count_ahead(self, batch: Batch) -> int:
        """How many batches have to merge before it: those that it is built on, and theirs."""
        known = {other.id: other for other in self.batches}
        ahead: set[str] = set()
        unseen = list(batch.parent_ids)
        while unseen:
            batch_id = unseen.pop()
            if batch_id in known and batch_id not in ahead and batch_id != batch.id:
                ahead.add(batch_id)
                unseen += known[batch_id].parent_ids
        return sum(not known[batch_id].is_over for batch_id in ahead)

    @property
    def running(self) -> Sequence[Batch]:
        """The batches whose checks a pause would stop, without those under bisection."""
        return [batch for batch in self.batches if batch.status.code == BatchStatusCode.RUNNING]

    @property
    def bisecting(self) -> Sequence[Batch]:
        """The batches whose bisection a pause would stop."""
        return [batch for batch in self.batches if batch.is_bisecting]

    @property
    def next_merge_at(self) -> datetime | None:
        parts = [part for batch in self.live for part in (batch, *batch.pieces())]
        estimates = [part.estimated_merge_at for part in parts if not part.is_over]
        known = [at for at in estimates if at is not None]
        return min(known, default=None)

    @property
    def queued(self) -> Sequence[QueuedPullRequest]:
        """Each pull request that is in the queue, in a batch or waiting, once.

        Those that have just merged, or left with their batch, are shown but not queued any more.
        """
        found: dict[int, QueuedPullRequest] = {}
        for batch in self.batches:
            carried = batch.smallest_parts()
            for member in batch.members:
                if member.number in carried:
                    found[member.number] = member
        found |= {queued.number: queued for queued in self.waiting_pull_requests}
        return list(found.values())

    @model_validator(mode="before")
    @classmethod
    def _bound_depth(cls, sent: Any) -> Any:  # noqa: ANN401 - anything the service may send
        batches = sent.get("batches") if isinstance(sent, Mapping) else None
        if not isinstance(batches, list):
            return sent
        return {**sent, "batches": [_cut_deep_pieces(batch) for batch in batches]}

    @model_validator(mode="before")
    @classmethod
    def _name_the_pause(cls, sent: Any) -> Any:  # noqa: ANN401 - anything the service may send
        """`pause` is an object with `paused`, an object without it, or null for "not paused"."""
        if not isinstance(sent, Mapping) or "pause" not in sent:
            return sent
        pause = sent["pause"]
        paused = pause.get("paused", bool(pause)) if isinstance(pause, Mapping) else False
        return {**sent, "paused": paused if isinstance(paused, bool) else None}


class QueueRule(Resource):
    """A named configuration of the queue; only the service interprets `config`."""

    name: str
    config: Later[Mapping[str, JsonValue]] = Field(default_factory=dict)


_UNMET = re.compile(r"^\s*- \[ \] `?([^`\n]+)", re.MULTILINE)
"""A line of a report of conditions that is not ticked."""


FAILED = frozenset({"failure", "error", "timed_out", "cancelled", "action_required"})
"""The states of the document's CheckState in which a check has failed."""


class QueueCheck(Resource):
    """Deprecated listing: a check of a pull request."""

    name: Later[str] = ""
    state: Later[str] = ""


class Checks(Resource):
    """The checks of a pull request."""

    checks: Later[Several[Readable[QueueCheck]]] = ()

    @property
    def running(self) -> Sequence[str]:
        """The names of the checks that have no result yet."""
        return [check.name for check in self.checks if check.state == "pending" and check.name]

    @property
    def failed(self) -> Sequence[str]:
        """The names of the checks that have failed."""
        return [check.name for check in self.checks if check.state in FAILED and check.name]

    def requires(self, check: str) -> bool | None:  # noqa: ARG002 - where the conditions say more
        """Whether this check keeps a condition from being met; None if nobody says."""
        return None

    @property
    def unmet(self) -> Sequence[str]:
        """The conditions of its queue rule that are known not to be met."""
        return ()


class SpeculativeCheck(Checks):
    """Deprecated listing: the checks of a pull request, and a report of its rule's conditions."""

    evaluated_conditions: Later[str] = ""

    @property
    @override
    def unmet(self) -> Sequence[str]:
        return _UNMET.findall(self.evaluated_conditions)


class Condition(Resource):
    """A condition of a queue rule, with its parts; `match` is None if the service doesn't say."""

    match: Later[bool | None] = None
    label: Later[str] = ""
    subconditions: Later[Several[Readable["Condition"]]] = ()

    @property
    def unmet(self) -> Sequence[str]:
        """The innermost conditions for which it isn't met."""
        if self.match is not False:
            return ()
        inner = [label for subcondition in self.subconditions for label in subcondition.unmet]
        return inner or [self.label] if self.label else inner


class MergeabilityCheck(Checks):
    """The checks of a queued pull request, and how its rule's conditions are evaluated."""

    conditions_evaluation: Later[Condition | None] = None
    #: the checks that these conditions name
    named: Annotated[
        EvaluatedConditions,
        BeforeValidator(evaluated),
        Field(validation_alias="conditions_evaluation"),
    ] = Field(default_factory=EvaluatedConditions)

    @override
    def requires(self, check: str) -> bool | None:
        return self.named.requires(check)

    @property
    @override
    def unmet(self) -> Sequence[str]:
        return self.conditions_evaluation.unmet if self.conditions_evaluation else ()


class QueuedDetails(Resource):
    """A queued pull request, from an endpoint beyond the document: it may say any part of this."""

    position: Later[int | None] = None  #: the first one in the queue is at 0
    estimated_time_of_merge: Foretold = None
    checks_timeout_at: Foretold = None  #: when its running checks time out
    mergeability_check: Later[MergeabilityCheck | None] = None


class RemovalImpact(Resource):
    """What removing a pull request does, as the service computes it; None if it doesn't say."""

    interrupted_batches: Later[int | None] = None  #: the batches whose checks stop
    rechecked_pull_requests: Later[int | None] = None  #: how many are checked again
    #: how many leave as well, because they are stacked on it
    cascaded_pull_requests: Later[int | None] = None


class Removal(StrEnum):
    """What became of a request to remove a pull request."""

    DONE = "done"
    LEFT = "left"  #: the answer was lost, and it has left the queue or is about to
    NOT_QUEUED = "not_queued"


class PullRequestQueued(Resource):
    """Deprecated listing: a queued pull request."""

    number: Number
    speculative_check_pull_request: Later[SpeculativeCheck | None] = None


class Queue(Resource):
    """Deprecated listing (endpoint 13): the queue of one base branch."""

    pull_requests: Later[Several[Readable[PullRequestQueued]]] = ()
