"""The events of the queue itself, with the metadata that a real service puts into them."""

from bot.sandbox.merge_queue.simulation.moments import SECOND, optional_rfc3339, rfc3339
from bot.sandbox.merge_queue.simulation.state import (
    Batch,
    Check,
    Line,
    QueuedPullRequest,
    QueueRule,
)
from bot.sandbox.merge_queue.simulation.turn import Subject, Turn
from bot.sandbox.merge_queue.simulation.vocabulary import (
    BROKEN_STATES,
    DEFAULT_PARTITION,
    REASONS,
    REEMBARKED_CODES,
)


def subject(queued: QueuedPullRequest) -> Subject:
    return Subject(queued.number, queued.pull.base_ref)


def queue_check(check: Check) -> dict[str, object]:
    """Write a check as the document's QueueCheck."""
    wording = {"success": "Successful", "failure": "Failing", "pending": "In progress"}
    return {
        "name": check.name,
        "description": wording.get(check.state, check.state.replace("_", " ").capitalize()),
        "url": check.url,
        "state": check.state,
        "avatar_url": None,
    }


def _stay(queued: QueuedPullRequest) -> dict[str, object]:
    return {
        "queue_name": queued.rule.name,
        "branch": queued.pull.base_ref,
        "queued_at": rfc3339(queued.queued_at),
        "priority_rule_name": queued.priority_rule_name,
        "session_id": queued.session_id,
        "partition_name": DEFAULT_PARTITION,
    }


def conclusion(batch: Batch) -> str:
    """Say how a run stands, in the words of CheckState."""
    if batch.verdict is not None:
        return batch.verdict
    return "pending" if batch.is_running or batch.started_at is None else "cancelled"


def unsuccessful(batch: Batch) -> list[dict[str, object]]:
    late = batch.verdict == "timed_out"
    return [
        queue_check(check)
        for check in batch.checks
        if check.state in BROKEN_STATES or (late and check.state == "pending")
    ]


def _check_pull_request(batch: Batch) -> dict[str, object]:
    return {
        "number": batch.check_pull_request or 0,
        "in_place": batch.in_place,
        "checks_timed_out": batch.verdict == "timed_out",
        "checks_conclusion": conclusion(batch),
        "checks_started_at": optional_rfc3339(batch.started_at if batch.ended_at else None),
        "checks_ended_at": optional_rfc3339(batch.ended_at),
        "unsuccessful_checks": unsuccessful(batch),
        "pull_request_numbers": [queued.number for queued in batch.tested],
    }


def _batch(batch: Batch) -> dict[str, object]:
    return {
        "train_car_id": batch.id,
        "batch_id": batch.id,
        "scopes": sorted({scope for queued in batch.members for scope in queued.pull.scopes}),
        "all_scopes": False,
        "parent_batch_ids": list(batch.parent_ids),
    }


def enter(turn: Turn, queued: QueuedPullRequest, trigger: str) -> None:
    turn.record("action.queue.enter", _stay(queued), subject(queued), trigger)


def size(turn: Turn, line: Line, queued: QueuedPullRequest) -> None:
    """Record how long the queue of this rule and branch is now."""
    turn.record(
        "action.queue.change",
        {
            "queue_name": queued.rule.name,
            "priority_rule_name": queued.priority_rule_name,
            "size": sum(other.rule.name == queued.rule.name for other in line.queued()),
            "partition_name": DEFAULT_PARTITION,
        },
        Subject(base_ref=line.base_ref),
    )


def running(turn: Turn, line: Line, rule: QueueRule) -> None:
    """Record how many batches of this rule and branch are being checked now."""
    turn.record(
        "action.queue.checks.change",
        {
            "queue_name": rule.name,
            "running_checks": sum(run.rule.name == rule.name for run in line.runs()),
            "partition_name": DEFAULT_PARTITION,
        },
        Subject(base_ref=line.base_ref),
    )


def checks_start(turn: Turn, batch: Batch, queued: QueuedPullRequest) -> None:
    first = "First time checking" if queued.runs == 1 else "Checking again"
    metadata = _stay(queued) | _batch(batch)
    metadata |= {
        "start_reason": f"{first} pull request #{queued.number}",
        "speculative_check_pull_request": _check_pull_request(batch),
        "batch_name": batch.name,
        "previous_batch_id": None,
        "previous_batch_name": None,
    }
    turn.record("action.queue.checks_start", metadata, subject(queued))


def checks_not_started(turn: Turn, queued: QueuedPullRequest) -> None:
    metadata = _stay(queued) | {
        "reason": "The pull request to check the batch on could not be created.",
    }
    turn.record("action.queue.checks_not_started", metadata, subject(queued))


def checks_end(turn: Turn, batch: Batch, queued: QueuedPullRequest, code: str | None) -> None:
    """Record the end of a run for one member; `code` None is a normal end."""
    metadata = _stay(queued) | _batch(batch)
    metadata |= {
        "aborted": code is not None,
        "abort_code": code,
        "abort_reason": "" if code is None else REASONS[code],
        "abort_status": "REEMBARKED" if code in REEMBARKED_CODES else "DEFINITIVE",
        "retry_attempt": queued.retries,
        "max_retries": queued.rule.max_retries,
        "speculative_check_pull_request": _check_pull_request(batch),
        "batch_name": batch.name,
    }
    turn.record("action.queue.checks_end", metadata, subject(queued))


def leave(turn: Turn, queued: QueuedPullRequest, code: str, batch: Batch | None) -> None:
    merged = code == "PR_MERGED"
    checks = batch.checks if batch is not None else []
    metadata = _stay(queued) | {
        "reason": REASONS[code],
        "merged": merged,
        "dequeue_code": code,
        "seconds_waiting_for_schedule": queued.schedule_for // SECOND,
        "seconds_waiting_for_freeze": queued.frozen_for // SECOND,
        "conditions_evaluation": conditions(queued, checks),
        "checks": [queue_check(check) for check in checks],
        "unsuccessful_checks": [] if merged or batch is None else unsuccessful(batch),
        "pull_request_head_sha": queued.pull.head_sha,
        "batch_id": None if batch is None else batch.id,
        "scopes": None if batch is None else _batch(batch)["scopes"],
        "all_scopes": None if batch is None else False,
    }
    turn.record("action.queue.leave", metadata, subject(queued))


def conditions(queued: QueuedPullRequest, checks: list[Check]) -> dict[str, object] | None:
    """Write the tree of conditions that the checks of a run meet, or not; None without checks.

    A check that is not required is in no condition.
    """
    checks = [check for check in checks if check.is_required]
    if not checks:
        return None
    leaves = [
        _condition(f"check-success={check.name}", queued, [check]) | {"subconditions": []}
        for check in checks
    ]
    return _condition("all of", queued, checks) | {"subconditions": leaves}


def _condition(label: str, queued: QueuedPullRequest, checks: list[Check]) -> dict[str, object]:
    match = all(check.state == "success" for check in checks)
    return {
        "match": match,
        "label": label,
        "is_label_user_input": label != "all of",
        "description": None,
        "attribute_name": None if label == "all of" else "check-success",
        "operator": None if label == "all of" else "=",
        "schedule": None,
        "evaluations": [
            {
                "pull_request": queued.number,
                "match": match,
                "evaluation_error": None,
                "related_checks": [check.name for check in checks],
                "next_evaluation_at": None,
            },
        ],
    }


def merged(turn: Turn, queued: QueuedPullRequest) -> None:
    metadata = _stay(queued)
    del metadata["partition_name"]
    metadata |= {"partition_names": [DEFAULT_PARTITION], "merge_commit_sha": turn.sha()}
    turn.record("action.queue.merged", metadata, subject(queued))


def _bisection(batch: Batch) -> dict[str, object]:
    origin = batch.tested[0]
    return {
        "queue_name": batch.rule.name,
        "priority_rule_name": origin.priority_rule_name,
        "original_batch_pr_numbers": [queued.number for queued in batch.tested],
        "session_id": origin.session_id,
        "partition_name": DEFAULT_PARTITION,
        "batch_id": batch.id,
        "train_car_id": batch.id,
        "batch_name": batch.name,
    }


def bisection_start(turn: Turn, batch: Batch, before: int, parts: int) -> None:
    """Record a split: how many pull requests were suspect before it, in how many parts now."""
    metadata = _bisection(batch) | {
        "batch_size_before_split": before,
        "number_of_sub_batches": parts,
        "bisection_depth": batch.splits,
        "is_top_level": batch.splits == 1,
    }
    turn.record("action.queue.batch_bisection_start", metadata, subject(batch.tested[0]))


def bisection_end(turn: Turn, batch: Batch, culprits: list[int], *, limit: bool = False) -> None:
    """Record the end of a bisection while the culprits are still members of the batch.

    `limit` says that the allowed number of splits was used up.
    """
    metadata = _bisection(batch) | {
        "culprit_found": bool(culprits) and not limit,
        "culprit_pr_numbers": [] if limit else culprits,
        "remaining_pr_numbers": [
            queued.number for queued in batch.members if queued.number not in culprits
        ],
        "max_failure_resolution_reached": limit,
        "confirmed_culprit_pr_numbers": [] if limit else culprits,
        "dropped_unverified_pr_numbers": culprits if limit else [],
    }
    turn.record("action.queue.batch_bisection_end", metadata, subject(batch.tested[0]))


def label(turn: Turn, queued: QueuedPullRequest, added: str, removed: str | None = None) -> None:
    """Record that the queue set its own label, as it does when one enters or is removed."""
    metadata = {"added": [added], "removed": [] if removed is None else [removed]}
    turn.record("action.label", metadata, subject(queued))
