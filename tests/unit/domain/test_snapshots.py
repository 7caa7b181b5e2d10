"""What a pause would stop."""

from datetime import timedelta

from bot.domain.snapshots import Impact
from tests.support.clock import NOON
from tests.support.make import make_batch, make_queued, make_snapshot, make_status

SOON, LATER = NOON + timedelta(minutes=6), NOON + timedelta(minutes=20)


def test_the_impact_counts_waiting_and_running_pull_requests_and_the_next_merge() -> None:
    status = make_status(
        make_batch(make_queued(1), make_queued(2), name="a", estimated_merge_at=LATER),
        make_batch(make_queued(3), name="b", code="preparing", estimated_merge_at=SOON),
        make_batch(make_queued(4), name="c"),
        waiting=[make_queued(5), make_queued(6)],
    )

    assert make_snapshot(status).impact() == Impact(
        waiting=2, in_batches=4, running_batches=2, next_merge_at=SOON, checks=10
    )


def test_a_pull_request_in_two_batches_counts_once() -> None:
    status = make_status(
        make_batch(make_queued(1), name="a"), make_batch(make_queued(1), make_queued(2), name="b")
    )

    assert [one.number for one in make_snapshot(status).status.in_batches] == [1, 2]


def test_an_empty_queue_has_nothing_to_stop() -> None:
    assert make_snapshot().impact() == Impact(0, 0, 0, None)
