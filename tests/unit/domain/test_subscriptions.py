"""Topics, and what a subscription asks for."""

import pytest

from bot.domain.classification import EventKind, event_types_for, topic_of
from bot.domain.event_types import EVENT_TYPES
from bot.domain.subscriptions import InvalidOptions, Topic, read_options
from tests.support.make import make_subscription

LEAVE, MERGED = "action.queue.leave", "action.queue.merged"


def test_topics_are_read_in_any_case_and_with_or_without_commas() -> None:
    assert read_options(["Merge,", "FAILURE", "merge"]).topics == {"merge", "failure"}
    assert read_options([]).topics == frozenset()


def test_all_means_every_topic() -> None:
    assert read_options(["all"]).topics == {topic.value for topic in Topic}


@pytest.mark.parametrize("event_type", sorted(EVENT_TYPES))
def test_every_event_type_of_the_document_is_a_topic(event_type: str) -> None:
    assert read_options([event_type]).topics == {event_type}
    assert event_types_for(frozenset({event_type})) == {event_type}


@pytest.mark.parametrize("word", ["", ",", "merged", "action.of_tomorrow", "enter merge", "*"])
def test_an_unknown_topic_is_refused_with_the_known_ones(word: str) -> None:
    with pytest.raises(InvalidOptions) as refused:
        read_options(["enter", word])

    for topic in (*Topic, "all"):
        assert topic in str(refused.value)


@pytest.mark.parametrize("topic", list(Topic))
def test_events_of_subscribed_topics_are_requested_from_the_service(topic: Topic) -> None:
    asked = event_types_for(frozenset({topic.value}))

    assert asked
    assert asked <= EVENT_TYPES


@pytest.mark.parametrize("topic", [Topic.MERGE, Topic.FAILURE, Topic.DEQUEUE])
def test_judging_a_leave_needs_both_events(topic: Topic) -> None:
    asked = event_types_for(frozenset({topic.value}))

    assert {LEAVE, MERGED} <= asked
    asked_for = set() if topic is Topic.MERGE else {"command.dequeue"}
    always = {"action.queue.checks_end", "action.queue.enter"}
    assert asked - {LEAVE, MERGED} == asked_for | always


def test_every_kind_but_other_has_a_topic() -> None:
    assert {kind for kind in EventKind if topic_of(kind) is None} == {EventKind.OTHER}
    of_events = set(Topic) - {Topic.HEALTH, Topic.WEEKLY}
    assert {topic_of(kind) for kind in EventKind} - {None} == of_events


def test_a_subscription_matches_its_topics_only() -> None:
    one = make_subscription("merge", "action.queue.change")

    assert one.wants(topic="merge", event_type=MERGED, branch="main")
    assert one.wants(topic=None, event_type="action.queue.change", branch="main")
    assert not one.wants(topic="failure", event_type=LEAVE, branch="main")
    assert not one.wants(topic=None, event_type="action.queue.checks.change", branch=None)


@pytest.mark.parametrize(
    ("pattern", "branch", "wanted"),
    [
        (None, "main", True),
        ("main", "main", True),
        ("main", "Main", False),
        ("release/*", "release/1.2", True),
        ("release/*", "main", False),
        ("main", None, True),
    ],
)
def test_a_branch_pattern_narrows_a_subscription_except_for_queue_wide_events(
    pattern: str | None, branch: str | None, *, wanted: bool
) -> None:
    one = make_subscription("merge", branches=frozenset([pattern] if pattern else []))

    assert one.wants(topic="merge", event_type=MERGED, branch=branch) is wanted
