"""What is told of a pause that should have lifted itself, and could not."""

from datetime import datetime

from bot.domain.pause_records import PauseRecord
from bot.domain.reminders import OVERDUE, ReminderPlan, hurried
from bot.ports import Transaction
from bot.usecases.pausing.group_cards import touch_group
from bot.usecases.pausing.pause_cards import touch_pause


async def tell_overdue(transaction: Transaction, pause: PauseRecord, now: datetime) -> None:
    """The cards say so at once; channels are reminded when it stays so for some minutes."""
    await touch_pause(transaction, pause, now)
    await touch_group(transaction, pause, now)
    plans = await transaction.reminders.locked([pause.pause_id])
    plan = plans.get(pause.pause_id) or ReminderPlan(pause.pause_id, now + OVERDUE)
    await transaction.reminders.save(hurried(plan, now))
