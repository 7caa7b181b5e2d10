"""From events to direct messages: people are notified of their own pull requests."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from bot.domain.classification import EventKind, turn_after
from bot.domain.deliveries import NewDelivery, Subject, SubjectKind, delivery_id
from bot.domain.dequeue_codes import Turn
from bot.domain.event_records import EventRecord, PullRequestRecord
from bot.domain.notices import Notice
from bot.domain.preceding_events import with_preceding_events
from bot.store.transactions import Transaction


def authors_to_notify(
    transaction: Transaction,
    records: Sequence[EventRecord],
    kinds: Mapping[int, EventKind],
    preceding: Sequence[EventRecord],
    seen: Mapping[int, PullRequestRecord],
) -> Mapping[int, Sequence[str]]:
    """The people to notify of each event, by its id; one query.

    `preceding` completes leaves that lack their reason. The author of a pull request that was never
    seen in the queue is unknown.
    """
    notices: dict[int, Notice] = {}
    authors: dict[int, str] = {}
    for record in records:
        known = seen.get(record.pull_request) if record.pull_request is not None else None
        notice = _notice(with_preceding_events(record, preceding), kinds[record.event_id])
        if known is not None and notice is not None:
            notices[record.event_id], authors[record.event_id] = notice, known.author
    if not notices:
        return {}
    found = transaction.notices.switched_on(set(authors.values()), set(notices.values()))
    return {
        event_id: people
        for event_id, notice in notices.items()
        if (people := found.get((authors[event_id], notice)))
    }


def _notice(record: EventRecord, kind: EventKind) -> Notice | None:
    if kind is EventKind.MERGE:
        return Notice.MERGE
    needs_author = kind is EventKind.FAILURE and turn_after(record, kind) is Turn.AUTHOR
    return Notice.FAILURE if needs_author else None


def to_authors(
    record: EventRecord, kind: EventKind, people: Sequence[str], now: datetime
) -> list[NewDelivery]:
    subject = Subject(SubjectKind.EVENT, record.repository, record.event_id)
    identity = str(record.event_id)
    return [
        NewDelivery(delivery_id(one, subject, identity), one, subject, now, kind=kind)
        for one in people
    ]
