"""What merges after a pause, of the pull requests that waited during it."""

from collections.abc import Sequence
from datetime import datetime

from bot.log.rows import Events
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.event_types import MERGED
from bot.pauses.group_pauses import group_act_of, shown_group
from bot.pauses.history import shown_pause
from bot.pauses.pause import MERGES_COUNTED_FOR, MergedSince, PauseRecord
from bot.pauses.rows import Pauses
from bot.posts.live_message import Priority
from bot.posts.live_messages import LiveMessages
from bot.store.transaction import Transaction

MERGES_COUNTED = 1000
"""The most merges after one pause that are counted."""


def merged_since(transaction: Transaction, pauses: Sequence[PauseRecord]) -> MergedSince:
    """What merged since these pauses ended, by the stored log."""
    count = 0
    waited = 0
    times: list[datetime] = []
    for pause in pauses:
        waiting = pause.queue.waiting
        waited += waiting
        end = pause.end
        if end is None or not waiting:
            continue
        until = end.at + MERGES_COUNTED_FOR
        since = end.seen_at or end.at
        log = Events(transaction).between(pause.repository, MERGED, since, until, MERGES_COUNTED)
        merges = [event for event in log if event.pull_request in pause.queue.waited]
        count += len({event.pull_request for event in merges})
        times += [event.received_at for event in merges]
    return MergedSince(count, waited, max(times, default=None))


def mark_records(transaction: Transaction, merges: Sequence[EventRecord], due_at: datetime) -> None:
    """Have the records of pauses edited in which one of a queue's merged pull requests waited.

    A merge counts by when it was made: after a downtime it may be read long after that.
    """
    merged = {merge.pull_request for merge in merges}
    since = min(merge.received_at for merge in merges) - MERGES_COUNTED_FOR
    for pause in Pauses(transaction).recent(merges[0].repository, since):
        if pause.is_open or not pause.queue.waited.intersection(merged):
            continue
        subjects = [shown_pause(pause)]
        act = group_act_of(transaction, pause)
        if act is not None:
            subjects.append(shown_group(act))
        for subject in subjects:
            LiveMessages(transaction).mark(subject, due_at=due_at, priority=Priority.REST)
