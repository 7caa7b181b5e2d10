"""Unreadable events are reported once, with bounded memory."""

from bot.domain.event_records import EventPage, UnreadableEvent
from bot.domain.repository import RepositoryName
from bot.merge_queue.event_log import REMEMBERED, Unreadable
from bot.ports import ServiceCounts

SITE = RepositoryName.parse("acme/site")
OTHER = RepositoryName.parse("acme/other")


def page(*events: UnreadableEvent) -> EventPage:
    return EventPage((), unreadable=events)


def nonsense(event_id: int | None = None, raw: str = "x") -> UnreadableEvent:
    return UnreadableEvent(problem="id: missing", raw=raw, event_id=event_id)


def test_the_oldest_unreadable_events_are_forgotten() -> None:
    counts = ServiceCounts()
    unreadable = Unreadable(counts)

    unreadable.note(SITE, page(*(nonsense(number) for number in range(REMEMBERED + 1))))
    unreadable.note(SITE, page(nonsense(REMEMBERED)))
    assert counts.unreadable_events == REMEMBERED + 1

    unreadable.note(SITE, page(nonsense(0)))
    assert counts.unreadable_events == REMEMBERED + 2
