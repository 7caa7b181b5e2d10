"""What a board shows, and which changes count."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from bot.domain.boards import ADDRESS_KEPT, NAMED_WAITING, NEXT_UP, BoardState, round_up, seen
from bot.domain.pause_records import PauseRecord
from bot.domain.queue import Batch
from bot.domain.snapshots import Snapshot
from tests.support.clock import NOON
from tests.support.make import (
    make_batch,
    make_known_pause,
    make_queued,
    make_snapshot,
    make_status,
    make_timer,
)

MINUTE = timedelta(minutes=1)


def queue(*batches: Batch, at: datetime = NOON, waiting: int = 0) -> Snapshot:
    line = [make_queued(100 + number) for number in range(waiting)]
    return make_snapshot(make_status(*batches, waiting=line), read_at=at)


def due_in(minutes: float, **how: object) -> Batch:
    return make_batch(estimated_merge_at=NOON + minutes * MINUTE, **how)  # type: ignore[arg-type]  # keywords of make_batch


def followed(*snapshots: Snapshot) -> list[BoardState]:
    """What is known after each."""
    found: list[BoardState] = []
    for snapshot in snapshots:
        found.append(seen(found[-1] if found else None, snapshot))
    return found


def timed_pause(failures: int = 0) -> PauseRecord:
    return replace(make_known_pause(), timer=make_timer(failures=failures))


def is_change(before: Snapshot, after: Snapshot) -> bool:
    first, second = followed(before, after)
    return first.picture != second.picture


def test_passing_time_alone_is_not_a_change() -> None:
    first, second = followed(queue(due_in(12)), queue(due_in(12), at=NOON + 9 * MINUTE))
    assert first.picture == second.picture
    assert second.read_at == NOON + 9 * MINUTE


def test_a_difference_that_boards_do_not_show_is_not_a_change() -> None:
    relabelled = make_queued().model_copy(update={"labels": ("urgent",), "scopes": ("web",)})
    assert not is_change(queue(make_batch()), queue(make_batch(relabelled)))


@pytest.mark.parametrize(
    "after",
    [
        queue(make_batch(checks=(4, 5))),
        queue(make_batch(code="failed")),
        queue(make_batch(make_queued(42))),
        queue(make_batch(), make_batch(name="batch-8")),
        queue(make_batch(), waiting=1),
        queue(),
        replace(queue(make_batch()), pause=make_known_pause()),
    ],
    ids=["checks", "state", "pull request", "batch", "waiting", "empty", "paused"],
)
def test_a_change_that_boards_show_counts(after: Snapshot) -> None:
    assert is_change(queue(make_batch()), after)


def test_the_pausers_name_and_the_end_of_a_pause_count_as_changes() -> None:
    unknown = replace(queue(), pause=make_known_pause(actor=None))
    known = replace(queue(), pause=make_known_pause())
    assert is_change(unknown, known)
    state = seen(None, known)
    timed = seen(state, replace(queue(), pause=timed_pause()))
    assert state.picture != timed.picture
    late = replace(queue(), pause=timed_pause(failures=1))
    assert timed.picture != seen(timed, late).picture


def test_small_changes_of_an_estimate_keep_the_shown_one() -> None:
    sights = followed(*(queue(due_in(12 + move)) for move in (0, 1, -1, 2.9, -2)))
    assert {one.picture.batches[0].due_at for one in sights} == {NOON + 15 * MINUTE}
    assert {one.picture.due_at for one in sights} == {NOON + 15 * MINUTE}


def test_a_drifting_estimate_is_updated_occasionally() -> None:
    """Forty looks, each a minute later, at a merge that is always ten minutes away."""
    looks = (queue(due_in(10 + turn), at=NOON + turn * MINUTE) for turn in range(40))
    sights = followed(*looks)
    reported = [one.picture.due_at for one in sights]
    assert len(set(reported)) <= 40 / 5
    for turn, due_at in enumerate(reported):
        assert due_at is not None
        assert abs(due_at - (NOON + (10 + turn) * MINUTE)) <= 5 * MINUTE


def test_a_passed_estimate_is_replaced_by_the_next_one() -> None:
    late = queue(due_in(9), at=NOON + 6 * MINUTE)
    _, second = followed(queue(due_in(5)), late)
    assert second.picture.due_at == NOON + 10 * MINUTE
    passed = queue(due_in(5), at=NOON + 6 * MINUTE)
    assert not is_change(queue(due_in(5)), passed)


def test_an_appearing_or_disappearing_estimate_is_a_change() -> None:
    assert is_change(queue(make_batch()), queue(due_in(5)))
    assert is_change(queue(due_in(5)), queue(make_batch()))


def test_estimates_are_rounded_up() -> None:
    assert round_up(NOON) == NOON
    assert round_up(NOON + timedelta(microseconds=1)) == NOON + 5 * MINUTE
    assert round_up(None) is None


def test_a_long_queue_shows_its_count_and_first_entries() -> None:
    batches = [make_batch(*map(make_queued, range(9)), name=str(number)) for number in range(7)]
    picture = seen(None, queue(*batches, waiting=400)).picture
    assert (picture.batch_count, len(picture.batches)) == (7, 5)
    assert (len(picture.batches[0].pull_requests), picture.batches[0].more) == (5, 4)
    assert (len(picture.next_up), len(picture.behind)) == (NEXT_UP, NAMED_WAITING)
    assert picture.behind[0] == 100 + NEXT_UP
    assert picture.waiting == 400
    assert picture.in_batches == 9


def test_memory_has_a_limit() -> None:
    endless = make_queued(title="t" * 9999, author="a" * 999, url="https://" + "u" * ADDRESS_KEPT)
    shown = seen(None, queue(make_batch(endless))).picture.batches[0].pull_requests[0]
    assert (len(shown.title), len(shown.author), shown.url) == (200, 100, "")
