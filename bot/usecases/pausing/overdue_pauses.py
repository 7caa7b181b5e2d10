"""What is told of a pause that should have lifted itself, and could not."""

from dataclasses import replace
from datetime import datetime

from bot.domain.pause_records import PauseRecord
from bot.domain.reminders import hurried
from bot.store.transactions import Transaction
from bot.usecases.pausing.group_pauses import touch_group
from bot.usecases.pausing.recorded_pauses import touch_pause


def tell_overdue(transaction: Transaction, pause: PauseRecord, now: datetime) -> None:
    """The cards say so at once; channels are reminded when it stays so for some minutes."""
    touch_pause(transaction, pause, now)
    touch_group(transaction, pause, now)
    transaction.pauses.save(replace(pause, reminders=hurried(pause.reminders, now)))
