"""The timer of a pause: set in the transaction that stores the end of the act."""

from bot.domain.audit import Action, AuditRecord
from bot.domain.timers import Timer
from bot.ports import Transaction


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
