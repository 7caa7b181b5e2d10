"""Checks: running, failing, running out of time, being tried again, in place."""

from typing import Any

import pytest

from tests.unit.sandbox.merge_queue.story import Story


def start_and_end(story: Story, number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    start, end = (
        story.log("checks_start", pull=number)[0],
        story.log("checks_end", pull=number)[0],
    )
    return dict(start.metadata), dict(end.metadata)


def test_a_passing_run_ends_normally() -> None:
    story = Story()
    number = story.one()
    story.pass_time(70)
    start, end = start_and_end(story, number)
    assert start["start_reason"] == f"First time checking pull request #{number}"
    before, after = (
        start["speculative_check_pull_request"],
        end["speculative_check_pull_request"],
    )
    assert before["checks_conclusion"] == "pending"
    assert (before["checks_started_at"], before["checks_ended_at"]) == (None, None)
    assert before["unsuccessful_checks"] == []
    assert before["pull_request_numbers"] == [number]
    assert (end["aborted"], end["abort_code"], end["abort_reason"]) == (False, None, "")
    assert end["abort_status"] == "DEFINITIVE"
    assert after["checks_conclusion"] == "success"
    assert after["checks_started_at"] == "2026-03-02T09:00:04.000000Z"
    assert after["checks_ended_at"] == "2026-03-02T09:01:04.000000Z"


def test_the_summary_counts_checks_as_they_pass() -> None:
    story = Story()
    story.one()
    seen = []
    for seconds in (10, 20, 33):
        story.pass_time(seconds)
        seen.append(next(story.batches_shown())["checks_summary"])
    assert seen == [
        {"passed": 0, "total": 2},
        {"passed": 1, "total": 2},
        {"passed": 2, "total": 2},
    ]


def test_a_failing_pull_request_alone_leaves_with_the_checks_that_failed() -> None:
    story = Story()
    number = story.one(broken_check="unit tests")
    story.pass_time(70)
    assert story.reported(number) == ["enter", "checks_start", "checks_end", "leave"]
    (left,) = story.log("leave", pull=number)
    assert left.metadata["merged"] is False
    assert left.metadata["dequeue_code"] == "CHECKS_FAILED"
    checks: Any = left.metadata["checks"]
    assert [(check["name"], check["state"]) for check in checks] == [
        ("lint", "success"),
        ("unit tests", "failure"),
    ]
    assert left.metadata["unsuccessful_checks"] == [checks[1]]
    assert checks[1]["url"].startswith("https://ci.example.com/acme/site/jobs/")
    evaluation: Any = left.metadata["conditions_evaluation"]
    assert evaluation["match"] is False
    assert [part["match"] for part in evaluation["subconditions"]] == [True, False]


def test_a_failed_batch_is_shown_for_a_moment() -> None:
    story = Story()
    number = story.one(broken_check="lint")
    story.wait_for(lambda: number in story.left())
    assert [shown["status"]["code"] for shown in story.batches_shown()] == ["failed"]


def test_later_batches_start_again_without_the_one_that_failed() -> None:
    story = Story()
    broken, good = story.one(broken_check="unit tests"), story.one()
    story.wait_for(lambda: broken in story.left())
    assert story.codes_of(good) == ["BATCH_AHEAD_FAILED"]
    story.pass_time(100)
    assert story.reported(good) == [
        "enter",
        "checks_start",
        "checks_end",
        "checks_start",
        "checks_end",
        "leave",
        "merged",
    ]
    again = story.log("checks_start", pull=good)[1]
    assert again.metadata["start_reason"] == f"Checking again pull request #{good}"
    sessions = {event.metadata["session_id"] for event in story.log("checks_start", pull=good)}
    assert len(sessions) == 1


def test_a_failure_is_not_judged_while_a_batch_ahead_is_undecided() -> None:
    story = Story()
    ahead, broken = story.one(), story.one(broken_check="lint")
    story.wait_for(lambda: story.codes_of(broken))
    assert story.codes == ["running", "waiting_for_previous_batches"]
    assert story.left() == {}
    story.pass_time(100)
    assert story.left() == {ahead: "PR_MERGED", broken: "CHECKS_FAILED"}


def test_endless_checks_time_out() -> None:
    story = Story(checks_timeout=120)
    number = story.one(hangs=True)
    story.pass_time(122)
    assert story.left() == {}
    story.pass_time(1)
    assert story.left() == {number: "CHECKS_TIMEOUT"}
    _, end = start_and_end(story, number)
    assert end["speculative_check_pull_request"]["checks_timed_out"] is True
    assert end["abort_code"] == "CHECKS_TIMEOUT"
    assert end["abort_status"] == "DEFINITIVE"


def test_a_batch_of_one_is_tried_again_before_it_leaves() -> None:
    story = Story(max_retries=1)
    flaky = story.one(broken_check="lint", broken_runs=1)
    story.pass_time(200)
    assert story.codes_of(flaky) == ["CHECKS_RETRIED", None]
    assert story.merged() == [flaky]
    first, second = story.log("checks_end", pull=flaky)
    assert first.metadata["abort_status"] == "REEMBARKED"
    assert (first.metadata["retry_attempt"], first.metadata["max_retries"]) == (1, 1)
    runs: list[Any] = [end.metadata["speculative_check_pull_request"] for end in (first, second)]
    assert runs[0]["number"] != runs[1]["number"]


def test_when_retries_are_used_up_it_leaves() -> None:
    story = Story(max_retries=2)
    number = story.one(broken_check="lint")
    story.pass_time(200)
    assert story.codes_of(number) == ["CHECKS_RETRIED", "CHECKS_RETRIED", "CHECKS_FAILED"]


@pytest.mark.parametrize(("parallel", "in_place"), [(1, True), (2, False)])
def test_checks_run_in_place_only_one_at_a_time_without_batches(
    parallel: int, *, in_place: bool
) -> None:
    story = Story(parallel=parallel)
    number = story.one()
    story.pass_time(10)
    start = story.log("checks_start", pull=number)[0].metadata["speculative_check_pull_request"]
    assert isinstance(start, dict)
    assert start["in_place"] is in_place
    assert (start["number"] == number) is in_place


def test_a_pull_request_set_to_fail_during_its_checks_fails() -> None:
    story = Story()
    number = story.one()
    story.pass_time(30)
    story.controls.make_checks_fail("acme/site", number)
    story.pass_time(60)
    assert story.left() == {number: "CHECKS_FAILED"}
