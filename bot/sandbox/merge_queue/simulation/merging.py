"""Merging what passed, in order, unless a pause, a freeze or a schedule holds it."""

from bot.sandbox.merge_queue.simulation import freezing, leaving
from bot.sandbox.merge_queue.simulation.moments import hour_of_day
from bot.sandbox.merge_queue.simulation.state import Batch, Line, QueuedPullRequest, QueueRule
from bot.sandbox.merge_queue.simulation.turn import Subject, Turn

_MERGING_SECONDS = 3.0


def head(line: Line) -> Batch | None:
    """Give what may merge next: the first batch, or the first part of it under bisection."""
    if not line.batches:
        return None
    first = line.batches[0]
    if first.sub_batches is None:
        return first
    return first.sub_batches[0] if first.sub_batches else None


def merge_head(turn: Turn, line: Line) -> bool:
    """Merge the head if it passed and nothing holds it; return whether anything changed."""
    _name_those_behind(line)
    batch = head(line)
    if batch is None or batch.verdict != "success":
        return False
    before = (batch.code, batch.merge_at)
    held = _hold(turn, batch)
    _count_waits(turn, batch, held)
    batch.code = held or "waiting_for_merge"
    if held is not None:
        batch.merge_at = None
    elif batch.merge_at is None:
        batch.merge_at = turn.after(_MERGING_SECONDS)
    elif turn.now >= batch.merge_at:
        _merge(turn, line, batch)
        return True
    return before != (batch.code, batch.merge_at)


def _name_those_behind(line: Line) -> None:
    for batch in line.batches[1:]:
        if batch.verdict == "success" and batch.code == "running":
            batch.code = "waiting_for_merge"
    for part in (line.batches[0].sub_batches or ())[1:] if line.batches else ():
        if part.verdict == "success":
            part.code = "waiting_for_merge"


def _hold(turn: Turn, batch: Batch) -> str | None:
    if turn.repository.pause is not None:
        return "waiting_for_merge"
    members = batch.members
    if any(freezing.is_frozen(turn.repository, member.pull, turn.now) for member in members):
        return "frozen"
    if not _schedule_allows(turn, batch.rule):
        return "waiting_schedule"
    return None


def _schedule_allows(turn: Turn, rule: QueueRule) -> bool:
    if rule.merge_hours is None:
        return True
    opens, closes = rule.merge_hours
    hour = hour_of_day(turn.now)
    return opens <= hour < closes if opens <= closes else hour >= opens or hour < closes


def _count_waits(turn: Turn, batch: Batch, held: str | None) -> None:
    frozen = held == "frozen"
    unscheduled = held == "waiting_schedule"
    for queued in batch.members:
        counted = (queued.frozen_since is not None, queued.schedule_since is not None)
        if counted != (frozen, unscheduled):
            leaving.settle_waits(turn, queued)
            queued.frozen_since = turn.now if frozen else None
            queued.schedule_since = turn.now if unscheduled else None


def _merge(turn: Turn, line: Line, batch: Batch) -> None:
    members = list(batch.members)
    for queued in members:
        leaving.leave(turn, line, queued, "PR_MERGED", batch)
        _tidy_up(turn, queued)
    batch.members = members
    whole = line.batches[0]
    if batch is whole:
        line.batches.pop(0)
        leaving.show_gone(turn, line, batch, "merged")
    elif whole.sub_batches:
        whole.sub_batches.pop(0)
    for follower in (*line.batches, *(whole.sub_batches or ())):
        follower.parent_ids = [other for other in follower.parent_ids if other != batch.id]


def _tidy_up(turn: Turn, queued: QueuedPullRequest) -> None:
    """Do what the repository's automation rules do after a merge."""
    about = Subject(queued.number, queued.pull.base_ref)
    branch = f"{queued.pull.author.login}/{queued.pull.head_sha[:8]}"
    turn.record(
        "action.delete_head_branch",
        {"branch": branch},
        about,
        "Rule: delete merged branches",
    )
    if "backport" in queued.pull.labels and queued.pull.base_ref == "main":
        metadata = {
            "to": "release/4.2",
            "pull_request_number": turn.new_number(),
            "conflicts": False,
        }
        turn.record("action.backport", metadata, about, "Rule: backport to the release branch")


def let_unfrozen_pass(turn: Turn, line: Line) -> bool:
    """Dissolve the batches from the first frozen one on when somebody after it may merge."""
    if not turn.repository.freezes:
        return False

    def frozen(queued: QueuedPullRequest) -> bool:
        return freezing.is_frozen(turn.repository, queued.pull, turn.now)

    for place, batch in enumerate(line.batches):
        if any(frozen(queued) for queued in batch.members):
            behind = [queued for later in line.batches[place:] for queued in later.members]
            if all(frozen(queued) for queued in (*behind, *line.waiting)):
                return False
            leaving.requeue(turn, line, place, "SCHEDULED_FREEZE_STATUS_CHANGED")
            return True
    return False
