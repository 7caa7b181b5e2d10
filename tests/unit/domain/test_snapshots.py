"""What a queue counts."""

from datetime import timedelta

from tests.support.clock import NOON
from tests.support.make import make_batch, make_queued, make_status

SOON, LATER = NOON + timedelta(minutes=6), NOON + timedelta(minutes=20)


def test_running_batches_and_the_next_merge_are_known() -> None:
    status = make_status(
        make_batch(make_queued(1), make_queued(2), name="a", estimated_merge_at=LATER),
        make_batch(make_queued(3), name="b", code="preparing", estimated_merge_at=SOON),
        make_batch(make_queued(4), name="c"),
        waiting=[make_queued(5), make_queued(6)],
    )

    assert [one.name for one in status.running] == ["a", "c"]
    assert status.next_merge_at == SOON
    assert [one.number for one in status.queued] == [1, 2, 3, 4, 5, 6]


def test_a_pull_request_in_two_batches_counts_once() -> None:
    status = make_status(
        make_batch(make_queued(1), name="a"), make_batch(make_queued(1), make_queued(2), name="b")
    )

    assert [one.number for one in status.in_batches] == [1, 2]


def test_an_empty_queue_has_nothing_to_stop() -> None:
    status = make_status()
    assert (status.running, status.next_merge_at, status.queued) == ([], None, [])
