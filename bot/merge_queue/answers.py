"""Answers of the merge queue service that hold a pause, or a list."""

from datetime import datetime
from typing import Annotated

from pydantic import AliasChoices, Field

from bot.domain.freezing import ScheduledFreeze
from bot.domain.queue import Pause, Queue, QueueRule
from bot.domain.resource import Foretold, Later, Readable, Resource, Several


class PauseAnswer(Resource):
    """A pause, or an array of them (endpoints 9 and 11), none of which is left out.

    An unreadable pause doesn't mean that the queue is running. Newer services answer without a
    pause, with `paused` false or missing.
    """

    paused: Later[bool | None] = None
    reason: Later[str | None] = None
    paused_at: Annotated[
        Foretold, Field(validation_alias=AliasChoices("paused_at", "pause_date"))
    ] = None
    queue_pause: Several["PauseAnswer"] = ()

    def in_force(self, now: datetime) -> Pause | None:
        """The latest pause. One without a time gets the time `now`."""
        is_given = self.paused_at is not None or self.reason is not None
        is_paused = is_given if self.paused is None else self.paused
        pauses = [
            Pause(
                reason=one.reason or "",
                paused_at=one.paused_at or now,
                is_dated=one.paused_at is not None,
            )
            for one in (*([self] if is_paused else []), *self.queue_pause)
        ]
        return max(pauses, key=lambda pause: pause.paused_at, default=None)


class RulesAnswer(Resource):
    """Endpoint 5."""

    configuration: Several[Readable[QueueRule]]


class BranchesAnswer(Resource):
    """Endpoint 7."""

    base_refs: Several[Readable[str]]


class QueuedBranchesAnswer(Resource):
    """The successor of endpoint 7."""

    branches: Several[Readable[str]]


class QueuesAnswer(Resource):
    """Endpoint 13."""

    queues: Several[Readable[Queue]]


class FreezesAnswer(Resource):
    """The service's list of freezes."""

    scheduled_freezes: Several[Readable[ScheduledFreeze]]
