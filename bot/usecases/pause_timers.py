"""The timers of pauses: set with the end of the act, and found by their pause."""

from collections.abc import Collection, Mapping

from bot.domain.audit import Action, AuditRecord
from bot.domain.pause_records import PauseRecord
from bot.domain.timers import Timer
from bot.ports import Transaction


async def timers_of(
    transaction: Transaction, in_force: Collection[PauseRecord]
) -> Mapping[int, Timer]:
    """The timers that will lift these pauses, by the pause's id, the next first."""
    running = await transaction.timers.running({one.repository for one in in_force})
    return {
        one.pause_id: timer
        for timer in running
        for one in in_force
        # The timer of a pause that ended before its time runs on, and finds nothing to lift.
        if one.repository == timer.repository and one.is_of(timer.paused_at)
    }


async def set_timer(transaction: Transaction, done: AuditRecord) -> None:
    """Give the pause that was made its timer, if the person asked for one."""
    if done.action is not Action.PAUSE or done.lifts_at is None or done.paused_at is None:
        return
    await transaction.timers.save(
        Timer(
            repository=done.repository,
            paused_at=done.paused_at,
            lifts_at=done.lifts_at,
            due_at=done.lifts_at,
            set_by=done.actor.user_id,
            set_by_name=done.actor.name,
            channel_id=done.channel_id,
        )
    )
