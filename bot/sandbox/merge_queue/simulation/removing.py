"""Removing a pull request through the API, together with those stacked on it."""

from dataclasses import dataclass

from bot.sandbox.merge_queue.simulation import leaving
from bot.sandbox.merge_queue.simulation.entering import find
from bot.sandbox.merge_queue.simulation.state import Plan
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
    leaves = [queued, *leaving.stacked_on(line, queued)]
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
    """Remove it and what is stacked on it; return whether it was queued.

    The hosted service may take a while, and shows `dequeue_requested` until it has left
    (MergeQueueStatusPullRequest of https://api.mergify.com/v1/openapi.json). To be asked again
    meanwhile changes nothing.
    """
    found = find(turn, number)
    if found is None:
        return False
    lag = turn.service.removal_lag
    if not lag:
        leaving.withdraw_stack(turn, *found)
    elif not found.queued.dequeue_requested:
        found.queued.dequeue_requested = True
        turn.repository.plans.append(Plan(turn.now + lag, "leave", number))
    return True


def _is_built(code: str) -> bool:
    return code != "waiting_for_batch"
