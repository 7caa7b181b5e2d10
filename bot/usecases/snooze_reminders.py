"""Put the reminders of a pause off, with the act on record."""

from dataclasses import dataclass
from datetime import datetime

from bot.domain.audit import Action, Actor, ActResult, AuditRecord, Origin
from bot.domain.repository import RepositoryName
from bot.usecases.acts import ActLog
from bot.usecases.remind_of_pauses import RemindOfPauses


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

    remind: RemindOfPauses
    acts: ActLog

    async def run(self, request: SnoozeRequest) -> datetime | None:
        """When the next reminder comes; None when that pause is over. Raises PermissionDenied."""
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
        next_at = None
        if request.paused_at is not None:
            next_at = await self.remind.snooze(act, request.paused_at)
        if next_at is None:
            await self.acts.leave(act, "that pause is over")
        return next_at
