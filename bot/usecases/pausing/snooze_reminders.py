"""Put the reminders of a pause off, with the act on record."""

from dataclasses import dataclass, replace
from datetime import datetime

from bot.domain.audit import Action, Caller
from bot.domain.errors import about
from bot.domain.pauses import NotPaused, OtherPause
from bot.domain.repository import RepositoryName
from bot.ports import MergeQueue
from bot.usecases.pausing.acts import ActLog
from bot.usecases.pausing.recorded_pauses import know_pause
from bot.usecases.pausing.remind_of_pauses import RemindOfPauses, Snoozed


@dataclass(frozen=True, slots=True)
class SnoozeReminders:
    """Takes the right to pause: whoever is not reminded may forget that merges stand still."""

    merge_queue: MergeQueue
    remind: RemindOfPauses
    acts: ActLog

    async def run(
        self, caller: Caller, repository: RepositoryName, paused_at: datetime | None
    ) -> Snoozed | NotPaused | OtherPause:
        """What was put off; when the pause that began then is over, what is true now.

        Raises PermissionDenied, and MergeQueueError when that cannot be told.
        """
        act = self.acts.record(caller, Action.SNOOZE, repository)
        act = replace(act, paused_at=paused_at)
        await self.acts.permit(act)
        if paused_at is not None:
            put_off = await self.remind.snooze(act, paused_at)
            if put_off is not None:
                return put_off
        await self.acts.leave(act, "that pause is over")
        with about(repository):
            current = await self.merge_queue.current_pause(repository)
        if current is None:
            return NotPaused()
        return OtherPause(await know_pause(self.acts.store, repository, current))
