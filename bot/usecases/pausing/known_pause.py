"""Who made the pause that is in force, when it was made through this bot, and when it ends."""

from collections.abc import Sequence

from bot.domain.audit import Action, AuditRecord
from bot.domain.pause_records import NEAR, PauseRecord, Sighting, same_pause
from bot.domain.queue import Pause
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import KnownPause, same_moment
from bot.domain.timers import Timer
from bot.store.transactions import Store, Transaction
from bot.usecases.pausing.acts import FROM_LOG

LOOKED_AT = 5
"""Acts of pausing, the newest first: the one that made the pause in force is among the last."""


async def know_pause(
    store: Store, repository: RepositoryName, pause: Pause | None
) -> KnownPause | None:
    """The service knows no author of a pause.

    Our record of the act with its very time and words does, else what the event log told of it.
    """
    if pause is None:
        return None
    acts, open_pauses, timers = await store.run(_on_record, repository)
    if not pause.is_dated:
        told = (one.paused_at for one in open_pauses if one.stored_reason == pause.reason)
        pause = pause.model_copy(update={"paused_at": next(told, pause.paused_at)})
    unknown = KnownPause(pause)
    same = (act for act in acts if unknown.says(act.stored_reason) and _is_of(pause, act))
    seen = Sighting(pause.paused_at, pause.reason)
    record = same_pause(open_pauses, seen)
    is_it = record is not None and record.stored_reason == pause.reason
    credited = record.by if record is not None and is_it else None
    timer = next((one for one in timers if unknown.is_of(one.paused_at)), None)
    return KnownPause(
        pause,
        next(same, None),
        credited.name if credited is not None else None,
        timer.lifts_at if timer is not None else None,
        timer is not None and timer.is_overdue,
    )


def _on_record(
    transaction: Transaction, repository: RepositoryName
) -> tuple[Sequence[AuditRecord], Sequence[PauseRecord], Sequence[Timer]]:
    """The latest acts of pausing, the open pauses, and the timers that run."""
    return (
        transaction.audit.latest(repository, Action.PAUSE, LOOKED_AT),
        transaction.pauses.open([repository]),
        transaction.timers.running([repository]),
    )


def _is_of(pause: Pause, act: AuditRecord) -> bool:
    if act.paused_at is None:
        return False
    if act.detail == FROM_LOG and abs(act.paused_at - pause.paused_at) <= NEAR:
        return True
    return same_moment(act.paused_at, pause.paused_at)
