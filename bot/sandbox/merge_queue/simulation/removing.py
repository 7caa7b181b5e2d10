"""Removing a pull request through the API, together with those stacked on it."""

from dataclasses import dataclass

from bot.sandbox.merge_queue.simulation import leaving
from bot.sandbox.merge_queue.simulation.entering import find
from bot.sandbox.merge_queue.simulation.state import Line, QueuedPullRequest
from bot.sandbox.merge_queue.simulation.turn import Turn


@dataclass(frozen=True, slots=True)
class Impact:
    """How many batches stop, how many pull requests are checked again, how many leave as well."""

    interrupted_batches: int
    rechecked_pull_requests: int
    cascaded_pull_requests: int


def impact(turn: Turn, number: int) -> Impact | None:
    """Say what a removal would do; None when the pull request is not queued."""
    found = find(turn, number)
    if found is None:
        return None
    line, queued = found
    leaves = [queued, *_stacked_on(line, queued)]
    holders = [leaving.batch_of(line, leave) for leave in leaves]
    places = [
        line.batches.index(holder)
        for holder in holders
        if holder is not None and _is_built(holder.code)
    ]
    stopped = line.batches[min(places, default=len(line.batches)) :]
    rechecked = [member for batch in stopped for member in batch.members if member not in leaves]
    running = sum(batch.started_at is not None for batch in stopped)
    return Impact(running, len(rechecked), len(leaves) - 1)


def remove(turn: Turn, number: int) -> bool:
    """Remove it and what is stacked on it; return whether it was queued."""
    found = find(turn, number)
    if found is None:
        return False
    line, queued = found
    stacked = _stacked_on(line, queued)
    leaving.withdraw(turn, line, queued, "PR_MANUALLY_DEQUEUED")
    for dependent in stacked:
        leaving.withdraw(turn, line, dependent, "STACK_PREDECESSOR_DEQUEUED")
    return True


def _is_built(code: str) -> bool:
    return code != "waiting_for_batch"


def _stacked_on(line: Line, queued: QueuedPullRequest) -> list[QueuedPullRequest]:
    """List the queued pull requests that are stacked on this one, directly or not."""
    direct = [
        dependent for dependent in line.queued() if dependent.pull.stacked_on == queued.number
    ]
    return [*direct, *(other for dependent in direct for other in _stacked_on(line, dependent))]
