"""What a subscription asks for, the options people type for it, and what they change."""

from dataclasses import replace
from datetime import time

import pytest

from bot.channels.subscription import (
    DEFAULT_TOPICS,
    DIGEST_AT,
    InvalidOptions,
    Style,
    Subscription,
    SubscriptionOptions,
    Topic,
    added,
    read_options,
    removed,
    words_of,
)
from bot.feed.topics import event_types_for, topic_of
from bot.kernel.cron import DigestTime
from bot.log.classification import EventKind
from bot.merge_queue.event_types import EVENT_TYPES
from tests.support.make import SITE, make_subscription

LEAVE = "action.queue.leave"
MERGED = "action.queue.merged"
NEW = Subscription("C1", SITE)
ALL = {topic.value for topic in Topic}


def read(typed: str) -> SubscriptionOptions:
    return read_options(typed.split())


def grant(before: Subscription | None, typed: str) -> Subscription:
    return added(before, NEW, read(typed))


def withdraw(before: Subscription, typed: str) -> Subscription | None:
    return removed(before, read(typed))


def test_every_documented_option_is_read_in_any_order() -> None:
    typed = "merge branch:main except:@Ana,bot[x] digest:09:00 UTC Failure, branch:dev,release/*"
    assert read(typed) == SubscriptionOptions(
        topics=frozenset({"merge", "failure"}),
        branches=frozenset({"main", "dev", "release/*"}),
        except_logins=frozenset({"ana", "bot[x]"}),
        style=Style.DIGEST,
        digest_at=time(9),
        digest_zone="UTC",
    )
    assert read("style:feed") == SubscriptionOptions(style=Style.FEED)
    assert read("digest:7:30 merge").digest_zone is None
    assert read("style:digest digest:7:30 Europe/Paris").digest_zone == "Europe/Paris"
    assert read("digest:7:30 utc merge").digest_zone == "UTC"
    assert read("Failures,merges check").topics == {"failure", "merge", "checks"}
    assert read("all").topics == ALL
    assert all(read(event_type).topics == {event_type} for event_type in EVENT_TYPES)


@pytest.mark.parametrize(
    ("typed", "reported"),
    [
        ("branch:", "branch: needs a branch or a pattern"),
        ("style:loud", "There is no style “loud”. Styles are thread, feed, digest."),
        ("digest:25:00", "digest: needs a time of day"),
        ("digest:noon", "digest: needs a time of day"),
        ("digest:09:00 Europe/Pariss", "There is no time zone “Europe/Pariss”"),
        ("digest:09:00 ../../etc/passwd", "There is no time zone"),
        ("digest:09:00 digest:10:00", "Use digest: only once."),
        ("style:feed digest:09:00", "digest: is for style:digest"),
        ("digest:09:00 style:feed", "digest: is for style:digest"),
        (" ".join(f"branch:b{n}" for n in range(21)), "At most 20 branches"),
        (f"branch:main,{'*' * 300}", "at most 255 characters"),
        ("quiet everything", "Pick one level: quiet or everything."),
        ("colour:red", "There is no topic “colour:red”. Topics are "),
        ("batches", "There is no topic “batches”. Did you mean batch? Topics are "),
        (",", f"There is no topic “,”. Topics are {', '.join([*Topic, 'all'])}."),
    ],
)
def test_an_unreadable_value_is_named_with_the_fix(typed: str, reported: str) -> None:
    with pytest.raises(InvalidOptions) as refused:
        read(typed)
    assert reported in str(refused.value)


def test_subscribing_again_adds_and_keeps_earlier_options() -> None:
    assert grant(None, "") == NEW
    assert grant(None, "except:renovate").topics == DEFAULT_TOPICS
    first = grant(None, "merge branch:main except:renovate style:feed")
    again = grant(first, "failure branch:release/* except:ana")
    assert words_of(again) == (
        "failure merge branch:main branch:release/* except:ana except:renovate style:feed"
    )
    assert grant(again, words_of(again)) == again
    assert grant(again, "").topics == DEFAULT_TOPICS | {"failure", "merge"}


def test_a_first_branch_narrows_a_subscription_and_a_star_widens_it() -> None:
    narrowed = grant(grant(None, "merge"), "branch:main")
    assert narrowed.branches == {"main"}
    assert grant(narrowed, "branch:*").branches == frozenset()


@pytest.mark.parametrize(
    ("typed", "topics"),
    [
        ("quiet", {"failure", "pause", "health"}),
        ("Normal", {"enter", "merge", "failure", "pause"}),
        ("everything", ALL),
        ("merge digest:09:00 quiet", {"failure", "pause", "health", "merge"}),
    ],
)
def test_a_level_replaces_the_topics(typed: str, topics: set[str]) -> None:
    before = grant(None, "ci command branch:main except:renovate style:feed")
    after = grant(before, typed)
    assert after.topics == topics
    assert (after.branches, after.except_logins) == (before.branches, before.except_logins)
    assert grant(None, typed).topics == topics


def test_a_level_uses_threads_unless_another_style_is_typed() -> None:
    feed = grant(None, "style:feed")
    assert grant(feed, "quiet").style is Style.THREAD
    assert grant(feed, "quiet style:feed").style is Style.FEED
    assert grant(feed, "merge").style is Style.FEED


def test_a_digest_keeps_its_time_until_changed() -> None:
    first = grant(None, "digest:07:30 Europe/Paris")
    assert first.digest == DigestTime(time(7, 30), "Europe/Paris")
    assert grant(first, "ci").digest == first.digest
    assert grant(first, "digest:08:00").digest == DigestTime(time(8), "Europe/Paris")
    assert grant(first, "style:feed").digest is None
    assert grant(None, "style:digest").digest == DigestTime(time(9), "UTC")


@pytest.mark.parametrize(
    "typed", ["", "merge failure", "merge branch:main", "branch:main branch:release/*"]
)
def test_unsubscribing_with_the_same_words_undoes_subscribing(typed: str) -> None:
    assert withdraw(grant(None, typed), typed) is None


def test_after_unsubscribing_from_the_week_nothing_of_its_time_is_left() -> None:
    before = grant(None, "merge")
    left = withdraw(grant(before, "weekly"), "weekly")
    assert left == before
    assert left is not None
    assert grant(left, "merge").has_same_options(left)


def test_unsubscribing_removes_only_the_typed_options() -> None:
    join_answers = grant(None, "merge failure branch:main,dev except:ana,renovate")
    assert words_of(withdraw(join_answers, "merge") or NEW).startswith("failure branch:dev")
    assert (withdraw(join_answers, "branch:dev") or NEW).branches == {"main"}
    assert (withdraw(join_answers, "except:ana") or NEW).except_logins == {"renovate"}
    assert withdraw(join_answers, "branch:main,dev") is None


@pytest.mark.parametrize(
    ("typed", "reported"),
    [
        ("merge branch:dev", "All branches have the same topics"),
        ("branch:other", "This channel is subscribed to dev, main, not other by name."),
        ("style:feed", "style: and digest: are for subscribe."),
    ],
)
def test_options_that_contradict_each_other_are_refused(typed: str, reported: str) -> None:
    with pytest.raises(InvalidOptions) as refused:
        withdraw(grant(None, "merge failure branch:main,dev"), typed)
    assert reported in str(refused.value)


def test_events_of_subscribed_topics_are_requested_from_the_service() -> None:
    asked = {topic: event_types_for(frozenset({topic.value})) for topic in Topic}
    assert all(asked.values())
    assert frozenset().union(*asked.values()) <= EVENT_TYPES
    assert all(
        event_types_for(frozenset({event_type})) == {event_type} for event_type in EVENT_TYPES
    )
    # To judge a leave takes the events around it.
    judging = {LEAVE, MERGED, "action.queue.checks_end", "action.queue.enter"}
    assert asked[Topic.MERGE] == judging
    judging |= {"command.dequeue"}
    assert asked[Topic.DEQUEUE] == judging
    in_checks = {"action.queue.checks_not_started", "action.queue.batch_bisection_end"}
    assert asked[Topic.FAILURE] == judging | in_checks


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
        ("main", "main", True),
        ("main", "Main", False),
        ("release/*", "release/1.2", True),
        ("release/*", "main", False),
        ("main", None, True),
    ],
)
def test_a_branch_pattern_narrows_a_subscription_except_for_queue_wide_events(
    pattern: str, branch: str | None, *, wanted: bool
) -> None:
    one = make_subscription("merge", branches=frozenset([pattern]))
    assert one.wants(topic="merge", event_type=MERGED, branch=branch) is wanted


@pytest.mark.parametrize(
    "earlier",
    [
        "",
        "quiet",
        "everything",
        "merge,failure branch:main except:renovate",
        "style:feed merge",
        "digest:08:30 Europe/Paris merge weekly",
    ],
)
@pytest.mark.parametrize("then", ["everything", "quiet style:feed", "digest:09:00 UTC branch:x"])
def test_the_words_of_an_earlier_subscription_restore_it(earlier: str, then: str) -> None:
    new = replace(NEW, digest=DigestTime(DIGEST_AT, "UTC"))
    before = added(None, new, read(earlier))
    changed = added(before, new, read(then))
    restored = added(changed, new, read(f"only {words_of(before)}"))
    assert replace(restored, digest=None) == replace(before, digest=None)
    if before.style is Style.DIGEST:
        assert restored.digest == before.digest
