"""A pause as it is on record, and its cards."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from bot.domain.live_messages import LiveKind, LiveSubject
from bot.domain.pause_records import PauseRecord, observed, same_pause, seen_again
from bot.domain.queue import Pause
from bot.domain.repository import RepositoryName
from bot.store.transactions import Store, Transaction
from bot.usecases.live_messages import open_live_messages

LOOKED_BACK = timedelta(days=1)
"""How long after its end a pause is still found by its time."""


def shown_pause(record: PauseRecord) -> LiveSubject:
    """What the live messages of a pause show."""
    return LiveSubject(LiveKind.PAUSE, record.repository, str(record.pause_id))


def open_pause_cards(
    transaction: Transaction, record: PauseRecord, channels: Iterable[str], now: datetime
) -> None:
    """Give each of the channels its one card of the pause."""
    open_live_messages(
        transaction,
        shown_pause(record),
        channels,
        now,
        identity=record.identity,
        closed=not record.is_open,
    )


def touch_pause(
    transaction: Transaction, record: PauseRecord, now: datetime, *, closed: bool = False
) -> None:
    """Have all cards of the pause edited; `closed` when nothing of it changes any more."""
    transaction.live_messages.mark(shown_pause(record), due_at=now, closed=closed)


def pause_in_force(
    transaction: Transaction, repository: RepositoryName, now: datetime
) -> PauseRecord | None:
    """The record of the pause that the queue is paused by, as far as the bot has heard.

    Until the transaction ends nobody else changes a pause of the repository.
    """
    known = transaction.pauses.of(repository, now)
    return next((one for one in known if one.is_open), None)


def recent_pause(
    transaction: Transaction, repository: RepositoryName, paused_at: datetime
) -> PauseRecord | None:
    """The record of the pause that the service says began then, if it is known."""
    known = transaction.pauses.recent(repository, paused_at - LOOKED_BACK)
    return next((one for one in known if one.is_of(paused_at)), None)


async def know_pause(store: Store, repository: RepositoryName, pause: Pause) -> PauseRecord:
    """What is on record of the pause in force, whose author the service doesn't know."""
    since = pause.paused_at - LOOKED_BACK
    known = await store.run(lambda transaction: transaction.pauses.recent(repository, since))
    seen = observed(repository, pause)
    if not pause.is_dated:
        same = next((one for one in known if one.is_open and one.says(pause.reason)), None)
    else:
        same = same_pause(known, seen)
    if same is None:
        return seen
    # It may have been told to be over.
    return replace(seen_again(same, seen), ended_at=None, ended_by=None, ending=None)
