"""What an event of each type says when a test or a demo asks for nothing but its type."""

from dataclasses import dataclass
from uuid import NAMESPACE_URL, uuid5

from bot.sandbox.merge_queue.simulation.moments import SECOND, Moment, rfc3339
from bot.sandbox.merge_queue.simulation.vocabulary import DEFAULT_PARTITION, REASONS

Metadata = dict[str, object]

_REPOSITORY_TYPES = (
    "action.queue.change",
    "action.queue.checks.change",
    "ci_insights.auto_quarantine.",
    "ci_issue.",
    "product.",
    "queue.pause.",
    "scheduled_freeze.",
    "test.",
)
_CAROL: Metadata = {"type": "user", "id": 10_403, "name": "carol"}
_FAILED: Metadata = {
    "name": "unit tests",
    "description": "Failing",
    "url": "https://ci.example.com/runs/1",
    "state": "failure",
    "avatar_url": None,
}
_ISSUE: Metadata = {"ci_issue_id": 1, "ci_issue_long_id": "CI-1"}


def concerns_pull_request(kind: str) -> bool:
    """Whether events of this type are about one pull request, not the whole repository."""
    return not kind.startswith(_REPOSITORY_TYPES)


@dataclass(frozen=True, slots=True)
class ReadyEvents:
    """Metadata of all event types, about one pull request of one repository at one moment.

    Events of one pull request have the same session and batch. Fields of the API document's days
    and newer ones stand side by side.
    """

    repository: str
    pull_request: int
    base_ref: str
    host: str
    now: Moment

    def metadata(self, kind: str) -> Metadata:
        """The metadata of this event type, empty for types that carry none or are unknown."""
        every = self._queue() | self._bisections() | self._pauses() | self._freezes()
        return (every | self._commands() | self._actions() | self._ci()).get(kind, {})

    def _id(self, what: str) -> str:
        return str(uuid5(NAMESPACE_URL, f"{self.repository}/{self.pull_request}/{what}"))

    def _entry(self) -> Metadata:
        return {
            "queue_name": "default",
            "branch": self.base_ref,
            "queued_at": rfc3339(self.now - 60 * SECOND),
            "priority_rule_name": None,
            "session_id": self._id("session"),
            "partition_name": DEFAULT_PARTITION,
        }

    def _batch(self) -> Metadata:
        return {
            "train_car_id": self._id("batch"),
            "batch_id": self._id("batch"),
            "batch_name": "batch-1",
            "scopes": [],
            "all_scopes": False,
            "parent_batch_ids": [],
        }

    def _checked(self, conclusion: str) -> Metadata:
        return {
            "number": self.pull_request,
            "in_place": True,
            "checks_timed_out": False,
            "checks_conclusion": conclusion,
            "checks_started_at": rfc3339(self.now - 50 * SECOND),
            "checks_ended_at": None if conclusion == "pending" else rfc3339(self.now),
            "unsuccessful_checks": [],
            "pull_request_numbers": [self.pull_request],
        }

    def _queue(self) -> dict[str, Metadata]:
        entry = self._entry()
        batch = self._batch()
        queue: Metadata = {"queue_name": "default", "partition_name": DEFAULT_PARTITION}
        merged = {name: value for name, value in entry.items() if name != "partition_name"}
        return {
            "action.queue.enter": entry,
            "action.queue.change": {**queue, "priority_rule_name": None, "size": 1},
            "action.queue.checks.change": {**queue, "running_checks": 1},
            "action.queue.checks_not_started": {
                **entry,
                "reason": "The pull request to check the batch on could not be created.",
            },
            "action.queue.checks_start": {
                **entry,
                **batch,
                "start_reason": f"First time checking pull request #{self.pull_request}",
                "speculative_check_pull_request": self._checked("pending"),
                "previous_batch_id": None,
                "previous_batch_name": None,
            },
            "action.queue.checks_end": {
                **entry,
                **batch,
                "aborted": False,
                "abort_code": None,
                "abort_reason": "",
                "abort_status": "DEFINITIVE",
                "retry_attempt": None,
                "max_retries": None,
                "speculative_check_pull_request": self._checked("success"),
            },
            "action.queue.leave": self._leave(),
            "action.queue.merged": {
                **merged,
                "partition_names": [DEFAULT_PARTITION],
                "merge_commit_sha": f"{self.pull_request:040x}",
            },
        }

    def _leave(self) -> Metadata:
        return {
            **self._entry(),
            "reason": REASONS["CHECKS_FAILED"],
            "merged": False,
            "dequeue_code": "CHECKS_FAILED",
            "seconds_waiting_for_schedule": 0,
            "seconds_waiting_for_freeze": 0,
            "conditions_evaluation": None,
            "checks": [_FAILED],
            "unsuccessful_checks": [_FAILED],
            "pull_request_head_sha": f"{self.pull_request:040x}",
            "batch_id": self._id("batch"),
            "scopes": [],
            "all_scopes": False,
        }

    def _bisections(self) -> dict[str, Metadata]:
        culprit = self.pull_request
        other = self.pull_request + 1
        split: Metadata = {
            "queue_name": "default",
            "partition_name": DEFAULT_PARTITION,
            "priority_rule_name": None,
            "session_id": self._id("session"),
            "batch_id": self._id("batch"),
            "train_car_id": self._id("batch"),
            "batch_name": "batch-1",
            "original_batch_pr_numbers": [culprit, other],
        }
        return {
            "action.queue.batch_bisection_start": {
                **split,
                "batch_size_before_split": 2,
                "number_of_sub_batches": 2,
                "bisection_depth": 1,
                "is_top_level": True,
            },
            "action.queue.batch_bisection_end": {
                **split,
                "culprit_found": True,
                "culprit_pr_numbers": [culprit],
                "confirmed_culprit_pr_numbers": [culprit],
                "dropped_unverified_pr_numbers": [],
                "remaining_pr_numbers": [other],
                "max_failure_resolution_reached": False,
            },
        }

    def _pauses(self) -> dict[str, Metadata]:
        return {
            "queue.pause.create": {"reason": "CI is down", **self._by("created")},
            "queue.pause.update": {"reason": "CI is still down", **self._by("updated")},
            "queue.pause.delete": self._by("deleted"),
        }

    def _by(self, done: str) -> Metadata:
        return {f"{done}_by": _CAROL, f"{done}_by_staff": False}

    def _freezes(self) -> dict[str, Metadata]:
        freeze: Metadata = {
            "reason": "release week",
            "start": rfc3339(self.now),
            "end": None,
            "timezone": "UTC",
            "matching_conditions": [f"base={self.base_ref}"],
            "exclude_conditions": [],
        }
        at = rfc3339(self.now)
        return {
            "scheduled_freeze.create": {
                "scheduled_freeze_attributes": freeze,
                "created_at": at,
                **self._by("created"),
            },
            "scheduled_freeze.update": {
                "scheduled_freeze_attributes_before": freeze,
                "scheduled_freeze_attributes_after": {**freeze, "reason": "release fortnight"},
                "updated_at": at,
                **self._by("updated"),
            },
            "scheduled_freeze.delete": {
                "scheduled_freeze_attributes": freeze,
                "reason": "released",
                "deleted_at": at,
                **self._by("deleted"),
            },
        }

    def _commands(self) -> dict[str, Metadata]:
        command: Metadata = {
            "author": {"id": 10_401, "login": "alice", "type": "User"},
            "comment_id": 1,
            "session_id": self._id("session"),
            "command_trigger": "comment",
            "trigger_comment_url": None,
        }
        return {f"command.{name}": command for name in ("queue", "dequeue", "requeue")}

    def _actions(self) -> dict[str, Metadata]:
        copy: Metadata = {
            "to": "release/4.2",
            "pull_request_number": self.pull_request + 1,
            "conflicts": False,
        }
        return {
            "action.assign": {"added": ["alice"], "removed": []},
            "action.backport": copy,
            "action.close": {"message": "Closed: nobody works on it any more."},
            "action.comment": {"message": "Thanks!"},
            "action.copy": copy,
            "action.delete_head_branch": {"branch": "feature"},
            "action.dismiss_reviews": {"users": ["bob"]},
            "action.edit": {"draft": True},
            "action.label": {"added": ["bug"], "removed": []},
            "action.merge": {"branch": self.base_ref},
            "action.post_check": {"conclusion": "success", "title": "Policy", "summary": "Met"},
            "action.request_reviews": {"reviewers": ["bob"], "team_reviewers": []},
            "action.review": {"review_type": "APPROVE", "reviewer": "bob", "message": None},
            f"action.{self.host}_actions": {"workflow": "deploy.yml", "inputs": {}},
        }

    def _ci(self) -> dict[str, Metadata]:
        retried: Metadata = {
            "rule_id": self._id("rule"),
            "rule_name": "flaky",
            "max_retry": 2,
            "retry_mode": "job",
            "retry_attempt": 1,
            "condition_matches": [],
            "outcome": "retried",
            "workflow_run_id": None,
            "job_url": None,
        }
        found: Metadata = {**_ISSUE, "failure_id": 1, "job_name": "unit tests", "job_url": None}
        return {
            "ci_insights.job_retried": retried,
            "ci_issue.created": found,
            "ci_issue.linked": found,
            "ci_issue.merged": {**_ISSUE, "merged_by": "carol", "merged_with_ci_issue_ids": [2]},
            "ci_issue.renamed": {
                **_ISSUE,
                "renamed_by": "carol",
                "old_name": "unit",
                "new_name": "unit tests",
            },
            "ci_issue.reopened": found,
            "ci_issue.resolved": {**_ISSUE, "resolved_by": "carol"},
            "ci_issue.unresolved": {**_ISSUE, "unresolved_by": "carol"},
        }
