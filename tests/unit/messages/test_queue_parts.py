"""What batches and pull requests wait for, in words."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from bot.boards.board import Board, seen
from bot.boards.texts import board
from bot.merge_queue.queue import (
    Batch,
    BatchStatus,
    ChecksSummary,
    Obstacle,
    ObstacleKind,
    QueueStatus,
    SpeculativeCheck,
)
from bot.pauses.pause import PauseRecord
from bot.queues.texts.parts import batch_state, filling, obstacle
from bot.queues.texts.status import status
from tests.support.clock import NOON
from tests.support.make import (
    CHANNEL,
    SITE,
    make_batch,
    make_known_pause,
    make_queued,
    make_snapshot,
    make_status,
)


def behind(**fields: Any) -> QueueStatus:
    ahead = make_batch(make_queued(41), name="batch-6")
    return make_status(
        ahead, make_batch(make_queued(42)).model_copy(update={"parent_ids": (ahead.id,), **fields})
    )


def test_a_batch_waits_for_those_it_is_tested_on_unless_they_merged_or_are_missing() -> None:
    queue = behind(status=BatchStatus(code="waiting_for_merge"))
    assert queue.places_ahead_of(queue.batches[1]) == (1,)
    assert queue.places_ahead_of(queue.batches[0]) == ()
    queue = behind(parent_ids=("another",))
    assert queue.places_ahead_of(queue.batches[1]) == ()
    merged = make_status(make_batch(name="batch-6", code="merged"), *behind().batches[1:])
    assert merged.places_ahead_of(merged.batches[1]) == ()


@pytest.mark.parametrize(
    ("batches", "waiting", "said"),
    [
        ([make_batch(make_queued(1), code="failed")], [1, 2], "2 queued · "),
        (
            [make_batch(make_queued(1), code="merged"), make_batch(make_queued(2))],
            [3],
            "2 queued: 1 in 1 batch, 1 waiting · ",
        ),
        ([make_batch(make_queued(1))], [1, 2], "2 queued: 0 in 1 batch, 2 waiting · "),
    ],
)
def test_only_what_is_in_the_queue_counts_and_once(
    batches: list[Batch], waiting: list[int], said: str
) -> None:
    queue = make_status(*batches, waiting=[make_queued(number) for number in waiting])
    shown = status(make_snapshot(queue)).text
    assert f"\n{said}" in shown


def test_a_queue_whose_last_batch_has_merged_is_empty() -> None:
    due_at = NOON + timedelta(minutes=20)
    merged = make_batch(make_queued(1), code="merged", estimated_merge_at=due_at)
    shown = status(make_snapshot(make_status(merged))).text
    assert "is running, the queue is empty" in shown
    assert "queued" not in shown
    assert "expected" not in shown


@pytest.mark.parametrize("code", ["waiting_for_previous_batches", "waiting_for_requeue"])
def test_only_the_batches_that_failed_are_said_to_have_failed(code: str) -> None:
    passing = make_batch(make_queued(40), name="batch-5")
    bisected = make_batch(make_queued(41), name="batch-6", code="bisecting")
    held = make_batch(make_queued(42), code=code).model_copy(
        update={"parent_ids": (passing.id, bisected.id)}
    )
    queue = make_status(passing, bisected, held)
    assert queue.places_ahead_of(held) == (2,)
    shown = status(make_snapshot(queue)).text
    assert "batch 2 failed" in shown
    assert "1, 2" not in shown

    nobody_knows = make_status(passing, held)
    assert nobody_knows.places_ahead_of(held) == ()
    assert "a batch ahead failed" in status(make_snapshot(nobody_knows)).text


@pytest.mark.parametrize(
    ("batches", "said"),
    [
        ([make_batch(), make_batch(code="waiting_for_merge")], "*merging normally*"),
        ([make_batch(code="failed"), make_batch()], "*1 batch is failing*"),
        ([make_batch(code="failed"), make_batch(code="failed")], "*2 batches are failing*"),
        ([make_batch(code="bisecting"), make_batch()], "*bisecting a batch*"),
        (
            [make_batch(name="batch-6", code="waiting_schedule"), behind().batches[1]],
            "*first batch: waiting for its schedule*",
        ),
        ([make_batch(code="waiting_schedule"), make_batch(name="b")], "*merging normally*"),
        ([make_batch(code="waiting_for_batch")], "*first batch: waiting for more pull requests*"),
        ([make_batch(code="merged"), make_batch(name="b")], "*merging normally*"),
        ([make_batch(code="paused <x>")], "*first batch: paused &lt;x&gt;*"),
    ],
)
def test_a_running_queue_says_what_it_is_doing_trouble_first(
    batches: list[Batch], said: str
) -> None:
    shown = status(make_snapshot(make_status(*batches))).blocks[0]
    assert shown["text"] == {
        "type": "mrkdwn",
        "text": f":arrow_forward: *acme/site* is running, {said}",
        "verbatim": True,
    }


@pytest.mark.parametrize(
    ("pause", "due_at"),
    [(make_known_pause(), NOON), (None, NOON - timedelta(minutes=1)), (None, None)],
)
def test_no_merge_is_expected_during_a_pause_or_in_the_past(
    pause: PauseRecord | None, due_at: datetime | None
) -> None:
    queue = make_status(make_batch(make_queued(41), estimated_merge_at=due_at))
    assert "expected" not in status(make_snapshot(queue, pause=pause)).text


@pytest.mark.parametrize(
    ("reported", "ahead", "said"),
    [
        ("waiting_for_merge", (1,), "passed, waiting for batch 1 to merge"),
        ("waiting_for_merge", (1, 3), "passed, waiting for batches 1, 3 to merge"),
        ("waiting_for_merge", (), "passed, waiting to merge"),
        ("running", (1,), "testing"),
        ("waiting_for_{ahead}", (1,), "waiting for {ahead}"),
    ],
)
def test_a_state_names_the_batches_ahead(reported: str, ahead: tuple[int, ...], said: str) -> None:
    assert batch_state(reported, ahead) == said


def test_a_batch_that_waits_for_more_shows_no_count_of_checks() -> None:
    summary = ChecksSummary(passed=0, total=3)
    batch = make_batch(make_queued(41), code="waiting_for_batch")
    waiting = batch.model_copy(update={"checks_summary": summary})
    shown = status(make_snapshot(make_status(waiting))).text
    assert "waiting for more pull requests" in shown
    assert "checks passed" not in shown


def test_a_filling_batch_shows_how_full_it_is_and_when_it_starts() -> None:
    batch = make_batch(code="waiting_for_batch")
    assert filling(batch) == ""
    known = batch.model_copy(
        update={"batch_filled_slots": 2, "max_batch_slots": 5, "batch_max_start_at": NOON}
    )
    assert filling(known).startswith("2 of 5 places taken, starts by <!date^")
    assert filling(make_batch(code="running")) == ""


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"dequeue_requested": True}, "its removal, which was asked for"),
        ({"conflict_with_pull_requests": (40,)}, "#40 to leave the queue, because of a conflict"),
        ({"depends_on_pull_requests": (38, 39)}, "#38, #39, which it depends on"),
        ({"is_frozen": True}, "a scheduled freeze to end"),
    ],
)
def test_a_pull_request_shows_why_it_waits(fields: dict[str, Any], said: str) -> None:
    known = make_queued(41).model_copy(update=fields).obstacle
    assert known is not None
    assert obstacle(known) == said
    assert make_queued(41).obstacle is None
    assert obstacle(Obstacle(ObstacleKind.CONFLICT, (1, 2, 3, 4))).startswith(
        "#1, #2, #3 and 1 more"
    )


def test_unticked_lines_of_a_report_are_open_conditions() -> None:
    report = "- [X] `label=ready`\n  - [ ] `#approved>=1`\n- [ ] any of:"
    assert SpeculativeCheck(evaluated_conditions=report).unmet == ["#approved>=1", "any of:"]


def test_a_queue_with_unreadable_entries_never_looks_empty() -> None:
    snapshot = make_snapshot(make_status().model_copy(update={"unreadable": 2}))
    shown = board(Board(CHANNEL, SITE, "alice", NOON), seen(None, snapshot))
    for said in (status(snapshot).text, shown.text):
        assert "2 entries could not be read" in said
        assert "is running\n" in said
    assert "is running, the queue is empty" in status(make_snapshot()).text


def test_a_merge_is_expected_only_while_nothing_holds_the_queue_and_its_time_is_to_come() -> None:
    due = NOON + timedelta(minutes=5)
    merging = make_status(make_batch(estimated_merge_at=due))
    assert make_snapshot(merging).merge_expected_at == due
    assert make_snapshot(merging, pause=make_known_pause()).merge_expected_at is None
    late = due + timedelta(seconds=1)
    assert make_snapshot(merging, read_at=late).merge_expected_at is None
