"""The reminders of pauses: how many there were, and when the next is due."""

from collections.abc import Collection, Mapping
from dataclasses import asdict
from typing import Any

from sqlalchemy import Select, delete, select

from bot.domain.reminders import ReminderPlan
from bot.storage.statements import Statements, slices
from bot.storage.tables import pause_reminders, pauses


class SqlReminders:
    """A row a pause that somebody was reminded of."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    def get(self, pause_ids: Collection[int]) -> Mapping[int, ReminderPlan]:
        return self._get(pause_ids, select(pause_reminders))

    def locked(self, pause_ids: Collection[int]) -> Mapping[int, ReminderPlan]:
        # In one order, so that nobody waits in a circle.
        locking = select(pause_reminders).order_by(pause_reminders.c.pause_id).with_for_update()
        return self._get(pause_ids, locking)

    def _get(self, pause_ids: Collection[int], plans: Select[Any]) -> Mapping[int, ReminderPlan]:
        found: dict[int, ReminderPlan] = {}
        for some in slices(sorted(set(pause_ids))):
            rows = self._statements.run(plans.where(pause_reminders.c.pause_id.in_(some)))
            found |= {row["pause_id"]: ReminderPlan(**row) for row in rows.mappings()}
        return found

    def save(self, plan: ReminderPlan) -> None:
        self._statements.put(pause_reminders, ("pause_id",), [asdict(plan)])

    def delete_ended(self) -> int:
        in_force = select(pauses.c.pause_id).where(pauses.c.ended_at.is_(None))
        deleted = self._statements.run(
            delete(pause_reminders).where(pause_reminders.c.pause_id.not_in(in_force))
        )
        return deleted.rowcount
