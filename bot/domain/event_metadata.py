"""What each type of event tells beyond the common fields.

The API document does not show the contents of `metadata`. Of what the service is known to send,
those fields are here that are read, every one optional, so that whatever is left out or new does
no harm. Names and codes are strings as sent. Numbers of pull requests are the hosting platform's.
"""

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field, JsonValue

from bot.domain.resource import Moment, Number, Resource, Several


class Metadata(Resource):
    """What all metadata have in common.

    `raw` is the metadata as sent when not all of it could be read, else None: fields that could
    not be read are then left at their defaults.
    """

    raw: ClassVar[JsonValue] = None

    def keep_raw(self, sent: JsonValue) -> None:
        """For `bot.domain.event_reading`, at the making of this value."""
        self.__dict__["raw"] = sent


class UnknownMetadata(Metadata):
    """Metadata of a type we have no model for, as sent; empty when it was no object."""

    fields: Mapping[str, JsonValue] = Field(default_factory=dict)


class ApiActor(Resource):
    """Who used the API or the dashboard: `type` is `user` or `application`.

    `id` is an integer for a user and a uuid for an application.
    """

    type: str | None = None
    id: int | str | None = None
    name: str | None = None


class CommandAuthor(Resource):
    """The account of the hosting platform that wrote a command."""

    login: str | None = None
    id: int | None = None
    type: str | None = None


class ReportedCheck(Resource):
    """One CI result inside an event; `state` is a check state as sent."""

    name: str | None = None
    description: str | None = None
    url: str | None = None
    state: str | None = None
    details_url: str | None = None


class CheckedPullRequest(Resource):
    """The pull request in which checks ran for `pull_request_numbers`.

    It is the queued one itself when `in_place`, else one that the service made for the batch.
    """

    number: Number | None = None
    in_place: bool | None = None
    checks_conclusion: str | None = None
    unsuccessful_checks: Several[ReportedCheck] = ()
    pull_request_numbers: Several[Number] = ()


class QueueMetadata(Metadata):
    """The fields most queue events share.

    `branch` is the base branch. `session_id` is a uuid that names one stay in the queue, from
    enter to leave.
    """

    queue_name: str | None = None
    branch: str | None = None
    queued_at: Moment | None = None
    priority_rule_name: str | None = None
    session_id: str | None = None


class BatchMetadata(QueueMetadata):
    """The fields of queue events that belong to a batch; `train_car_id` is its older name."""

    train_car_id: str | None = None
    batch_id: str | None = None
    scopes: Several[str] = ()


class QueueEnter(QueueMetadata):
    """`action.queue.enter`."""


class QueueChecksStart(BatchMetadata):
    """`action.queue.checks_start`."""

    speculative_check_pull_request: CheckedPullRequest | None = None


class QueueChecksEnd(BatchMetadata):
    """`action.queue.checks_end`.

    `abort_code` is explained in `bot.domain.dequeue_codes`; `abort_status` is `DEFINITIVE`, or
    `REEMBARKED` when the pull request stays in the queue to be checked again.
    """

    aborted: bool | None = None
    abort_code: str | None = None
    abort_reason: str | None = None
    abort_status: str | None = None
    retry_attempt: int | None = None
    speculative_check_pull_request: CheckedPullRequest | None = None


class QueueChecksNotStarted(QueueMetadata):
    """`action.queue.checks_not_started`: the service tries again by itself."""

    reason: str | None = None


class QueueLeave(BatchMetadata):
    """`action.queue.leave`.

    `merged` alone tells whether the pull request was merged. `reason` may be many lines of
    Markdown. `dequeue_code` is explained in `bot.domain.dequeue_codes`.
    """

    reason: str | None = None
    merged: bool | None = None
    dequeue_code: str | None = None
    checks: Several[ReportedCheck] = ()
    unsuccessful_checks: Several[ReportedCheck] = ()


class QueueMerged(QueueMetadata):
    """`action.queue.merged`."""


class QueueChange(QueueMetadata):
    """`action.queue.change`: the queue now holds `size` pull requests."""

    size: int | None = None


class QueueChecksChange(QueueMetadata):
    """`action.queue.checks.change`: so many checks run now."""

    running_checks: int | None = None


class BatchBisectionStart(BatchMetadata):
    """`action.queue.batch_bisection_start`: a failed batch is split to find the culprit."""

    original_batch_pr_numbers: Several[Number] = ()


class BatchBisectionEnd(BatchMetadata):
    """`action.queue.batch_bisection_end`.

    `dropped_unverified_pr_numbers` were blamed by elimination and never tested alone.
    """

    original_batch_pr_numbers: Several[Number] = ()
    culprit_found: bool | None = None
    culprit_pr_numbers: Several[Number] = ()
    dropped_unverified_pr_numbers: Several[Number] = ()
    remaining_pr_numbers: Several[Number] = ()


class ConflictDeferred(QueueMetadata):
    """`action.queue.conflict_deferred`: held until one of the blocking ones leaves the queue."""

    reason: str | None = None
    blocking_pull_request_numbers: Several[Number] = ()


class PauseCreate(Metadata):
    """`queue.pause.create`."""

    reason: str | None = None
    created_by: ApiActor | None = None


class PauseUpdate(Metadata):
    """`queue.pause.update`: paused again, with this reason."""

    reason: str | None = None
    updated_by: ApiActor | None = None


class PauseDelete(Metadata):
    """`queue.pause.delete`."""

    deleted_by: ApiActor | None = None


class FreezeAttributes(Resource):
    """A scheduled freeze; `end` is None for one that lasts until it is removed.

    `start` and `end` are local to `timezone` (an IANA name) and so kept as sent. Conditions are
    strings, or trees of `and`, `or` and `not`.
    """

    reason: str | None = None
    start: str | None = None
    end: str | None = None
    timezone: str | None = None
    matching_conditions: Several[JsonValue] = ()


class FreezeCreate(Metadata):
    """`scheduled_freeze.create`."""

    scheduled_freeze_attributes: FreezeAttributes | None = None
    created_by: ApiActor | None = None
    created_at: Moment | None = None


class FreezeUpdate(Metadata):
    """`scheduled_freeze.update`."""

    scheduled_freeze_attributes_before: FreezeAttributes | None = None
    scheduled_freeze_attributes_after: FreezeAttributes | None = None
    updated_by: ApiActor | None = None


class FreezeDelete(Metadata):
    """`scheduled_freeze.delete`; `reason` is that of the deletion."""

    scheduled_freeze_attributes: FreezeAttributes | None = None
    reason: str | None = None
    deleted_by: ApiActor | None = None


class CommandMetadata(Metadata):
    """`command.queue`, `command.dequeue`, `command.requeue`."""

    author: CommandAuthor | None = None
    session_id: str | None = None


EventMetadata = (
    QueueEnter
    | QueueChecksStart
    | QueueChecksEnd
    | QueueChecksNotStarted
    | QueueLeave
    | QueueMerged
    | QueueChange
    | QueueChecksChange
    | BatchBisectionStart
    | BatchBisectionEnd
    | ConflictDeferred
    | PauseCreate
    | PauseUpdate
    | PauseDelete
    | FreezeCreate
    | FreezeUpdate
    | FreezeDelete
    | CommandMetadata
    | UnknownMetadata
)
