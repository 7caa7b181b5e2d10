"""The resources of the merge queue, read from what a service sends, and what a queue counts."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from bot.merge_queue.queue import (
    Account,
    Application,
    Batch,
    BatchStatusCode,
    Condition,
    Pause,
    QueueStatus,
)
from tests.support.clock import NOON
from tests.support.make import make_batch, make_bisected, make_queued, make_status
from tests.support.samples import sample, sample_bytes


def test_the_documented_status_is_read_in_full() -> None:
    status = QueueStatus.model_validate_json(sample_bytes("status"))

    bisected, running = status.batches
    assert bisected.status.code == BatchStatusCode.BISECTING
    assert bisected.batch_filled_slots == 2
    assert [sub.name for sub in bisected.sub_batches] == ["batch-10", "batch-11"]
    assert running.sub_batches == ()
    assert running.parent_ids == (bisected.id,)
    assert (running.checks_summary.passed, running.checks_summary.total) == (3, 5)
    first = bisected.pull_requests[0]
    assert (first.number, first.author.login) == (41, "ana")
    assert status.waiting_pull_requests[0].estimated_merge_at is None
    assert status.paused is None


def test_a_newer_status_has_its_slots_in_the_batch_status() -> None:
    status = QueueStatus.model_validate_json(sample_bytes("status_live"))

    (batch,) = status.batches
    assert batch.status.code == "waiting_for_checks_slot"
    assert (batch.batch_filled_slots, batch.max_batch_slots) == (1, 5)
    assert batch.pull_requests[0].is_frozen
    assert status.paused


@pytest.mark.parametrize("code", ["running", "frozen", "a_code_of_tomorrow"])
def test_any_batch_code_passes_through(code: str) -> None:
    sent = sample("status")
    sent["batches"][0]["status"]["code"] = code

    assert QueueStatus.model_validate(sent).batches[0].status.code == code


@pytest.mark.parametrize(
    ("pause", "paused"),
    [
        (None, False),
        ({"paused": False}, False),
        ({"paused": False, "reason": "over", "paused_at": "2026-07-20T11:00:00Z"}, False),
        ({"paused": True}, True),
        ({"reason": "deploying", "paused_at": "2026-07-20T11:00:00Z"}, True),
        ({"paused": "perhaps"}, None),
    ],
)
def test_a_newer_status_says_whether_the_queue_is_paused(
    pause: object, *, paused: bool | None
) -> None:
    sent = sample("status_live") | {"pause": pause}

    assert QueueStatus.model_validate(sent).paused is paused


def test_errors_do_not_quote_the_request() -> None:
    with pytest.raises(ValidationError) as caught:
        Pause.model_validate({"reason": "secret plans", "paused_at": "secret time"})

    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "scope", "its_id"),
    [
        ("application", None, "123"),
        ("application_live", "admin", "3fa85f64-5717-4562-b3fc-2c963f66afa6"),
    ],
)
def test_application_is_read_in_both_shapes(name: str, scope: str | None, its_id: str) -> None:
    account = Account(login="acme")
    application = Application(name="control room", scope=scope, account=account, id=its_id)
    assert Application.model_validate_json(sample_bytes(name)) == application


@pytest.mark.parametrize(
    "sent",
    ["2026-07-20T23:25:11Z", "2026-07-21T01:25:11+02:00", "2026-07-20T23:25:11"],
)
def test_times_are_aware_and_in_utc(sent: str) -> None:
    pause = Pause.model_validate_json(json.dumps({"reason": "x", "paused_at": sent}))

    assert pause.paused_at == datetime(2026, 7, 20, 23, 25, 11, tzinfo=UTC)
    assert pause.paused_at.tzinfo is UTC


@pytest.mark.parametrize("sent", ["9999-12-31T23:59:59Z", "0001-01-01T00:00:00+14:00", 10**30])
def test_implausible_times_are_errors_and_not_overflows(sent: Any) -> None:
    with pytest.raises(ValidationError):
        Pause.model_validate({"reason": "x", "paused_at": sent})


@pytest.mark.parametrize("never", ["9999-12-31T23:59:59Z", "2026-12-31T23:59:60Z"])
def test_an_implausible_estimate_is_ignored(never: str) -> None:
    sent = sample("status")
    for one in (sent["waiting_pull_requests"][0], *sent["batches"]):
        one["estimated_merge_at"] = never

    status = QueueStatus.model_validate(sent)

    assert {batch.estimated_merge_at for batch in status.batches} == {None}
    assert status.waiting_pull_requests[0].estimated_merge_at is None


def test_conditions_not_met_are_the_innermost_ones_the_service_says_so_of() -> None:
    unmet, met, unsaid = ({"match": match, "label": str(match)} for match in (False, True, None))
    any_of = {"match": False, "label": "any of", "subconditions": [met | {"match": 7}, unmet]}
    satisfied = {"match": True, "label": "any of", "subconditions": [unmet]}
    negated = {"match": False, "label": "not draft", "subconditions": [met]}
    tree = {
        "match": False,
        "label": "all of",
        "subconditions": [any_of, satisfied, negated, unsaid],
    }

    assert Condition.model_validate(tree).unmet == ["False", "not draft"]
    assert Condition.model_validate(tree | {"match": None}).unmet == ()


def test_running_batches_and_the_next_merge_are_known() -> None:
    soon = NOON + timedelta(minutes=6)
    later = NOON + timedelta(minutes=20)
    status = make_status(
        make_batch(make_queued(1), make_queued(2), name="a", estimated_merge_at=later),
        make_batch(make_queued(3), name="b", code="preparing", estimated_merge_at=soon),
        make_batch(make_queued(4), name="c"),
        waiting=[make_queued(5), make_queued(6)],
    )

    assert [one.name for one in status.running] == ["a", "c"]
    assert status.next_merge_at == soon
    assert [pull_request.number for pull_request in status.queued] == [1, 2, 3, 4, 5, 6]


def test_a_batch_that_is_over_merges_no_more() -> None:
    soon = NOON + timedelta(minutes=6)
    later = NOON + timedelta(minutes=20)
    merged = make_batch(make_queued(1), name="a", code="merged", estimated_merge_at=soon)
    failed = make_bisected(make_batch(estimated_merge_at=soon), name="b", code="failed")
    running = make_batch(make_queued(2), name="c", estimated_merge_at=later)

    assert make_status(merged, failed, running).next_merge_at == later
    assert make_status(merged, failed).next_merge_at is None


def test_a_pull_request_in_two_batches_counts_once() -> None:
    status = make_status(
        make_batch(make_queued(1), name="a"), make_batch(make_queued(1), make_queued(2), name="b")
    )

    assert [batch.number for batch in status.queued] == [1, 2]


@pytest.mark.parametrize(
    ("batch", "running", "bisecting"),
    [
        (make_batch(), 1, 0),
        (make_batch(code="bisecting"), 0, 1),
        (make_bisected(make_batch(), make_batch()), 0, 1),
        (make_bisected(make_bisected(make_batch()), make_batch(code="preparing")), 0, 1),
        (make_bisected(make_batch(), code="waiting_for_merge"), 0, 1),
        (make_bisected(make_batch(code="waiting_for_merge"), code="frozen"), 0, 0),
        (make_bisected(make_batch(), code="failed"), 0, 0),
        (make_batch(code="preparing"), 0, 0),
    ],
)
def test_a_pause_stops_runs_and_bisections(batch: Batch, running: int, bisecting: int) -> None:
    status = make_status(batch)
    assert (len(status.running), len(status.bisecting)) == (running, bisecting)


def test_an_empty_queue_has_nothing_to_stop() -> None:
    status = make_status()
    assert (status.running, status.next_merge_at, status.queued) == ([], None, [])
