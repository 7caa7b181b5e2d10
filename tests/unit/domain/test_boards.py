"""What a board shows, and which changes redraw it and the Home tab."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from bot.boards.board import BoardState, seen
from bot.merge_queue.queue import Batch
from bot.pauses.pause import PauseRecord
from bot.queues.picture import ADDRESS_KEPT
from bot.queues.snapshot import Snapshot
from tests.support.clock import NOON
from tests.support.make import (
    SITE,
    make_batch,
    make_home,
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


def paused_by(pause: PauseRecord) -> Snapshot:
    return replace(queue(), pause=pause)


def is_change(before: Snapshot, after: Snapshot) -> bool:
    first, second = followed(before, after)
    return first.picture != second.picture


RUNNING = queue(make_batch())
RELABELLED = make_queued().model_copy(update={"labels": ("urgent",), "scopes": ("web",)})


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (queue(due_in(12)), queue(due_in(12), at=NOON + 9 * MINUTE)),
        (RUNNING, queue(make_batch(RELABELLED))),
    ],
    ids=["time passes", "not shown"],
)
def test_what_boards_do_not_show_is_not_a_change(before: Snapshot, after: Snapshot) -> None:
    first, second = followed(before, after)
    assert first.picture == second.picture
    assert second.read_at == after.read_at


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (RUNNING, queue(make_batch(checks=(4, 5)))),
        (RUNNING, queue(make_batch(code="failed"))),
        (RUNNING, queue(make_batch(make_queued(42)))),
        (RUNNING, queue(make_batch(), make_batch(name="batch-8"))),
        (RUNNING, queue(make_batch(), waiting=1)),
        (RUNNING, queue()),
        (RUNNING, replace(RUNNING, pause=make_known_pause())),
        (RUNNING, queue(due_in(5))),
        (queue(due_in(5)), RUNNING),
        (paused_by(make_known_pause(actor=None)), paused_by(make_known_pause())),
        (paused_by(make_known_pause()), paused_by(timed_pause())),
        (paused_by(timed_pause()), paused_by(timed_pause(failures=1))),
    ],
    ids=[
        *("checks", "state", "pull request", "batch", "waiting", "empty", "paused"),
        *("an estimate", "no estimate", "who paused", "an end", "an end that failed"),
    ],
)
def test_a_change_that_boards_show_counts(before: Snapshot, after: Snapshot) -> None:
    assert is_change(before, after)


def test_small_changes_of_an_estimate_keep_the_shown_one() -> None:
    sights = followed(*(queue(due_in(12 + move)) for move in (0, 1, -1, 2.9, 3, -2)))
    assert {sight.picture.batches[0].due_at for sight in sights} == {NOON + 15 * MINUTE}
    assert {sight.picture.due_at for sight in sights} == {NOON + 15 * MINUTE}


def test_a_drifting_estimate_is_updated_occasionally() -> None:
    """Forty looks, each a minute later, at a merge that is always ten minutes away."""
    looks = (queue(due_in(10 + turn), at=NOON + turn * MINUTE) for turn in range(40))
    sights = followed(*looks)
    reported = [sight.picture.due_at for sight in sights]
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


def test_memory_has_a_limit() -> None:
    endless = make_queued(title="t" * 9999, author="a" * 999, url="https://" + "u" * ADDRESS_KEPT)
    shown = seen(None, queue(make_batch(endless))).picture.batches[0].pull_requests[0]
    assert (len(shown.title), len(shown.author), shown.url) == (200, 100, "")


LATER = NOON + timedelta(minutes=1)


def test_without_its_times_the_home_tab_changes_only_on_events() -> None:
    before = make_home(make_snapshot(), polled={SITE: NOON})
    later = replace(
        before,
        queues=[make_snapshot(read_at=LATER)],
        polled={SITE: LATER},
        read_at=LATER,
    )
    assert later != before
    assert later.timeless() == before.timeless()

    queued = make_status(waiting=[make_queued(41)])
    happened = replace(later, queues=[make_snapshot(queued, read_at=LATER)])
    assert happened.timeless() != before.timeless()
