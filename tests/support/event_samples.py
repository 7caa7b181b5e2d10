"""One event of each type: with all fields, with those of the first days, and bare."""

from collections.abc import Mapping
from typing import Any, Literal

from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.event_types import DEQUEUE_CODES, EVENT_TYPES, LIVE_EVENT_TYPES, CodeClass
from tests.support import published
from tests.support.clock import NOON
from tests.support.make import make_event

Era = Literal["full", "seed", "none"]
ERAS: tuple[Era, ...] = ("full", "seed", "none")

TYPES = sorted({*EVENT_TYPES, *LIVE_EVENT_TYPES, "action.anyhost_actions"})

STAY: Mapping[str, Any] = {
    "queue_name": "hotfix",
    "branch": "main",
    "queued_at": "2026-07-20T11:48:00Z",
    "priority_rule_name": None,
    "session_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
}
BATCH: Mapping[str, Any] = {
    **STAY,
    "batch_id": "c0ffee00-0000-4000-8000-000000000001",
    "batch_name": "batch-7",
    "scopes": ["web"],
}
CHECKS = [
    {"name": "unit", "state": "failure", "description": "", "url": "https://ci.example/1"},
    {"name": "lint", "state": "success", "description": "", "url": "https://ci.example/2"},
]
CHECKED = {
    "number": 900,
    "in_place": False,
    "checks_timed_out": False,
    "checks_conclusion": "success",
    "unsuccessful_checks": [],
    "pull_request_numbers": [41, 42],
}
ANA = {"type": "user", "id": 7, "name": "Ana"}
BOB = {"login": "bob", "id": 8, "type": "User"}
FREEZE = {
    "reason": "release week",
    "start": "2026-07-21T08:00:00",
    "end": None,
    "timezone": "Europe/Paris",
    "matching_conditions": ["base=main"],
    "exclude_conditions": [],
}
COMMAND = {"author": BOB, "comment_id": 5, "session_id": None, "command_trigger": "comment"}
ISSUE = {"ci_issue_id": 3, "ci_issue_long_id": "CI-3", "job_name": "unit tests"}

METADATA: Mapping[str, Mapping[str, Any]] = {
    "action.queue.enter": STAY,
    "action.queue.checks_start": {
        **BATCH,
        "start_reason": "First time checking pull request #41",
        "speculative_check_pull_request": {**CHECKED, "checks_conclusion": "pending"},
    },
    "action.queue.checks_end": {
        **BATCH,
        "aborted": False,
        "abort_code": None,
        "abort_reason": "",
        "abort_status": "DEFINITIVE",
        "speculative_check_pull_request": CHECKED,
    },
    "action.queue.checks_not_started": {**STAY, "reason": "the branch could not be created"},
    "action.queue.leave": {
        **BATCH,
        "reason": "Required checks failed.",
        "merged": False,
        "dequeue_code": "CHECKS_FAILED",
        "checks": CHECKS,
        "unsuccessful_checks": CHECKS[:1],
    },
    "action.queue.merged": {**STAY, "partition_names": [], "merge_commit_sha": "0" * 40},
    "action.queue.change": {"queue_name": "hotfix", "priority_rule_name": None, "size": 3},
    "action.queue.checks.change": {"queue_name": "hotfix", "running_checks": 2},
    "action.queue.batch_bisection_start": {
        **BATCH,
        "original_batch_pr_numbers": [41, 42, 43],
        "batch_size_before_split": 3,
        "number_of_sub_batches": 2,
        "bisection_depth": 1,
        "is_top_level": True,
    },
    "action.queue.batch_bisection_end": {
        **BATCH,
        "original_batch_pr_numbers": [41, 42, 43],
        "culprit_found": True,
        "culprit_pr_numbers": [42],
        "remaining_pr_numbers": [41, 43],
        "max_failure_resolution_reached": False,
    },
    "action.queue.conflict_deferred": {
        **STAY,
        "reason": "conflict",
        "blocking_pull_request_numbers": [39, 40],
    },
    "queue.pause.create": {"reason": "CI is down", "created_by": ANA, "created_by_staff": False},
    "queue.pause.update": {"reason": "still down", "updated_by": ANA},
    "queue.pause.delete": {"deleted_by": ANA},
    "scheduled_freeze.create": {"scheduled_freeze_attributes": FREEZE, "created_by": ANA},
    "scheduled_freeze.update": {
        "scheduled_freeze_attributes_before": FREEZE,
        "scheduled_freeze_attributes_after": {**FREEZE, "reason": "release fortnight"},
        "updated_by": ANA,
    },
    "scheduled_freeze.delete": {
        "scheduled_freeze_attributes": FREEZE,
        "reason": "released",
        "deleted_by": ANA,
    },
    "command.queue": COMMAND,
    "command.dequeue": COMMAND,
    "command.requeue": COMMAND,
    "action.assign": {"added": ["ana"], "removed": ["bob"]},
    "action.label": {"added": ["urgent"], "removed": []},
    "action.backport": {"to": "release/4.2", "pull_request_number": 77, "conflicts": True},
    "action.copy": {"to": "release/4.2", "pull_request_number": 77, "conflicts": False},
    "action.close": {"message": "Superseded by #40"},
    "action.comment": {"message": "Thanks!"},
    "action.delete_head_branch": {"branch": "search"},
    "action.merge": {"branch": "main"},
    "action.dismiss_reviews": {"users": ["ana", "bob"]},
    "action.edit": {"draft": True},
    "action.anyhost_actions": {"workflow": "deploy.yml", "inputs": {"to": "staging"}},
    "action.post_check": {"conclusion": "success", "title": "Policy", "summary": "fine"},
    "action.request_reviews": {"reviewers": ["ana"], "team_reviewers": ["core"]},
    "action.review": {"review_type": "APPROVE", "reviewer": "ana", "message": None},
    "ci_insights.job_retried": {
        "rule_name": "flaky",
        "max_retry": 2,
        "retry_mode": "job",
        "retry_attempt": 1,
        "outcome": "retried",
    },
    "ci_issue.created": ISSUE,
    "ci_issue.linked": ISSUE,
    "ci_issue.reopened": ISSUE,
    "ci_issue.renamed": {"renamed_by": "ana", "old_name": "unit", "new_name": "unit tests"},
    "ci_issue.resolved": {"resolved_by": "ana"},
    "product.enabled": {"product": "merge_queue", "enabled_by": ANA},
    "product.disabled": {"product": "merge_queue", "disabled_by": ANA},
}
"""Those that are not here carry nothing."""

WHOLE_REPOSITORY = (
    "queue.pause.",
    "scheduled_freeze.",
    "product.",
    "test.",
    "ci_insights.auto",
    "ci_issue.",
    "action.queue.change",
    "action.queue.checks.change",
)


def metadata_of(event_type: str, era: Era, **changed: Any) -> Mapping[str, Any]:
    """The metadata of an event type in an era, by its published schema.

    A type that the era has no shape for is as in the other one, or as it is here.
    """
    reported = METADATA.get(event_type, {})
    for vintage in ("april", "august") if era == "seed" else ("august", "april"):
        name = published.metadata_shape(vintage, event_type)
        if name is not None:
            fields = published.shapes(vintage)[name].get("properties", {})
            known = {field: value for field, value in reported.items() if field in fields}
            whole = published.completed(vintage, name, known)
            return whole | {field: changed[field] for field in changed if field in fields}
    return {**reported, **changed}


def sample_record(event_type: str, era: Era, **changed: Any) -> EventRecord:
    """The event as kept; `changed` are fields of its metadata that are otherwise."""
    metadata = metadata_of(event_type, era, **changed)
    of_repository = event_type.startswith(WHOLE_REPOSITORY)
    return make_event(
        1,
        event_type,
        received_at=NOON,
        pull_request=None if of_repository else 41,
        base_ref=None if of_repository else "main",
        metadata=None if era == "none" else metadata,
    )


def leave_with(code: str, era: Era = "full") -> EventRecord:
    merged = DEQUEUE_CODES[code] is CodeClass.MERGED
    reason = code.replace("_", " ").capitalize()
    return sample_record("action.queue.leave", era, dequeue_code=code, merged=merged, reason=reason)


def checks_end_with(code: str, era: Era = "full") -> EventRecord:
    requeued = DEQUEUE_CODES[code] is CodeClass.REQUEUED
    return sample_record(
        "action.queue.checks_end",
        era,
        aborted=True,
        abort_code=code,
        abort_reason=code.replace("_", " ").capitalize(),
        abort_status="REEMBARKED" if requeued else "DEFINITIVE",
    )
