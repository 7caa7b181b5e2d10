"""The merge queue's resources: status, pause, rules, deprecated listing, application.

Fields, and which of them are required, follow the API document, "Resources and their fields".
Fields that only later versions of the service send are optional and marked "later". All times are
aware, in UTC. Codes and states are strings as sent: the enumerations name the known ones.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import AliasChoices, Field, JsonValue, model_validator
from typing_extensions import override

from bot.domain.resource import (
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
    """The identity of the credential (endpoint 8).

    `account` is the document's `<host>_account`, or the later `account_scope`. `scope` (later) is
    `admin` or `ci`.
    """

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
        pauses = [
            Pause(
                reason=one.reason or "",
                paused_at=one.paused_at or now,
                is_dated=one.paused_at is not None,
            )
            for one in (*([self] if is_paused else []), *self.queue_pause)
        ]
        return max(pauses, key=lambda pause: pause.paused_at, default=None)


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


class BatchStatus(Resource):
    """The status of a batch."""

    code: str


class ChecksSummary(Resource):
    """How many of the batch's checks passed, out of how many."""

    passed: int
    total: int


class HoldKind(StrEnum):
    """Why a pull request doesn't advance by itself."""

    REMOVAL = "removal"
    CONFLICT = "conflict"
    DEPENDENCY = "dependency"
    FREEZE = "freeze"


@dataclass(frozen=True, slots=True)
class Hold:
    """What holds a pull request back; `numbers` are the pull requests it waits for."""

    kind: HoldKind
    numbers: tuple[int, ...] = ()


class QueuedPullRequest(Resource):
    """A pull request in a batch or waiting.

    Only its number and `queued_at` are required. The following are sent by later versions only.
    `priority_alias`: the service's word.
    `is_frozen`: a scheduled freeze holds its merge.
    `dequeue_requested`: somebody asked for its removal, which is not done yet.
    `conflict_with_pull_requests`, `depends_on_pull_requests`: their numbers.
    """

    number: Number
    queued_at: Moment
    title: Later[str] = ""
    url: Later[str] = ""
    author: Later[Account] = Field(default_factory=lambda: Account(login=""))
    priority_alias: Later[str] = ""
    estimated_merge_at: Foretold = None
    is_frozen: Later[bool | None] = None
    dequeue_requested: Later[bool | None] = None
    conflict_with_pull_requests: Later[Several[Number]] = ()
    depends_on_pull_requests: Later[Several[Number]] = ()

    @property
    def hold(self) -> Hold | None:
        """None if nothing but the queue itself holds it back, as far as the service says."""
        if self.dequeue_requested:
            return Hold(HoldKind.REMOVAL)
        if self.conflict_with_pull_requests:
            return Hold(HoldKind.CONFLICT, self.conflict_with_pull_requests)
        if self.depends_on_pull_requests:
            return Hold(HoldKind.DEPENDENCY, self.depends_on_pull_requests)
        return Hold(HoldKind.FREEZE) if self.is_frozen else None


_SLOT_FIELDS = ("batch_filled_slots", "max_batch_slots", "batch_max_start_at")


class SubBatch(Resource):
    """A piece of a batch under bisection; only its id is required.

    `parent_ids`: the batches it is tested on top of.
    `batch_filled_slots`, `max_batch_slots`, `batch_max_start_at`: the pull requests in it, their
    maximum, and when it starts at the latest. They come from the batch, as documented, or from its
    `status`, where later services put them.
    """

    id: str
    name: Later[str] = ""
    parent_ids: Later[Several[str]] = ()
    status: Later[BatchStatus] = Field(default_factory=lambda: BatchStatus(code="unknown"))
    batch_filled_slots: Later[int | None] = None
    max_batch_slots: Later[int | None] = None
    batch_max_start_at: Foretold = None
    started_at: Foretold = None
    estimated_merge_at: Foretold = None
    checks_summary: Later[ChecksSummary] = Field(
        default_factory=lambda: ChecksSummary(passed=0, total=0)
    )
    pull_requests: Later[Several[Readable[QueuedPullRequest]]] = ()

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


class Batch(SubBatch):
    """Pull requests checked together, and the pieces while it is bisected."""

    sub_batches: Later[Several[Readable[SubBatch]]] = ()


class QueueStatus(Resource):
    """The live state of a repository's merge queue (endpoint 1).

    `paused`: sent by later services only; None doesn't mean that the queue is running.
    `unreadable`: how many elements of the answer were left out.
    """

    batches: Several[Readable[Batch]]
    waiting_pull_requests: Several[Readable[QueuedPullRequest]]
    paused: Later[bool | None] = None
    unreadable: Later[int] = 0

    @property
    def in_batches(self) -> Sequence[QueuedPullRequest]:
        """Each pull request in a batch, once, in queue order."""
        found = {one.number: one for batch in self.batches for one in batch.pull_requests}
        return list(found.values())

    def ahead_of(self, batch: SubBatch) -> tuple[str, ...]:
        """The names of the batches it is tested on top of, those that have not merged yet."""
        return tuple(
            one.name
            for one in self.batches
            if one.id in batch.parent_ids and one.status.code != BatchStatusCode.MERGED
        )

    @property
    def running(self) -> Sequence[Batch]:
        """The batches whose checks a pause would stop."""
        return [one for one in self.batches if one.status.code == BatchStatusCode.RUNNING]

    @property
    def next_merge_at(self) -> datetime | None:
        due = (one.estimated_merge_at for one in self.batches)
        return min((at for at in due if at is not None), default=None)

    @property
    def queued(self) -> Sequence[QueuedPullRequest]:
        """Each pull request, in a batch or waiting."""
        return [*self.in_batches, *self.waiting_pull_requests]

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
        return [one.name for one in self.checks if one.state == "pending" and one.name]

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
        inner = [label for one in self.subconditions for label in one.unmet]
        return inner or [self.label] if self.label else inner


class MergeabilityCheck(Checks):
    """The checks of a queued pull request, and how its rule's conditions are evaluated."""

    conditions_evaluation: Later[Condition | None] = None

    @property
    @override
    def unmet(self) -> Sequence[str]:
        return self.conditions_evaluation.unmet if self.conditions_evaluation else ()


class QueuedDetails(Resource):
    """A queued pull request, from an endpoint beyond the document: it may say any part of this.

    `position`: the first one in the queue is at 0.
    `checks_timeout_at`: when its running checks time out.
    """

    position: Later[int | None] = None
    estimated_time_of_merge: Foretold = None
    checks_timeout_at: Foretold = None
    mergeability_check: Later[MergeabilityCheck | None] = None


class RemovalImpact(Resource):
    """What the removal of a pull request does, as the service computes it; None if it doesn't say.

    `interrupted_batches`: the batches whose checks stop.
    `rechecked_pull_requests`: how many are checked again.
    `cascaded_pull_requests`: how many leave as well, because they are stacked on it.
    """

    interrupted_batches: Later[int | None] = None
    rechecked_pull_requests: Later[int | None] = None
    cascaded_pull_requests: Later[int | None] = None


class Removal(StrEnum):
    """What became of a request to remove a pull request.

    `LEFT`: the answer was lost, and it isn't in the queue any more.
    """

    DONE = "done"
    LEFT = "left"
    NOT_QUEUED = "not_queued"


class PullRequestQueued(Resource):
    """Deprecated listing: a queued pull request."""

    number: Number
    speculative_check_pull_request: Later[SpeculativeCheck | None] = None


class Queue(Resource):
    """Deprecated listing (endpoint 13): the queue of one base branch."""

    pull_requests: Later[Several[Readable[PullRequestQueued]]] = ()
