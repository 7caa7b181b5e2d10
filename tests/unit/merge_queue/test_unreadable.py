"""Unreadable events are reported once, with bounded memory."""

from bot.domain.events import EventPage, UnreadableEvent
from bot.domain.repository import RepositoryName
from bot.merge_queue.statistics import REMEMBERED, Statistics

SITE = RepositoryName.parse("acme/site")
OTHER = RepositoryName.parse("acme/other")


def page(*events: UnreadableEvent) -> EventPage:
    return EventPage((), unreadable=events)


def nonsense(event_id: int | None = None, raw: str = "x") -> UnreadableEvent:
    return UnreadableEvent(problem="id: missing", raw=raw, event_id=event_id)


def test_each_unreadable_event_is_counted_once_per_repository() -> None:
    statistics = Statistics()

    statistics.note_unreadable(SITE, page(nonsense(1), nonsense(raw="a"), nonsense(raw="b")))
    statistics.note_unreadable(SITE, page(nonsense(1), nonsense(raw="b")))
    statistics.note_unreadable(OTHER, page(nonsense(1)))

    assert statistics.unreadable_events == 4


def test_the_oldest_unreadable_events_are_forgotten() -> None:
    statistics = Statistics()

    statistics.note_unreadable(SITE, page(*(nonsense(number) for number in range(REMEMBERED + 1))))
    statistics.note_unreadable(SITE, page(nonsense(REMEMBERED)))
    assert statistics.unreadable_events == REMEMBERED + 1

    statistics.note_unreadable(SITE, page(nonsense(0)))
    assert statistics.unreadable_events == REMEMBERED + 2
