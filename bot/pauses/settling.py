"""Gives acts on a pause their end, with the pause that they made or ended."""

from dataclasses import replace
from datetime import datetime

from bot.acts.ends import end_of
from bot.acts.record import ActResult, AuditRecord
from bot.acts.recording import ActLog, failed_act
from bot.kernel.errors import ActState, failing
from bot.kernel.repository import RepositoryName
from bot.merge_queue.queue import Pause
from bot.pauses.outcomes import PauseChange
from bot.pauses.reports import act_behind, finish_act, report_reading
from bot.store.transaction import Transaction


async def succeed(acts: ActLog, started: AuditRecord) -> PauseChange:
    """Store the end, with deliveries to the actor's channel and all subscribed to pauses."""
    here = await acts.here(started.channel_id)
    now = acts.clock.now()
    done = end_of(replace(started, at=now), ActResult.DONE)
    paused_at = done.paused_at
    with failing(failed_act(started, ActState.DONE)):
        record, pause = await acts.store.run(finish_act, done, here, now, paused_at=paused_at)
    acts.wake()
    return PauseChange(record, pause, posted_here=bool(here))


async def settle(acts: ActLog, repository: RepositoryName, pause: Pause) -> None:
    """Give the act that made the pause in force its end, timer and posts, if missing.

    The caller holds the lock of the repository, so nobody else is about to store them.
    """
    if await acts.store.run(_settle_cut_off, repository, pause, acts.clock.now()):
        acts.wake()


def _settle_cut_off(
    transaction: Transaction, repository: RepositoryName, pause: Pause, now: datetime
) -> bool:
    act = act_behind(transaction, repository, pause, now)
    if act is None or act.result is not ActResult.STARTED:
        return False
    report_reading(transaction, repository, pause, act, now)
    return True
