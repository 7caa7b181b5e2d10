"""Checks: running, failing, running out of time, being tried again, in place."""

from typing import Any

from bot.sandbox.merge_queue.simulation.event_log import Event
from tests.unit.sandbox.merge_queue.story import Story


def run_of(event: Event) -> Any:
    return event.metadata["speculative_check_pull_request"]


def test_a_passing_run_ends_normally_and_its_summary_counts_the_checks_that_passed() -> None:
    story = Story(parallel=2)
    number = story.one()
    seen = []
    for seconds in (10, 20, 33):
        story.pass_time(seconds)
        seen.append(next(story.batches_shown())["checks_summary"])
    assert seen == [{"passed": passed, "total": 2} for passed in range(3)]
    story.pass_time(7)
    (start,) = story.log("checks_start")
    (end,) = story.log("checks_end")
    assert start.metadata["start_reason"] == f"First time checking pull request #{number}"
    pending = {"checks_conclusion": "pending", "checks_started_at": None, "checks_ended_at": None}
    of_one = {"unsuccessful_checks": [], "pull_request_numbers": [number]}
    assert run_of(start).items() >= {**pending, **of_one}.items()
    assert run_of(start)["in_place"] is False
    assert run_of(start)["number"] != number
    passed = {"aborted": False, "abort_code": None, "abort_reason": ""}
    assert end.metadata.items() >= {**passed, "abort_status": "DEFINITIVE"}.items()
    assert run_of(end)["checks_conclusion"] == "success"
    assert run_of(end)["checks_started_at"] == "2026-03-02T09:00:04.000000Z"
    assert run_of(end)["checks_ended_at"] == "2026-03-02T09:01:04.000000Z"


def test_a_failing_pull_request_alone_leaves_with_the_checks_that_failed() -> None:
    story = Story()
    number = story.one(broken_check="unit tests")
    story.wait_for(lambda: number in story.left())
    assert [shown["status"]["code"] for shown in story.batches_shown()] == ["failed"]
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


def test_a_check_that_is_not_required_fails_without_an_effect() -> None:
    story = Story()
    merged = story.one(optional_check="docs preview")
    story.wait_for(lambda: merged in story.left())
    left = story.one(optional_check="docs preview", broken_check="lint")
    story.wait_for(lambda: left in story.left())
    assert story.left() == {merged: "PR_MERGED", left: "CHECKS_FAILED"}
    (leave,) = story.log("leave", pull=left)
    failed: Any = leave.metadata["unsuccessful_checks"]
    assert [check["name"] for check in failed] == ["lint", "docs preview"]
    evaluation: Any = leave.metadata["conditions_evaluation"]
    named = [part["evaluations"][0]["related_checks"] for part in evaluation["subconditions"]]
    assert named == [["lint"], ["unit tests"]]


def test_a_cancelled_check_interrupts_the_run_without_a_verdict() -> None:
    story = Story()
    number = story.one(broken_check="lint", broken_state="cancelled")
    story.wait_for(lambda: number in story.left())
    assert story.left() == {number: "CHECKS_INTERRUPTED"}
    (end,) = story.log("checks_end")
    assert end.metadata["abort_code"] == "CHECKS_INTERRUPTED"
    assert [check["state"] for check in run_of(end)["unsuccessful_checks"]] == ["cancelled"]


def test_a_failure_is_not_judged_while_a_batch_ahead_is_undecided() -> None:
    story = Story()
    ahead = story.one()
    broken = story.one(broken_check="lint")
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
    (end,) = story.log("checks_end")
    assert run_of(end)["checks_timed_out"] is True
    assert (end.metadata["abort_code"], end.metadata["abort_status"]) == (
        "CHECKS_TIMEOUT",
        "DEFINITIVE",
    )


def test_a_batch_of_one_is_tried_again_before_it_leaves() -> None:
    story = Story(max_retries=1)
    flaky = story.one(broken_check="lint", broken_runs=1)
    broken = story.one(broken_check="lint")
    story.pass_time(400)
    assert story.codes_of(flaky) == ["CHECKS_RETRIED", None]
    assert story.codes_of(broken)[-2:] == ["CHECKS_RETRIED", "CHECKS_FAILED"]
    assert story.merged() == [flaky]
    first, second = story.log("checks_end", pull=flaky)
    assert first.metadata["abort_status"] == "REEMBARKED"
    assert (first.metadata["retry_attempt"], first.metadata["max_retries"]) == (1, 1)
    assert run_of(first)["number"] != run_of(second)["number"]
