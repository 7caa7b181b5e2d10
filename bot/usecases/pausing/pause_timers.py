"""The timers of pauses: set with the end of the act, and found by their pause."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime

from bot.domain.audit import Action, AuditRecord
from bot.domain.pause_records import PauseEnding, PauseRecord
from bot.domain.snapshots import same_moment
from bot.domain.timers import Timer, TimerState
from bot.store.transactions import Transaction
from bot.usecases.pausing.pause_cards import find_pause

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
    for action in (Action.PAUSE, Action.EXTEND):
        for act in transaction.audit.latest(timer.repository, action, _LOOKED_AT):
            is_its = act.paused_at is not None and same_moment(act.paused_at, timer.paused_at)
            if is_its and act.lifts_at == timer.lifts_at:
                return act.stored_reason
    return None


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


def end_timer(
    transaction: Transaction, over: PauseRecord, lifts_at: datetime | None = None
) -> None:
    """A timer ends with its pause. The repository's pauses are held.

    `lifts_at`: its time by a clock that has jumped since it was set.
    """
    timer = transaction.timers.locked(over.repository, over.paused_at)
    if timer is None or timer.state is not TimerState.RUNNING or not over.is_of(timer.paused_at):
        return
    state = TimerState.FIRED if over.ending is PauseEnding.TIMER else TimerState.VOID
    ended = replace(timer, state=state, lifts_at=lifts_at or timer.lifts_at)
    transaction.timers.save(ended)


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
