"""Pausing and resuming a queue (API document, Merge queue pause)."""

from collections.abc import Mapping

from bot.sandbox.merge_queue.simulation import leaving
from bot.sandbox.merge_queue.simulation.freezing import actor
from bot.sandbox.merge_queue.simulation.state import Actor, Line, Pause
from bot.sandbox.merge_queue.simulation.turn import Turn

_CODE = "PR_CHECKS_STOPPED_BECAUSE_MERGE_QUEUE_PAUSE"


def pause(turn: Turn, reason: str, by: Actor) -> Pause:
    """Pause the queue and stop the running checks of its batches; again: a new reason."""
    repository = turn.repository
    earlier = repository.pause
    made = Pause(reason, turn.now)
    repository.pause = made
    if earlier is not None:
        metadata = {"reason": reason, "updated_by": actor(by), "updated_by_staff": False}
        _record(turn, "queue.pause.update", metadata, "Update merge queue pause")
        return made
    metadata = {"reason": reason, "created_by": actor(by), "created_by_staff": False}
    _record(turn, "queue.pause.create", metadata, "Create merge queue pause")
    for line in repository.lines.values():
        leaving.requeue(turn, line, _first_to_stop(line), _CODE)
    return made


def _first_to_stop(line: Line) -> int:
    """Find the first batch that has not passed. Checks on the pull request itself continue."""
    for place, batch in enumerate(line.batches):
        if batch.verdict != "success" and not batch.in_place:
            return place
    return len(line.batches)


def resume(turn: Turn, by: Actor) -> bool:
    """Remove the pause; return whether there was one."""
    if turn.repository.pause is None:
        return False
    turn.repository.pause = None
    metadata = {"deleted_by": actor(by), "deleted_by_staff": False}
    _record(turn, "queue.pause.delete", metadata, "Delete merge queue pause")
    return True


def _record(turn: Turn, kind: str, metadata: Mapping[str, object], trigger: str) -> None:
    service = turn.service
    if service.logs_pauses:
        received_at = service.now + service.pause_lag
        service.last_received_at = max(service.last_received_at, received_at - 1)
        turn.record(kind, metadata, trigger=trigger)
