"""The options of subscribe and unsubscribe, and their effect on a subscription."""

from datetime import time

import pytest

from bot.domain.subscriptions import (
    DEFAULT_TOPICS,
    DigestTime,
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
from tests.support.make import SITE

NEW = Subscription("C1", SITE)


def grant(before: Subscription | None, typed: str) -> Subscription:
    return added(before, NEW, read_options(typed.split()))


def withdraw(before: Subscription, typed: str) -> Subscription | None:
    return removed(before, read_options(typed.split()))


def test_every_documented_option_is_read() -> None:
    typed = "merge,failure branch:main,release/* except:@Renovate style:feed except:bot[x]"
    assert read_options(typed.split()) == SubscriptionOptions(
        topics=frozenset({"merge", "failure"}),
        branches=frozenset({"main", "release/*"}),
        except_logins=frozenset({"renovate", "bot[x]"}),
        style=Style.FEED,
    )


def test_options_before_and_after_a_digest_count_the_same() -> None:
    typed = "merge branch:main except:ana digest:09:00 UTC failure branch:dev except:bob"
    assert read_options(typed.split()) == SubscriptionOptions(
        topics=frozenset({"merge", "failure"}),
        branches=frozenset({"main", "dev"}),
        except_logins=frozenset({"ana", "bob"}),
        style=Style.DIGEST,
        digest_at=time(9),
        digest_zone="UTC",
    )


@pytest.mark.parametrize(
    ("typed", "at", "zone"),
    [
        ("digest:09:00", time(9), None),
        ("style:digest digest:7:30 Europe/Paris merge", time(7, 30), "Europe/Paris"),
        ("merge digest:23:59 UTC style:digest", time(23, 59), "UTC"),
    ],
)
def test_a_digest_has_a_time_and_an_optional_zone(typed: str, at: time, zone: str | None) -> None:
    options = read_options(typed.split())
    assert (options.style, options.digest_at, options.digest_zone) == (Style.DIGEST, at, zone)


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
        (f"branch:{'*' * 300}", "at most 255 characters"),
        (f"branch:main,{'*' * 300}", "at most 255 characters"),
        ("quiet everything", "Pick one level: quiet or everything."),
        ("digest:09:00 quiet normal", "Pick one level: quiet or normal."),
        ("colour:red", "There is no topic “colour:red”. Topics are "),
        ("batches", "There is no topic “batches”. Did you mean batch? Topics are "),
        ("loudly", "There is no topic “loudly”. Topics are "),
    ],
)
def test_an_unreadable_value_is_named_with_the_fix(typed: str, reported: str) -> None:
    with pytest.raises(InvalidOptions) as refused:
        read_options(typed.split())
    assert reported in str(refused.value)


def test_topics_may_be_typed_in_the_singular_or_the_plural() -> None:
    assert read_options(["Failures,merges", "check"]).topics == {"failure", "merge", "checks"}


def test_a_new_subscription_has_the_default_topics_in_threads() -> None:
    assert grant(None, "") == NEW
    assert grant(None, "except:renovate").topics == DEFAULT_TOPICS
    assert grant(None, "merge").topics == {"merge"}


def test_subscribing_again_adds_and_keeps_earlier_options() -> None:
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
        ("Normal", DEFAULT_TOPICS),
        ("everything", {topic.value for topic in Topic}),
        ("quiet merge", {"failure", "pause", "health", "merge"}),
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
    "typed",
    [
        "",
        "merge failure",
        "merge branch:main",
        "branch:main branch:release/*",
        "except:renovate merge",
        "merge action.queue.change branch:main except:ana",
    ],
)
def test_unsubscribing_with_the_same_words_undoes_subscribing(typed: str) -> None:
    assert withdraw(grant(None, typed), typed.replace("except:ana", "")) is None or (
        typed.startswith("except") and withdraw(grant(None, typed), "merge") is None
    )


def test_unsubscribing_removes_only_the_typed_options() -> None:
    join_answers = grant(None, "merge failure branch:main,dev except:ana,renovate")
    assert words_of(withdraw(join_answers, "merge") or NEW).startswith("failure branch:dev")
    assert (withdraw(join_answers, "branch:dev") or NEW).branches == {"main"}
    assert (withdraw(join_answers, "except:ana") or NEW).except_logins == {"renovate"}
    assert withdraw(join_answers, "merge failure") is None
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
