"""What is kept of the reminders of pauses."""

from collections.abc import Collection, Mapping
from typing import Protocol

from bot.domain.reminders import ReminderPlan


class Reminders(Protocol):
    """One plan a pause, from its first reminder or snooze on."""

    async def get(self, pause_ids: Collection[int]) -> Mapping[int, ReminderPlan]:
        """By the pause's id."""
        ...

    async def locked(self, pause_ids: Collection[int]) -> Mapping[int, ReminderPlan]:
        """As `get`; until the transaction ends nobody else changes them."""
        ...

    async def save(self, plan: ReminderPlan) -> None:
        """Insert, or replace the pause's."""
        ...
