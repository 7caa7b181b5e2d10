"""Reminders: the plan of each pause, kept while the pause is in force."""

from dataclasses import replace

from bot.domain.pause_records import PauseEnding, PauseRecord
from bot.domain.reminders import ReminderPlan
from bot.store.transactions import Store
from tests.support.databases import TestDatabase
from tests.support.stored import NOW, SITE, after
from tests.support.transactions import begin


async def test_a_pause_has_one_plan(database: TestDatabase) -> None:
    for sent in (0, 1):
        with begin(database.open_store()) as transaction:
            transaction.reminders.save(ReminderPlan(7, after(sent), sent))

    with begin(database.open_store()) as transaction:
        assert transaction.reminders.get([7, 8]) == {7: ReminderPlan(7, after(1), 1)}


async def test_plans_go_with_their_pauses(store: Store) -> None:
    with begin(store) as transaction:
        transaction.pauses.of(SITE, NOW)
        pause = PauseRecord(SITE, NOW, "reason", "reason")
        pause_id = transaction.pauses.save(pause)
        transaction.reminders.save(ReminderPlan(pause_id, after(9)))
        assert (transaction.prune(NOW))["pause_reminders"] == 0
        over = replace(pause, pause_id=pause_id, ended_at=after(1), ending=PauseEnding.LIFTED)
        transaction.pauses.save(over)
        assert (transaction.prune(NOW))["pause_reminders"] == 1
        assert transaction.reminders.get([pause_id]) == {}
