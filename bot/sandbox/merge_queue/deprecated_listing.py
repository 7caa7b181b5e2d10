"""The JSON of the deprecated queue listing (API document, endpoint 13)."""

from bot.sandbox.merge_queue import payloads
from bot.sandbox.merge_queue.simulation import records
from bot.sandbox.merge_queue.simulation.moments import SECOND, Moment, optional_rfc3339, rfc3339
from bot.sandbox.merge_queue.simulation.state import (
    Batch,
    Line,
    QueuedPullRequest,
    Repository,
    Service,
)
from bot.sandbox.merge_queue.simulation.vocabulary import DEFAULT_PARTITION

Json = dict[str, object]


def queues(service: Service, repository: Repository) -> Json:
    """List every queue with pull requests, by branch."""
    of_branches: dict[str, list[Json]] = {}
    for line in repository.lines.values():
        listed = _pulls(service, repository, line)
        if listed:
            of_branches.setdefault(line.base_ref, []).extend(listed)
    return {
        "queues": [
            {"branch": {"name": base_ref}, "pull_requests": listed}
            for base_ref, listed in of_branches.items()
        ],
    }


def _pulls(service: Service, repository: Repository, line: Line) -> list[Json]:
    listed: list[Json] = []
    for position, queued in enumerate(line.queued()):
        run = run_of(line, queued)
        listed.append(
            {
                "number": queued.number,
                "position": position,
                "priority": queued.priority,
                "effective_priority": queued.priority,
                "priority_alias": queued.priority_alias,
                "queue_rule": payloads.queue_rule(queued.rule),
                "queued_at": rfc3339(queued.queued_at),
                "speculative_check_pull_request": None if run is None else _speculative(run),
                "mergeability_check": None if run is None else _mergeability(run),
                "estimated_time_of_merge": optional_rfc3339(merge_at(service, repository, run)),
                "partition_name": DEFAULT_PARTITION,
            },
        )
    return listed


def merge_at(service: Service, repository: Repository, run: Batch | None) -> Moment | None:
    """Guess when a run ends in a merge; None without a run, and while the queue is paused."""
    if run is None or repository.pause is not None:
        return None
    usual = max((plan.longest for plan in repository.tempo.checks), default=0.0)
    return (run.started_at or service.now) + round((usual + 10) * SECOND / service.speed)


def run_of(line: Line, queued: QueuedPullRequest) -> Batch | None:
    """Find the run that checks a pull request: its part under bisection, else its batch."""
    for batch in line.batches:
        runs: list[Batch] = [*(batch.sub_batches or ()), batch]
        for run in runs:
            if queued in run.members and run.started_at is not None:
                return run
    return None


def _speculative(run: Batch) -> Json:
    return {
        "in_place": run.in_place,
        "number": run.check_pull_request or 0,
        "started_at": optional_rfc3339(run.started_at),
        "ended_at": optional_rfc3339(run.ended_at),
        "checks": [records.queue_check(check) for check in run.checks],
        "evaluated_conditions": "\n".join(
            f"- [{'X' if check.state == 'success' else ' '}] `check-success={check.name}`"
            for check in run.checks
        ),
        "state": records.conclusion(run),
    }


def _mergeability(run: Batch) -> Json:
    return {
        "check_type": "in_place" if run.in_place else "draft_pr",
        "pull_request_number": run.check_pull_request or 0,
        "started_at": optional_rfc3339(run.started_at),
        "ended_at": optional_rfc3339(run.ended_at),
        "state": records.conclusion(run),
    }
