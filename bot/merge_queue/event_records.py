"""Events of the log as the service sends them (API document, Event), and their pull requests."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, NamedTuple

from pydantic import (
    AfterValidator,
    AliasChoices,
    AliasPath,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
)

from bot.kernel.repository import RepositoryName
from bot.merge_queue.conditions import EvaluatedConditions, evaluated
from bot.merge_queue.event_types import CHECKS_END, LEAVE, RULE_TRIGGER, CodeClass, class_of
from bot.merge_queue.queue import FAILED
from bot.merge_queue.resource import (
    LARGEST_NUMBER,
    Later,
    Moment,
    Number,
    Resource,
    Several,
    problems,
)

EVENT_TEXT_KEPT = 1000
NUMBERS_KEPT = 50
CONDITIONS_KEPT = 10
CONDITION_KEPT = 300
LIST_KEPT = 5
"""Names, and failed checks, of one event."""

CHECKS_READ = 200
"""Failed checks of one event that are looked at."""

PASSING_STATES = frozenset({"success", "neutral", "skipped"})
"""States of the API document's CheckState in which a check has passed."""


def _first_texts(sent: Any) -> Any:  # noqa: ANN401 - anything the service may send
    if not isinstance(sent, list):
        return () if sent is None else sent
    return [text for text in sent[:LIST_KEPT] if isinstance(text, str)]


Text = Annotated[str, AfterValidator(lambda text: text[:EVENT_TEXT_KEPT])]
Numbers = Annotated[Several[Number], AfterValidator(lambda numbers: numbers[:NUMBERS_KEPT])]
Names = Annotated[tuple[Text, ...], BeforeValidator(_first_texts)]


def _in_words(condition: Any) -> str:  # noqa: ANN401 - anything the service may send
    """A condition of a freeze: a string, or a tree of `and`, `or` and `not`."""
    match condition:
        case {"and": [*parts]}:
            return f"({' and '.join(map(_in_words, parts))})"
        case {"or": [*parts]}:
            return f"({' or '.join(map(_in_words, parts))})"
        case {"not": part}:
            return f"not {_in_words(part)}"
        case str():
            return condition
        case _:
            return json.dumps(condition)


def _conditions(sent: Any) -> Any:  # noqa: ANN401 - anything the service may send
    if not isinstance(sent, list):
        return () if sent is None else sent
    return [_in_words(condition)[:CONDITION_KEPT] for condition in sent[:CONDITIONS_KEPT]]


Conditions = Annotated[tuple[Text, ...], BeforeValidator(_conditions)]


class FreezeAttributes(Resource):
    """A scheduled freeze; `end` is None until somebody removes it.

    `start` and `end` are local to `timezone` (an IANA name) and stored as sent.
    """

    reason: Text | None = None
    start: Text | None = None
    end: Text | None = None
    timezone: Text | None = None
    matching_conditions: Conditions = ()
    exclude_conditions: Conditions = ()


class FailedCheck(Resource):
    """A failed check and its page."""

    name: Text | None = None
    url: Text | None = None
    state: Text | None = None  #: a CheckState of the API document
    #: whether a condition that isn't met names it; None if the service names no checks there
    is_required: bool | None = None


_BY = ("created_by", "updated_by", "deleted_by")
_CHECKED = "speculative_check_pull_request"
_FREEZE = "scheduled_freeze_attributes"


class EventDetails(Resource):
    """The details of an event beyond the fields that all events have.

    The API document doesn't describe them, so every field is optional; which ones are present
    depends on the type. An alias gives the service's name for a field. Names and codes are strings
    as sent, so new ones do no harm.
    """

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)

    # All events: the service's words for what caused it.
    trigger: Text = ""

    # Queue entries. `session_id` is the same from enter to leave.
    session_id: Text | None = Field(None, exclude=True)
    queue_name: Text | None = None
    queued_at: Moment | None = None
    # Why a pull request left, or checks ended or could not start: see `event_types`.
    code: Text | None = Field(None, validation_alias=AliasChoices("dequeue_code", "abort_code"))
    reason: Text | None = Field(None, validation_alias=AliasChoices("reason", "abort_reason"))
    # On a leave: whether the pull request was merged.
    merged: bool | None = None
    # On the end of checks: whether they ended early, and whether to be checked again (REEMBARKED).
    aborted: bool | None = None
    abort_status: Text | None = None
    conclusion: Text | None = Field(
        None, validation_alias=AliasChoices(AliasPath(_CHECKED, "checks_conclusion"), "conclusion")
    )
    # On the end of checks: when the first of them ran.
    checks_started_at: Moment | None = Field(
        None, validation_alias=AliasPath(_CHECKED, "checks_started_at")
    )
    # At most LIST_KEPT checks, and how many others failed.
    checks: tuple[FailedCheck, ...] = Field((), validation_alias="failed_checks")
    checks_left_out: int = 0
    # On a leave: how many checks passed, and the conditions of its rule that aren't met.
    checks_passed: Number | None = None
    unmet: Names = ()
    # On the start of checks: why they run, in the service's words.
    start_reason: Text | None = None
    batch: Text | None = Field(None, validation_alias="batch_id")
    members: Numbers = Field((), validation_alias=AliasPath(_CHECKED, "pull_request_numbers"))
    # It waits until one of these leaves the queue.
    blocking: Numbers = Field((), validation_alias="blocking_pull_request_numbers")
    size: Number | None = None
    running_checks: Number | None = None

    # Bisections: the batch, who broke it, who was blamed untested, who stays in the queue.
    pull_requests: Numbers = Field((), validation_alias="original_batch_pr_numbers")
    culprit_found: bool | None = None
    culprits: Numbers = Field((), validation_alias="culprit_pr_numbers")
    unverified: Numbers = Field((), validation_alias="dropped_unverified_pr_numbers")
    remaining: Numbers = Field((), validation_alias="remaining_pr_numbers")

    # Pauses, freezes and commands: who did it, by name or by login of the code host.
    actor: Text | None = Field(
        None,
        validation_alias=AliasChoices(
            *(AliasPath(key, "name") for key in _BY), AliasPath("author", "login")
        ),
    )
    # `application` or `user`, and its id: a UUID or a number.
    actor_type: Text | None = Field(
        None, validation_alias=AliasChoices(*(AliasPath(key, "type") for key in _BY))
    )
    actor_id: Text | None = Field(
        None, validation_alias=AliasChoices(*(AliasPath(key, "id") for key in _BY))
    )
    # Whether the bot's own credential acted; then no actor is named. A poll sets it, and only for
    # pauses and resumes (`with_owner`). None for other events, for those that no poll has stored,
    # and where nobody can tell: the event doesn't say whose credential it was, or it was another
    # application, which may be ours under an earlier key. Then the acts on record decide.
    is_ours: bool | None = None
    freeze: FreezeAttributes | None = Field(
        None, validation_alias=AliasChoices(f"{_FREEZE}_after", _FREEZE)
    )
    freeze_before: FreezeAttributes | None = Field(None, validation_alias=f"{_FREEZE}_before")

    # Other actions of the service, and CI.
    added: Names = ()
    removed: Names = ()
    to: Text | None = None
    conflicts: bool | None = None
    message: Text | None = None
    branch: Text | None = None
    users: Names = ()
    draft: bool | None = None
    workflow: Text | None = None
    title: Text | None = None
    reviewers: Names = ()
    team_reviewers: Names = ()
    review_type: Text | None = None
    reviewer: Text | None = None
    pull_request_number: Number | None = None
    job_name: Text | None = None
    rule_name: Text | None = None
    new_name: Text | None = None
    retry_attempt: Number | None = None
    max_retry: Number | None = Field(
        None, validation_alias=AliasChoices("max_retries", "max_retry")
    )
    outcome: Text | None = None
    product: Text | None = None

    @property
    def rule(self) -> str:
        """The name of the automation rule that caused it; empty if none did."""
        is_of_rule = self.trigger.startswith(RULE_TRIGGER)
        return self.trigger.removeprefix(RULE_TRIGGER) if is_of_rule else ""

    @property
    def blamed_checks(self) -> Sequence[FailedCheck]:
        """The failed checks that may be why a pull request left.

        `checks` may list others: optional ones, and those that hadn't ended, which only a timeout
        is about. A cancelled one says something only beside a code.
        """
        meaning = class_of(self.code)
        if meaning not in {CodeClass.FAILED, CodeClass.UNPROVEN, None}:
            return ()
        blamed = [check for check in self.checks if check.is_required is not False]
        if self.code == "CHECKS_TIMEOUT":
            return blamed
        states = {*FAILED, None} if meaning is not None else {*FAILED, None} - {"cancelled"}
        return [check for check in blamed if check.state in states]

    def stored(self) -> str:
        """The stored part as JSON: bounded, and readable by `model_validate_json`."""
        return self.model_dump_json(exclude_defaults=True)


@dataclass(frozen=True, slots=True)
class EventRecord:
    """One event of a repository's log."""

    repository: RepositoryName
    event_id: int  #: the service's own id, unique within the repository
    received_at: datetime
    type: str  #: the service's string as sent, known or not
    #: `pull_request` and `base_ref`: None for events about the whole repository
    pull_request: int | None
    base_ref: str | None
    #: identifies a queue entry from enter to leave; None for an event that belongs to none, and
    #: from a service that names no sessions
    session_id: str | None
    details: EventDetails


@dataclass(frozen=True, slots=True)
class PullRequestRecord:
    """A queued pull request as the status endpoint sent it; events carry only its number.

    `title` and `author` are blank if only the address is known.
    """

    repository: RepositoryName
    number: int
    title: str
    url: str
    author: str
    seen_at: datetime


def alike(
    known: PullRequestRecord, repository: RepositoryName, number: int
) -> PullRequestRecord | None:
    """A pull request never seen in the queue, with an address derived from a `known` one."""
    end = f"/{known.number}"
    start, found, rest = known.url.removesuffix(end).rpartition(f"/{known.repository}/")
    if not known.url.endswith(end) or not found:
        return None
    url = f"{start}/{repository}/{rest}/{number}"
    return PullRequestRecord(repository, number, "", url, "", known.seen_at)


@dataclass(frozen=True, slots=True)
class UnreadableEvent:
    """An event that lacks a required field."""

    problem: str  #: the invalid fields, without their values
    identity: int | str  #: its id, or all of it as JSON if even that is unreadable


@dataclass(frozen=True, slots=True)
class EventPage:
    """One page of the log, in the service's own order."""

    events: tuple[EventRecord, ...]
    next_cursor: str | None = None  #: None on the last page
    #: the service's clock when it answered (the `Date` header), None without one
    served_at: datetime | None = None
    unreadable: tuple[UnreadableEvent, ...] = ()
    #: None on the first page, or if the service offers no way back
    previous_cursor: str | None = None
    incomplete: tuple[EventRecord, ...] = ()  #: the events with unreadable details


class _Event(Resource):
    """The fields that every event has, and its details."""

    id: Number
    received_at: Moment
    type: Text
    pull_request: Later[Number | None] = None
    base_ref: Later[Text | None] = None
    details: EventDetails = Field(default_factory=EventDetails)


def _identity(sent: Any) -> int | str:  # noqa: ANN401 - anything the service may send
    """The event's id, or all of it as JSON if even that is unreadable."""
    event_id = sent.get("id") if isinstance(sent, dict) else None
    if type(event_id) is int and 0 <= event_id <= LARGEST_NUMBER:
        return event_id
    return json.dumps(sent, sort_keys=True)


class ReadEvent(NamedTuple):
    """An event that was read."""

    record: EventRecord
    is_complete: bool  #: all of its details were readable


def read_event(sent: object, repository: RepositoryName) -> ReadEvent:
    """Read an event; raises ValidationError when it lacks a required field."""
    event, is_complete = _read_event(sent if isinstance(sent, dict) else {})
    record = EventRecord(
        repository,
        event.id,
        event.received_at,
        event.type,
        event.pull_request,
        event.base_ref,
        event.details.session_id,
        event.details,
    )
    return ReadEvent(record, is_complete)


class EventLogAnswer(Resource):
    """Endpoint 6; its events are read one by one."""

    events: tuple[Any, ...]

    def page(self, repository: RepositoryName) -> EventPage:
        """The events; unreadable ones are listed apart."""
        events: list[EventRecord] = []
        incomplete: list[EventRecord] = []
        unreadable: list[UnreadableEvent] = []
        for sent in self.events:
            try:
                read = read_event(sent, repository)
            except ValidationError as error:
                unreadable.append(UnreadableEvent(problems(error), _identity(sent)))
                continue
            events.append(read.record)
            if not read.is_complete:
                incomplete.append(read.record)
        return EventPage(tuple(events), unreadable=tuple(unreadable), incomplete=tuple(incomplete))


class _ReadFields(NamedTuple):
    event: _Event
    is_complete: bool  #: all of its details were readable


def _read_event(sent: Mapping[str, Any]) -> _ReadFields:
    """The event with its readable details: one unreadable field must not hide the others."""
    metadata = sent.get("metadata")
    details = {"trigger": sent.get("trigger") or ""}
    if isinstance(metadata, dict):
        details = {**metadata, **details, **_gathered(sent.get("type"), metadata)}
    try:
        event = _Event.model_validate({**sent, "details": details}, by_name=False)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False, include_input=False)
        bad = {problem["loc"][1] for problem in problems if problem["loc"][0] == "details"}
        readable = {name: details[name] for name in details if name not in bad}
        event = _Event.model_validate({**sent, "details": readable}, by_name=False)
        return _ReadFields(event, is_complete=False)
    is_complete = metadata is None or isinstance(metadata, dict)
    return _ReadFields(event, is_complete)


def _gathered(event_type: object, sent: Mapping[str, Any]) -> dict[str, Any]:
    """Gather details that the service sends in several places, or at greater length."""
    found: dict[str, Any] = {"batch_id": sent.get("batch_id") or sent.get("train_car_id")}
    if event_type == LEAVE:
        conditions = evaluated(sent.get("conditions_evaluation"))
        checks = sent.get("checks")
        found["unmet"] = conditions.unmet
        if isinstance(checks, list) and checks:
            found["checks_passed"] = len(_in_state(checks, PASSING_STATES))
        failed = sent.get("unsuccessful_checks") or _without_success(checks)
        found |= _first_failed_checks(failed, conditions)
    elif event_type == CHECKS_END and isinstance(sent.get(_CHECKED), dict):
        failed = sent[_CHECKED].get("unsuccessful_checks")
        found |= _first_failed_checks(failed, EvaluatedConditions())
    return found


def _without_success(checks: object) -> object:
    """The failed ones among all checks; if none failed, those that didn't end."""
    if not isinstance(checks, list):
        return checks
    return _in_state(checks, FAILED) or _in_state(checks, {"pending"})


def _in_state(checks: Sequence[Any], states: Collection[str]) -> list[Mapping[str, Any]]:
    objects = [check for check in checks if isinstance(check, dict)]
    return [check for check in objects if str(check.get("state")) in states]


def _has_passed(check: Any) -> bool:  # noqa: ANN401 - anything the service may send
    return isinstance(check, dict) and str(check.get("state")) in PASSING_STATES


def _first_failed_checks(sent: object, conditions: EvaluatedConditions) -> dict[str, Any]:
    """The first few failed checks, and how many more there are."""
    if not isinstance(sent, list):
        return {} if sent is None else {"failed_checks": sent}
    failed = [check for check in sent if not _has_passed(check)]
    checks = [_failed_check(check, conditions) for check in failed[:CHECKS_READ]]
    # The others say less about why it left, and are the first to be left out.
    checks.sort(key=_is_not_required)
    kept = checks[:LIST_KEPT]
    return {"failed_checks": kept, "checks_left_out": len(failed) - len(kept)}


def _failed_check(sent: Any, conditions: EvaluatedConditions) -> Any:  # noqa: ANN401 - anything the service may send
    if not isinstance(sent, dict):
        return sent
    return {
        "name": sent.get("name"),
        "url": sent.get("details_url") or sent.get("url"),
        "state": sent.get("state"),
        "is_required": conditions.requires(sent.get("name")),
    }


def _is_not_required(check: Any) -> bool:  # noqa: ANN401 - anything the service may send
    return isinstance(check, dict) and check["is_required"] is False


def in_order(records: Sequence[EventRecord]) -> list[EventRecord]:
    """Oldest first."""
    return sorted(records, key=lambda record: (record.received_at, record.event_id))
