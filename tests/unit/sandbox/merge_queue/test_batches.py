"""Batches: how they fill, what goes together, what they are tested on, how they are bisected."""

from typing import Any

from bot.sandbox.merge_queue.payloads import Dialect, event
from tests.support import published
from tests.unit.sandbox.merge_queue.story import Story


def test_a_batch_waits_for_others_until_it_is_full_or_its_time_is_up() -> None:
    story = Story(batch_size=3)
    number = story.one()
    assert story.codes == ["waiting_for_batch"]
    (shown,) = story.batches_shown()
    assert (shown["batch_filled_slots"], shown["max_batch_slots"]) == (1, 3)
    assert shown["batch_max_start_at"] == "2026-03-02T09:00:30.000000Z"
    story.pass_time(28)
    assert story.codes == ["waiting_for_batch"]
    story.pass_time(1)
    assert (story.codes, story.members) == (["preparing"], [[number]])

    story = Story(batch_size=3)
    numbers = story.enter(3)
    assert (story.codes, story.members) == (["preparing"], [numbers])
    story.pass_time(4)
    assert story.codes == ["running"]


def test_a_filling_batch_takes_the_higher_priority_first() -> None:
    story = Story(batch_size=3)
    low = story.one(labels=["dependencies"])
    lower_in_line = story.one(labels=["dependencies"])
    medium = story.one()
    assert story.members == [[medium, low, lower_in_line]]
    late = story.one(labels=["dependencies"])
    others = story.enter(2)
    assert story.members[1] == [*others, late]


def test_pull_requests_that_share_scopes_are_batched_together() -> None:
    story = Story(batch_size=2, parallel=1)
    story.enter(2)
    story.one(scopes=["backend"])
    story.one(scopes=["frontend"])
    alike = story.one(scopes=["backend"])
    first = story.waiting[0]
    story.wait_for(lambda: story.members == [[first, alike]])


def test_rules_are_not_mixed_in_a_batch() -> None:
    story = Story(batch_size=3)
    story.repository.priority_rules = ()
    normal = story.one()
    hotfix = story.one(labels=["hotfix"])
    story.pass_time(40)
    assert story.members == [[normal], [hotfix]]
    assert [batch.rule.name for batch in story.line.batches] == ["default", "hotfix"]


def test_batches_are_tested_on_all_batches_ahead_until_those_merge() -> None:
    story = Story()
    first, *_ = story.enter(3)
    ids = [batch.id for batch in story.line.batches]
    assert [batch.parent_ids for batch in story.line.batches] == [[], ids[:1], ids[:2]]
    story.wait_for(lambda: story.merged() == [first])
    assert story.batch.parent_ids == []


def test_checks_that_could_not_start_are_started_later() -> None:
    story = Story()
    story.line.hiccups = 1
    number = story.one()
    story.pass_time(200)
    run = ["checks_start", "checks_end"]
    assert story.reported(number) == ["enter", "checks_not_started", *run, "leave", "merged"]


def test_a_merged_batch_is_shown_for_a_moment() -> None:
    story = Story()
    number = story.one()
    story.wait_for(lambda: story.merged() == [number])
    (shown,) = story.batches_shown()
    assert shown["status"] == {"code": "merged"}
    assert [pull["number"] for pull in shown["pull_requests"]] == [number]
    story.pass_time(10)
    assert list(story.batches_shown()) == []


def six(story: Story, culprit: int | None) -> list[int]:
    """Enter six pull requests, the one at this place broken, and wait for the bisection."""
    numbers = [
        story.one(broken_check="unit tests" if place == culprit else None) for place in range(6)
    ]
    story.wait_for(lambda: "bisecting" in story.codes)
    return numbers


def what_was_tested(story: Story) -> list[list[int]]:
    """List what each run tested, first runs first, once each."""
    runs: list[list[int]] = []
    for start in story.log("checks_start"):
        run: Any = start.metadata["speculative_check_pull_request"]
        if run["pull_request_numbers"] not in runs:
            runs.append(run["pull_request_numbers"])
    return runs


def test_parts_are_tested_cumulatively_until_good_ones_merge_and_the_culprit_leaves() -> None:
    story = Story(batch_size=6, parallel=3)
    numbers = a, b, c, d, e, f = six(story, 5)
    assert story.parts() == [[a, b], [c, d], [e], [f]]
    (shown,) = story.batches_shown()
    assert shown["status"]["code"] == "bisecting"
    assert [
        [pull["number"] for pull in part["pull_requests"]] for part in shown["sub_batches"]
    ] == story.parts()
    story.pass_time(20)
    assert what_was_tested(story) == [
        [a, b, c, d, e, f],
        [a, b],
        [a, b, c, d],
        [a, b, c, d, e],
    ]
    states = [part.code for part in story.batch.sub_batches or ()]
    assert states == ["running", "running", "running", "waiting_for_previous_batches"]

    story.pass_time(380)
    assert story.merged() == [a, b, c, d, e]
    assert story.left()[f] == "CHECKS_FAILED"
    (end,) = story.log("batch_bisection_end")
    assert end.metadata["culprit_found"] is True
    assert end.metadata["culprit_pr_numbers"] == [f]
    assert end.metadata["remaining_pr_numbers"] == []
    assert end.metadata["original_batch_pr_numbers"] == list(numbers)


def test_a_failing_part_is_split_again_and_the_rest_goes_back_in_line() -> None:
    story = Story(batch_size=6, parallel=3)
    a, b, c, d, e, f = six(story, 2)
    story.pass_time(600)
    assert story.merged() == [a, b, d, e, f]
    assert story.left()[c] == "CHECKS_FAILED"
    first, second = (event.metadata for event in story.log("batch_bisection_start"))
    assert (first["bisection_depth"], first["is_top_level"]) == (1, True)
    assert (first["batch_size_before_split"], first["number_of_sub_batches"]) == (6, 4)
    assert (second["bisection_depth"], second["is_top_level"]) == (2, False)
    assert (second["batch_size_before_split"], second["number_of_sub_batches"]) == (2, 2)
    (end,) = story.log("batch_bisection_end")
    assert end.metadata["culprit_pr_numbers"] == [c]
    assert end.metadata["remaining_pr_numbers"] == [d, e, f]
    assert story.codes_of(d)[-1] is None


def test_batches_behind_are_held_and_then_start_again() -> None:
    story = Story(batch_size=2, parallel=3)
    one = story.one()
    two = story.one(broken_check="lint")
    behind = story.enter(2)
    unstarted = story.one()
    story.wait_for(lambda: "bisecting" in story.codes)
    assert story.codes == [
        "bisecting",
        "waiting_for_requeue",
        "waiting_for_previous_batches",
    ]
    assert story.codes_of(behind[0]) == ["BATCH_AHEAD_FAILED"]
    story.pass_time(400)
    assert story.merged() == [one, *behind, unstarted]
    assert story.left()[two] == "CHECKS_FAILED"


def test_with_no_splits_allowed_the_whole_batch_leaves() -> None:
    story = Story(batch_size=3, max_splits=0)
    numbers = [story.one(broken_check="lint"), *story.enter(2)]
    story.pass_time(60)
    assert set(story.left()) == set(numbers)
    assert set(story.left().values()) == {"BATCH_MAX_FAILURE_RESOLUTION_ATTEMPTS"}
    assert story.log("batch_bisection_start") == []


def test_when_the_splits_are_used_up_the_suspects_leave_together() -> None:
    story = Story(batch_size=6, parallel=2, max_splits=1)
    numbers = six(story, 1)
    story.pass_time(600)
    suspects = numbers[:3]
    assert {story.left()[number] for number in suspects} == {
        "BATCH_MAX_FAILURE_RESOLUTION_ATTEMPTS",
    }
    assert story.merged() == numbers[3:]
    (end,) = story.log("batch_bisection_end")
    assert end.metadata["culprit_found"] is False
    assert end.metadata["max_failure_resolution_reached"] is True
    assert end.metadata["dropped_unverified_pr_numbers"] == suspects


def test_a_batch_that_timed_out_is_split_like_one_that_failed() -> None:
    story = Story(batch_size=2, checks_timeout=120)
    good = story.one()
    hanging = story.one(hangs=True)
    story.pass_time(600)
    assert story.left() == {good: "PR_MERGED", hanging: "CHECKS_TIMEOUT"}


def test_a_pause_ends_a_bisection_and_the_batch_starts_over() -> None:
    story = Story(batch_size=6, parallel=3)
    numbers = six(story, 5)
    story.controls.pause("acme/site", "stop")
    assert story.waiting == numbers
    (end,) = story.log("batch_bisection_end")
    assert end.metadata["culprit_found"] is False
    story.controls.resume("acme/site")
    story.pass_time(800)
    assert story.merged() == numbers[:5]


def test_in_the_documented_form_a_bisection_names_no_batch() -> None:
    story = Story(batch_size=6, parallel=3)
    six(story, 5)
    start = story.log("batch_bisection_start")[0]
    run = story.log("checks_start")[0]

    def named(metadata: str) -> set[str]:
        written = event(start, "acme/site", Dialect(metadata=metadata))["metadata"]
        assert isinstance(written, dict)
        return {"train_car_id", "batch_id", "batch_name"} & written.keys()

    assert named("full") == {"train_car_id", "batch_id", "batch_name"}
    assert named("seed") == set()
    assert "train_car_id" in str(event(run, "acme/site", Dialect(metadata="seed")))


def numbers_in(part: Any) -> list[Any]:
    """The numbers of a batch and, as lists, those of its pieces."""
    own = [pull["number"] for pull in part["pull_requests"]]
    return [*own, *(numbers_in(piece) for piece in part["sub_batches"] or ())]


def test_the_hosted_service_nests_pieces_and_names_members_in_them_alone() -> None:
    story = Story(batch_size=6, parallel=3, dialect="live")
    a, b, c, d, e, f = six(story, 2)
    (shown,) = story.batches_shown()
    assert numbers_in(shown) == [[a, b], [c, d], [e], [f]]
    story.wait_for(lambda: len(story.log("batch_bisection_start")) > 1)
    (shown,) = story.batches_shown()
    assert numbers_in(shown) == [[[c], [d]], [e], [f]]
    assert [batch["status"]["code"] for batch in shown["sub_batches"]][:1] == ["bisecting"]
    assert published.problems("august", "MergeQueueStatus", story.status()) == []


def test_scopes_are_lines_of_their_own_in_parallel_mode_and_nothing_waits_in_isolated() -> None:
    for mode, parents in (("parallel", [0, 1, 0, 1]), ("isolated", [0, 0, 0, 0])):
        story = Story(dialect="live", mode=mode)
        for scope in ("api", "web"):
            story.enter(2, scopes=(scope,), hangs=True)
        shown = story.status()
        assert shown["mode"] == mode
        assert [len(batch["parent_ids"]) for batch in shown["batches"]] == parents
