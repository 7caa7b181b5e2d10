"""Leaving the queue, and going back in line when something ahead changed."""

from bot.sandbox.merge_queue.simulation import checks, freezing, records
from bot.sandbox.merge_queue.simulation.state import Batch, Line, QueuedPullRequest
from bot.sandbox.merge_queue.simulation.turn import Turn

_SHOWN_SECONDS = 10.0


def batch_of(line: Line, queued: QueuedPullRequest) -> Batch | None:
    """Find the top-level batch that holds a pull request; None while it waits."""
    return next((batch for batch in line.batches if queued in batch.members), None)


def leave(
    turn: Turn,
    line: Line,
    queued: QueuedPullRequest,
    code: str,
    batch: Batch | None = None,
) -> None:
    """Take a pull request out of the queue; `batch` is the run that decided it."""
    if queued in line.waiting:
        line.waiting.remove(queued)
    for holder in line.batches:
        for part in (holder, *(holder.sub_batches or ())):
            if queued in part.members:
                part.members.remove(queued)
    settle_waits(turn, queued)
    records.leave(turn, queued, code, batch)
    if code == "PR_MERGED":
        records.merged(turn, queued)
    else:
        queued.pull.labels = tuple(name for name in queued.pull.labels if name != "queued")
        records.label(turn, queued, "dequeued", "queued")
    records.size(turn, line, queued)


def settle_waits(turn: Turn, queued: QueuedPullRequest) -> None:
    """Add the time held by a freeze or a schedule to the totals of this stay."""
    if queued.frozen_since is not None:
        queued.frozen_for += turn.now - queued.frozen_since
    if queued.schedule_since is not None:
        queued.schedule_for += turn.now - queued.schedule_since
    queued.frozen_since = queued.schedule_since = None


def show_gone(turn: Turn, line: Line, batch: Batch, code: str) -> None:
    """Keep a finished batch in the status for a moment, as `merged` or `failed`."""
    batch.code = code
    batch.sub_batches = None
    batch.merge_at = None
    batch.shown_until = turn.after(_SHOWN_SECONDS)
    line.gone.append(batch)


def requeue(
    turn: Turn,
    line: Line,
    first: int,
    code: str,
    own_codes: dict[int, str] | None = None,
) -> None:
    """Dissolve the batches from index `first` on: their members go back in line, in order.

    Running checks end with `code`, or with the code that `own_codes` gives a member by number.
    """
    dissolved = line.batches[first:]
    line.batches = line.batches[:first]
    for batch in dissolved:
        for run in (batch, *(batch.sub_batches or ())):
            checks.abort(turn, line, run, own_codes or {}, code)
        if batch.sub_batches is not None:
            records.bisection_end(turn, batch, [])
        for queued in batch.members:
            settle_waits(turn, queued)
        line.waiting.extend(batch.members)
    sort_waiting(turn, line)


def sort_waiting(turn: Turn, line: Line) -> None:
    """Put those in line in order: not frozen first, then by priority, then by age."""
    repository = turn.repository
    now = turn.now
    line.waiting.sort(
        key=lambda queued: (
            freezing.is_frozen(repository, queued.pull, now),
            -queued.priority,
            queued.queued_at,
            queued.number,
        ),
    )


def stacked_on(line: Line, queued: QueuedPullRequest) -> list[QueuedPullRequest]:
    """List the queued pull requests that are stacked on this one, directly or not."""
    direct = [
        dependent for dependent in line.queued() if dependent.pull.stacked_on == queued.number
    ]
    return [*direct, *(other for dependent in direct for other in stacked_on(line, dependent))]


def withdraw_stack(turn: Turn, line: Line, queued: QueuedPullRequest) -> None:
    """Take one pull request out as the API does, and what is stacked on it."""
    stacked = stacked_on(line, queued)
    withdraw(turn, line, queued, "PR_MANUALLY_DEQUEUED")
    for dependent in stacked:
        withdraw(turn, line, dependent, "STACK_PREDECESSOR_DEQUEUED")


def withdraw(turn: Turn, line: Line, queued: QueuedPullRequest, code: str) -> None:
    """Take one pull request out of line or out of its batch; what was built on it starts again."""
    batch = batch_of(line, queued)
    if batch is not None and batch.code != "waiting_for_batch":
        place = line.batches.index(batch)
        requeue(turn, line, place, "PR_AHEAD_DEQUEUED", {queued.number: code})
    leave(turn, line, queued, code)
    line.batches = [batch for batch in line.batches if batch.members]
