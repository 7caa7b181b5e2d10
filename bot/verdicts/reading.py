"""Read the facts of a verdict from what the bot has stored."""

from collections.abc import Sequence

from bot.freezes.freeze import Freeze, Stage
from bot.freezes.rows import Freezes
from bot.log.preceding import LONGEST_QUEUE_TIME, of_same_entry
from bot.log.rows import Events
from bot.merge_queue.event_records import EventRecord, in_order
from bot.merge_queue.event_types import BISECTION_END, CHECKS_END, LEAVE, MERGED
from bot.pauses.rows import Pauses
from bot.store.transaction import Transaction
from bot.verdicts.verdict import RECORD_SPAN, STORM_SPAN, Facts

OWN_READ = 200
OTHERS_READ = 300
"""Events of one type, the newest around the leave."""

_OF_OTHERS = (LEAVE, MERGED, CHECKS_END, BISECTION_END)


def facts_about(
    transaction: Transaction,
    record: EventRecord,
    *,
    own: Sequence[EventRecord] = (),
    is_paused: bool | None = None,
    freezes: Sequence[Freeze] | None = None,
) -> Facts:
    """The facts about a pull request that left; `is_storm` is left to what knows of storms.

    `record`: its leave, with the details of earlier events. `own`: its events that are known
    besides the stored ones. `is_paused`, and `freezes` in force: what the service was just read to
    say; None if it wasn't, or doesn't say.
    """
    repository = record.repository
    events = Events(transaction)
    known: dict[int, EventRecord] = {event.event_id: event for event in own}
    if record.pull_request is not None:
        stored = events.of_pull_requests(
            repository,
            [record.pull_request],
            since=record.received_at - LONGEST_QUEUE_TIME,
            limit=OWN_READ,
        )
        known |= {event.event_id: event for event in stored}
    since = record.received_at - RECORD_SPAN
    until = record.received_at + STORM_SPAN
    others = [
        event
        for type_ in _OF_OTHERS
        for event in events.between(repository, type_, since, until, limit=OTHERS_READ)
    ]
    if is_paused is None:
        is_paused = bool(Pauses(transaction).open([repository]))
    if freezes is None:
        known_freezes = Freezes(transaction).of([repository])
        freezes = [freeze for freeze in known_freezes if freeze.stage is Stage.IN_FORCE]
    return Facts(
        record,
        of_same_entry(record, in_order([*known.values()])),
        in_order(others),
        is_paused=is_paused,
        is_frozen=any(freeze.holds(record.base_ref) for freeze in freezes),
    )
