"""Forming batches from the pull requests in line, and preparing their runs."""

from bot.sandbox.merge_queue.simulation import checks, freezing, leaving, records
from bot.sandbox.merge_queue.simulation.state import Batch, Line, QueuedPullRequest
from bot.sandbox.merge_queue.simulation.turn import Turn

PREPARING_SECONDS = 4.0
_SECOND_TRY_SECONDS = 20.0
_HOLDING_UP = ("bisecting", "failed")


def form(turn: Turn, line: Line) -> bool:
    """Fill the last batch and open new ones while checks may start; return whether any did."""
    if turn.repository.pause is not None or any(_holds_up(batch) for batch in line.batches):
        return False
    changed = False
    if line.batches and line.batches[-1].code == "waiting_for_batch":
        changed = _fill(turn, line, line.batches[-1])
    while (
        line.waiting
        and len(line.batches) < turn.repository.max_parallel_checks
        and not (line.batches and line.batches[-1].code == "waiting_for_batch")
    ):
        _open(turn, line)
        changed = True
    return changed


def _holds_up(batch: Batch) -> bool:
    return batch.code in _HOLDING_UP or batch.has_failed


def new_batch(turn: Turn, members: list[QueuedPullRequest], code: str, parents: list[str]) -> Batch:
    """Make a batch with a fresh id and branch name."""
    return Batch(
        id=turn.uuid(),
        name=f"merge-queue/{turn.random.getrandbits(40):010x}",
        rule=members[0].rule,
        members=members,
        parent_ids=parents,
        code=code,
    )


def _open(turn: Turn, line: Line) -> None:
    leaving.sort_waiting(turn, line)
    seed = line.waiting.pop(0)
    batch = new_batch(turn, [seed], "waiting_for_batch", [other.id for other in line.batches])
    batch.max_start_at = turn.after(batch.rule.batch_max_wait)
    line.batches.append(batch)
    _fill(turn, line, batch)


def _fill(turn: Turn, line: Line, batch: Batch) -> bool:
    # Its members go back in line first: one that came since may have a higher priority.
    before = list(batch.members)
    line.waiting.extend(before)
    leaving.sort_waiting(turn, line)
    batch.members = _choose(turn, line)
    batch.rule = batch.members[0].rule
    line.waiting = [queued for queued in line.waiting if queued not in batch.members]
    full = len(batch.members) >= batch.rule.batch_size
    if full or (batch.max_start_at is not None and turn.now >= batch.max_start_at):
        batch.code = "preparing"
        batch.max_start_at = None
        batch.parent_ids = [other.id for other in line.batches if other is not batch]
        batch.ready_at = turn.after(PREPARING_SECONDS)
        return True
    return batch.members != before


def _choose(turn: Turn, line: Line) -> list[QueuedPullRequest]:
    """Take the first in line, then its likes: same rule, by priority, shared scopes and age."""
    seed = line.waiting[0]
    frozen = freezing.is_frozen(turn.repository, seed.pull, turn.now)
    likes = [
        queued
        for queued in line.waiting[1:]
        if queued.rule.name == seed.rule.name
        and freezing.is_frozen(turn.repository, queued.pull, turn.now) is frozen
    ]
    scopes = set(seed.pull.scopes)
    likes.sort(
        key=lambda queued: (
            -queued.priority,
            -len(scopes & set(queued.pull.scopes)),
            queued.queued_at,
            queued.number,
        ),
    )
    return [seed, *likes[: seed.rule.batch_size - 1]]


def start_prepared(turn: Turn, line: Line) -> bool:
    """Start the run of every batch that is prepared; drop members that cannot be merged."""
    for batch in line.batches:
        if batch.ready_at is None or turn.now < batch.ready_at:
            continue
        conflicting = next((member for member in batch.members if member.pull.conflict), None)
        if conflicting is not None:
            leaving.withdraw(turn, line, conflicting, conflicting.pull.conflict or "")
        elif _trips(turn, line):
            batch.ready_at = turn.after(_SECOND_TRY_SECONDS)
            for queued in batch.members:
                records.checks_not_started(turn, queued)
        else:
            _start(turn, line, batch)
        return True
    return False


def _trips(turn: Turn, line: Line) -> bool:
    if line.hiccups > 0:
        line.hiccups -= 1
        return True
    share = turn.repository.tempo.hiccups
    return share > 0 and turn.random.random() < share


def _start(turn: Turn, line: Line, batch: Batch) -> None:
    rule = batch.rule
    batch.in_place = (
        turn.repository.max_parallel_checks == 1
        and rule.max_retries == 0
        and all(other.batch_size == 1 for other in turn.repository.rules)
    )
    checks.start(turn, line, batch, [])


def retry(turn: Turn, line: Line, batch: Batch) -> None:
    """Put a fresh run of the same pull request in the place of a failed one."""
    fresh = new_batch(turn, batch.members, "preparing", batch.parent_ids)
    fresh.ready_at = turn.after(PREPARING_SECONDS)
    line.batches[line.batches.index(batch)] = fresh
