"""A pause as it is on record: who made it, its cards, and the timer that lifts it."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.domain.audit import FROM_LOG, Action, AuditRecord
from bot.domain.cards import CardKind, CardName
from bot.domain.pause_records import (
    NEAR,
    PauseEnding,
    PauseRecord,
    Sighting,
    Timer,
    TimerState,
    same_moment,
    same_pause,
)
from bot.domain.queue import Pause
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import KnownPause
from bot.store.transactions import Store, Transaction
from bot.usecases.open_card import open_cards

LOOKED_BACK = timedelta(days=1)
"""How long after its end a pause is still found by its time."""


def card_of(record: PauseRecord) -> CardName:
    """The name of a pause's cards."""
    return CardName(CardKind.PAUSE, record.repository, str(record.pause_id))


def open_pause_cards(
    transaction: Transaction, record: PauseRecord, channels: Iterable[str], now: datetime
) -> None:
    """Give each of the channels its one card of the pause."""
    open_cards(
        transaction,
        card_of(record),
        channels,
        now,
        identity=record.identity,
        closed=not record.is_open,
    )


def touch_pause(
    transaction: Transaction, record: PauseRecord, now: datetime, *, closed: bool = False
) -> None:
    """Have all cards of the pause edited; `closed` when nothing of it changes any more."""
    transaction.cards.touch(card_of(record), due_at=now, closed=closed)


def pause_in_force(
    transaction: Transaction, repository: RepositoryName, now: datetime
) -> PauseRecord | None:
    """The record of the pause that the queue is paused by, as far as the bot has heard.

    Until the transaction ends nobody else changes a pause of the repository.
    """
    known = transaction.pauses.of(repository, now)
    return next((one for one in known if one.is_open), None)


def find_pause(
    transaction: Transaction, repository: RepositoryName, paused_at: datetime
) -> PauseRecord | None:
    """The record of the pause that the service says began then, if it is known.

    Until the transaction ends nobody else changes a pause of the repository.
    """
    known = transaction.pauses.of(repository, paused_at - LOOKED_BACK)
    return next((one for one in known if one.is_of(paused_at)), None)


_LOOKED_AT = 5
"""Acts of each kind, the newest first: the one that set a timer which runs is among the last."""


def timers_of(transaction: Transaction, in_force: Collection[PauseRecord]) -> Mapping[int, Timer]:
    """The timers that will lift these pauses, by the pause's id, the next first."""
    running = transaction.timers.running({one.repository for one in in_force})
    return {
        one.pause_id: timer
        for timer in running
        for one in in_force
        # The one of a pause that is over runs on for as long as the bot has not heard of its end.
        if one.repository == timer.repository and one.is_of(timer.paused_at)
    }


def reason_when_set(transaction: Transaction, timer: Timer) -> str | None:
    """What the service held when the timer was set; None when that is not on record."""
    found: list[AuditRecord] = []
    for action in (Action.PAUSE, Action.EXTEND):
        for act in transaction.audit.latest(timer.repository, action, _LOOKED_AT):
            is_its = act.paused_at is not None and same_moment(act.paused_at, timer.paused_at)
            if is_its and act.lifts_at is not None:
                found.append(act)
    # Its end is another by now where the clock has jumped: then the last act was the one.
    exact = [act for act in found if act.lifts_at == timer.lifts_at]
    newest = max(exact or found, key=lambda act: act.record_id, default=None)
    return newest.stored_reason if newest is not None else None


def set_timer(transaction: Transaction, done: AuditRecord) -> None:
    """Give the pause that was made its timer, if the person asked for one.

    Where the service keeps the time of a pause that is replaced, the timer of the one before would
    be that of the new one too.
    """
    if done.action is not Action.PAUSE or done.paused_at is None:
        return
    # Pauses before timers, as whoever else ends both.
    find_pause(transaction, done.repository, done.paused_at)
    if done.lifts_at is None:
        before = transaction.timers.locked(done.repository, done.paused_at)
        if before is not None and before.state is TimerState.RUNNING:
            transaction.timers.save(replace(before, state=TimerState.VOID))
        return
    transaction.timers.save(
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


def end_timer(transaction: Transaction, over: PauseRecord) -> None:
    """A timer ends with its pause. The repository's pauses are held."""
    timer = transaction.timers.locked(over.repository, over.paused_at)
    if timer is None or timer.state is not TimerState.RUNNING or not over.is_of(timer.paused_at):
        return
    state = TimerState.FIRED if over.ending is PauseEnding.TIMER else TimerState.VOID
    transaction.timers.save(replace(timer, state=state))


def move_timer(transaction: Transaction, before: PauseRecord, paused_at: datetime) -> None:
    """Keep the timer with its pause, of which only the event's time was known before."""
    timer = transaction.timers.locked(before.repository, before.paused_at)
    if timer is not None and timer.state is TimerState.RUNNING:
        transaction.timers.save(replace(timer, state=TimerState.VOID))
        transaction.timers.save(replace(timer, paused_at=paused_at))


def resume_timer(transaction: Transaction, again: PauseRecord) -> None:
    """Run the timer of a pause again that was told to be over and is not."""
    timer = transaction.timers.locked(again.repository, again.paused_at)
    if timer is not None and again.is_of(timer.paused_at):
        transaction.timers.save(replace(timer, state=TimerState.RUNNING))


LOOKED_AT = 5
"""Acts of pausing, the newest first: the one that made the pause in force is among the last."""


async def know_pause(store: Store, repository: RepositoryName, pause: Pause) -> KnownPause:
    """The service knows no author of a pause.

    Our record of the act with its very time and words does, else what the event log told of it.
    """
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
