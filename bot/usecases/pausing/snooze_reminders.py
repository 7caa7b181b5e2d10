"""Put the reminders of a pause off, with the act on record."""

from dataclasses import dataclass
from datetime import datetime

from bot.domain.audit import Action, Actor, ActResult, AuditRecord, Origin
from bot.domain.errors import about
from bot.domain.pauses import NotPaused, OtherPause
from bot.domain.repository import RepositoryName
from bot.ports import MergeQueue
from bot.usecases.pausing.acts import ActLog
from bot.usecases.pausing.recorded_pauses import know_pause
from bot.usecases.pausing.remind_of_pauses import RemindOfPauses, Snoozed


@dataclass(frozen=True, slots=True)
class SnoozeRequest:
    """`paused_at` is the time of the pause that the button was drawn for."""

    repository: RepositoryName
    paused_at: datetime | None
    actor: Actor
    origin: Origin
    channel_id: str | None = None


@dataclass(frozen=True, slots=True)
class SnoozeReminders:
    """Takes the right to pause: whoever is not reminded may forget that merges stand still."""

    merge_queue: MergeQueue
    remind: RemindOfPauses
    acts: ActLog

    async def run(self, request: SnoozeRequest) -> Snoozed | NotPaused | OtherPause:
        """What was put off; when that pause is over, what is true now.

        Raises PermissionDenied, and MergeQueueError when that cannot be told.
        """
        act = AuditRecord(
            at=self.acts.clock.now(),
            actor=request.actor,
            action=Action.SNOOZE,
            origin=request.origin,
            repository=request.repository,
            result=ActResult.STARTED,
            channel_id=request.channel_id,
            paused_at=request.paused_at,
        )
        await self.acts.permit(act)
        if request.paused_at is not None:
            put_off = await self.remind.snooze(act, request.paused_at)
            if put_off is not None:
                return put_off
        await self.acts.leave(act, "that pause is over")
        with about(request.repository):
            current = await self.merge_queue.current_pause(request.repository)
        if current is None:
            return NotPaused()
        return OtherPause(await know_pause(self.acts.store, request.repository, current))
