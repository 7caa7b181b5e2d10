"""What acts on a pause read and end: both are stored, with the pause that they made or ended."""

from contextlib import suppress
from dataclasses import replace

from bot.acts.ends import end_of
from bot.acts.record import ActResult, AuditRecord
from bot.acts.recording import RecordActs, failed_act
from bot.kernel.errors import ActState, MergeQueueError, failing
from bot.kernel.repository import RepositoryName
from bot.merge_queue.port import MergeQueue
from bot.merge_queue.queue import Pause, QueueStatus
from bot.pauses.known import StatusSays
from bot.pauses.outcomes import PauseChange
from bot.pauses.readings import (
    PauseReading,
    observe_answer,
    observe_reading,
    observe_unanswered,
)


async def succeed(
    acts: RecordActs, started: AuditRecord, reading: PauseReading, revision: int
) -> PauseChange:
    """Store the end, with deliveries to the actor's channel and all subscribed to pauses.

    `reading`: the service's answer. `revision`: the repository's, from when the request left.
    """
    with failing(failed_act(started, ActState.DONE)):
        here = await acts.here(started.where.channel_id)
        now = acts.clock.now()
        done = end_of(replace(started, at=now, service_at=reading.at), ActResult.DONE)
        answered = await acts.store.run(observe_answer, done, here, reading, revision, now)
    acts.wake()
    return PauseChange(answered.record, answered.pause, posted_here=bool(here))


async def prove(
    acts: RecordActs, started: AuditRecord, reading: PauseReading, revision: int
) -> PauseChange | None:
    """Store what was read after the answer to an act was lost; None if it doesn't prove the act.

    `revision`: the repository's, from when the request left.
    """
    here = await acts.here(started.where.channel_id)
    now = acts.clock.now()
    begun = replace(started, at=now, service_at=reading.at)
    with failing(failed_act(started, ActState.UNCERTAIN)):
        proved = await acts.store.run(observe_unanswered, begun, here, reading, revision, now)
    acts.wake()
    if proved is None:
        return None
    return PauseChange(proved.record, proved.pause, posted_here=bool(here))


async def read_pause_for_act(
    acts: RecordActs, merge_queue: MergeQueue, repository: RepositoryName
) -> Pause | None:
    """The pause in force, read by an act, which counts like each reading.

    The caller holds the lock of the repository. Raises MergeQueueError.
    """
    pause = await merge_queue.current_pause(repository)
    await keep_own_reading(acts, merge_queue, repository, pause)
    return pause


async def keep_own_reading(
    acts: RecordActs, merge_queue: MergeQueue, repository: RepositoryName, pause: Pause | None
) -> None:
    """Store what an act has just read; the caller holds the lock of the repository."""
    status = StatusSays.NOTHING
    if pause is None:
        if not await acts.store.read(acts.is_paused, repository):
            return
        with suppress(MergeQueueError):
            status = status_says(await merge_queue.status(repository))
    reading = PauseReading(pause, merge_queue.service_time, status)
    await keep_reading(acts, repository, reading)


def status_says(status: QueueStatus) -> StatusSays:
    """What a status says beside a reading without a pause."""
    if status.paused is None:
        return StatusSays.NOTHING
    return StatusSays.PAUSED if status.paused else StatusSays.RUNNING


async def keep_reading(acts: RecordActs, repository: RepositoryName, reading: PauseReading) -> None:
    """Store what an act has read; the caller holds the lock of the repository."""
    await acts.store.run(observe_reading, repository, reading, acts.clock.now())
    acts.wake()
