"""Batches: how they fill, what goes together, and on what they are tested."""

from tests.unit.sandbox.merge_queue.story import Story


def test_a_batch_waits_for_others_until_its_time_is_up() -> None:
    story = Story(batch_size=3)
    number = story.one()
    assert story.codes == ["waiting_for_batch"]
    (shown,) = story.batches_shown()
    assert (shown["batch_filled_slots"], shown["max_batch_slots"]) == (1, 3)
    assert shown["batch_max_start_at"] == "2026-03-02T09:00:30.000000Z"
    story.pass_time(28)
    assert story.codes == ["waiting_for_batch"]
    story.pass_time(1)
    assert story.codes == ["preparing"]
    assert story.members == [[number]]


def test_a_full_batch_starts_at_once() -> None:
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


def test_each_base_branch_has_its_own_line() -> None:
    story = Story()
    main = story.one()
    release = story.one(base_ref="release/4.2")
    story.pass_time(5)
    assert [batch.code for batch in story.repository.line("release/4.2").batches] == ["running"]
    assert story.status("main")["batches"][0]["pull_requests"][0]["number"] == main
    assert story.status("release/4.2")["batches"][0]["pull_requests"][0]["number"] == release


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
