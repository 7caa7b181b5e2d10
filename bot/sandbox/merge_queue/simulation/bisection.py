"""Finding which pull request broke a batch, by testing its parts cumulatively."""

from bot.sandbox.merge_queue.simulation import batching, checks, entering, leaving, records
from bot.sandbox.merge_queue.simulation.state import Batch, Line, QueuedPullRequest
from bot.sandbox.merge_queue.simulation.turn import Turn


def split(turn: Turn, line: Line, batch: Batch) -> None:
    """Begin to bisect the failed batch at the head of its line; what follows is held."""
    batch.code = "bisecting"
    batch.sub_batches = []
    hold_followers(turn, line)
    _split_part(turn, batch, list(batch.members), [], None)


def hold_followers(turn: Turn, line: Line) -> None:
    """Stop the batches behind a failed one: they will be tested again without it."""
    for follower in line.batches[1:]:
        started = follower.started_at is not None
        checks.abort(turn, line, follower, {}, "BATCH_AHEAD_FAILED")
        follower.code = "waiting_for_requeue" if started else "waiting_for_previous_batches"
        follower.ready_at = follower.max_start_at = None


def _split_part(
    turn: Turn,
    batch: Batch,
    suspects: list[QueuedPullRequest],
    later: list[Batch],
    split_of: Batch | None,
) -> None:
    batch.splits += 1
    parts = [
        batching.new_batch(turn, members, "preparing", [])
        for members in _parts(suspects, max(2, turn.repository.max_parallel_checks))
    ]
    for part in parts:
        part.ready_at = turn.after(batching.PREPARING_SECONDS)
        part.split_of = split_of
    # All suspects together are known to fail, so the last one alone needs no run: when
    # everything before it passes, it is the culprit.
    parts[-1].ready_at = None
    parts[-1].code = "waiting_for_previous_batches"
    batch.sub_batches = [*parts, *later]
    for place, part in enumerate(batch.sub_batches):
        part.parent_ids = [other.id for other in batch.sub_batches[:place]]
    records.bisection_start(turn, batch, len(suspects), len(parts))


def _parts(members: list[QueuedPullRequest], count: int) -> list[list[QueuedPullRequest]]:
    count = min(count, len(members))
    size, larger = divmod(len(members), count)
    parts = []
    start = 0
    for place in range(count):
        end = start + size + (place < larger)
        parts.append(members[start:end])
        start = end
    if len(parts[-1]) > 1:
        parts[-1:] = [parts[-1][:-1], parts[-1][-1:]]
    return parts


def advance(turn: Turn, line: Line, batch: Batch) -> bool:
    """Take the next step of a bisection; return whether there was one."""
    parts = batch.sub_batches or []
    if not parts:
        return False
    first = parts[0]
    untested = first.ready_at is None and first.started_at is None
    if first.has_failed or untested:
        _blame(turn, line, batch, first)
        return True
    return _start_parts(turn, line, batch)


def _start_parts(turn: Turn, line: Line, batch: Batch) -> bool:
    ahead: list[QueuedPullRequest] = []
    for part in batch.sub_batches or ():
        free = sum(1 for _ in line.runs()) < turn.repository.max_parallel_checks
        if part.ready_at is not None and part.ready_at <= turn.now and free:
            checks.start(turn, line, part, ahead)
            return True
        ahead.extend(part.members)
    return False


def _blame(turn: Turn, line: Line, batch: Batch, part: Batch) -> None:
    later = (batch.sub_batches or [])[1:]
    for other in later:
        checks.abort(turn, line, other, {}, "BATCH_AHEAD_FAILED")
        other.code = "waiting_for_previous_batches"
        other.ready_at = None
    limit = batch.rule.max_splits
    if len(part.members) == 1:
        evidence = part if part.checks else batch
        _end(turn, line, batch, evidence, list(part.members))
    elif limit is not None and batch.splits >= limit:
        _end(turn, line, batch, part, list(part.members))
    else:
        _split_part(turn, batch, list(part.members), later, part)


def _end(
    turn: Turn,
    line: Line,
    batch: Batch,
    evidence: Batch,
    culprits: list[QueuedPullRequest],
) -> None:
    """End the bisection: the culprits leave, everything else goes back in line."""
    limit = len(culprits) > 1
    code = "BATCH_MAX_FAILURE_RESOLUTION_ATTEMPTS" if limit else checks.failure_code(evidence)
    records.bisection_end(turn, batch, [queued.number for queued in culprits], limit=limit)
    batch.sub_batches = None
    dismiss(turn, line, evidence, culprits, code)


def dismiss(
    turn: Turn,
    line: Line,
    evidence: Batch,
    culprits: list[QueuedPullRequest],
    code: str,
) -> None:
    """Make pull requests of the failed head batch leave; all others start again without them."""
    for queued in culprits:
        leaving.leave(turn, line, queued, code, evidence)
        entering.plan_return(turn, queued.pull)
    leaving.requeue(turn, line, 0, "BATCH_AHEAD_FAILED")
    evidence.members = culprits
    leaving.show_gone(turn, line, evidence, "failed")
