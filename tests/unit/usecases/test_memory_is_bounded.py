"""What a process keeps in memory doesn't grow with time (docs/architecture.md has the figures)."""

from datetime import timedelta

import pytest

from bot.acts.open_requests import OpenRequests
from bot.feed.read_events import EventContent, ReadEvents
from bot.store.errors import StoreUnavailable
from tests.support.clock import FakeClock
from tests.support.posting import Posting
from tests.support.store import InMemoryStore

OVERLAP = timedelta(minutes=2)


async def test_only_the_newest_posts_are_remembered() -> None:
    bot = Posting()
    bot.use_case.sender.most_remembered = 3
    bot.add(1, 2, 3, 4, 5)
    await bot.run(times=5)
    assert bot.shown("C1") == [1, 2, 3, 4, 5]
    assert len(bot.use_case.sender.sent) == 3


async def test_requests_are_forgotten_whichever_way_they_end() -> None:
    requests = OpenRequests(InMemoryStore(), FakeClock())
    for number, follows in enumerate([False, True, True]):
        row = requests.row(f"r{number}", "U0ADA", "C1", typed="pause")
        requests.begin(row)
        if follows:
            requests.keep(row.request)
    await requests.end("r0")
    await requests.end("r1")
    # Its answer failed, so another process tells the outcome.
    await requests.leave("r2")
    kept = (requests.under_way, requests.answered, requests.to_follow)
    assert [len(one) for one in kept] == [0, 0, 0]


async def test_answers_that_could_not_be_stored_are_stored_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = InMemoryStore()
    requests = OpenRequests(store, FakeClock())

    async def fail(*_: object) -> None:
        raise StoreUnavailable("away")

    with monkeypatch.context() as patch:
        patch.setattr(store, "run", fail)
        for number in range(10):
            await requests.end(f"r{number}")
        assert len(requests.answered) == 10
    await requests.renew()
    assert requests.answered == set()


def test_events_behind_the_overlap_are_forgotten() -> None:
    clock = FakeClock()
    events = ReadEvents()
    for number in range(1000):
        at = clock.now() + timedelta(seconds=number)
        events.seen[number] = EventContent(at, "action.queue.enter", number)
        events.duplicates.add(number)
        events.forget(at, OVERLAP)
    assert len(events.seen) <= 2 * OVERLAP.total_seconds() + 1
    assert events.duplicates <= events.seen.keys()
