"""Subscribing, unsubscribing and listing."""

from bot.domain.channels import ChannelAccess
from bot.domain.subscriptions import DEFAULT_TOPICS, SubscriptionSource
from bot.usecases.manage_subscriptions import ManageSubscriptions
from tests.support.clock import NOON, FakeClock
from tests.support.directories import FakeChannels
from tests.support.make import API, SITE, make_subscription
from tests.support.store import InMemoryStore


def make_use_case(**others: ChannelAccess) -> ManageSubscriptions:
    return ManageSubscriptions(InMemoryStore(), FakeChannels(others), FakeClock())


def topics(*words: str) -> frozenset[str]:
    return frozenset(words)


async def configure(use_case: ManageSubscriptions) -> None:
    configured = make_subscription("ci", channel_id="C1", source=SubscriptionSource.CONFIGURATION)
    async with use_case.store.begin() as transaction:
        await transaction.subscriptions.replace_configured([configured])


async def test_a_channel_subscribes_and_it_is_known_who_did() -> None:
    use_case = make_use_case()

    done = await use_case.subscribe("C1", SITE, DEFAULT_TOPICS, "U0ALICE")

    assert done.access is ChannelAccess.OPEN
    assert (done.subscription.created_by, done.subscription.created_at) == ("U0ALICE", NOON)
    assert await use_case.subscriptions("C1") == [done.subscription]
    assert await use_case.subscriptions("C2") == []


async def test_subscribing_again_adds_topics_and_ends_none() -> None:
    use_case = make_use_case()
    await use_case.subscribe("C1", SITE, topics("enter"), "U0ALICE")

    done = await use_case.subscribe("C1", SITE, topics("merge"), "U0BOB")

    assert done.subscription.topics == {"enter", "merge"}
    assert len(await use_case.subscriptions("C1")) == 1


async def test_a_channel_the_bot_is_not_in_is_subscribed_all_the_same_and_says_so() -> None:
    use_case = make_use_case(C1=ChannelAccess.INVITE)

    done = await use_case.subscribe("C1", SITE, DEFAULT_TOPICS, "U0ALICE")

    assert done.access is ChannelAccess.INVITE
    assert await use_case.subscriptions("C1")


async def test_unsubscribing_ends_it() -> None:
    use_case = make_use_case()
    await use_case.subscribe("C1", SITE, DEFAULT_TOPICS, "U0ALICE")
    await use_case.subscribe("C1", API, DEFAULT_TOPICS, "U0ALICE")

    done = await use_case.unsubscribe("C1", SITE, None)

    assert (done.changed, done.left, done.configured) == (True, None, None)
    assert [one.repository for one in await use_case.subscriptions("C1")] == [API]


async def test_unsubscribing_from_a_topic_leaves_the_others() -> None:
    use_case = make_use_case()
    await use_case.subscribe("C1", SITE, topics("enter", "merge"), "U0ALICE")

    done = await use_case.unsubscribe("C1", SITE, topics("enter", "ci"))

    assert done.changed
    assert done.left is not None
    assert done.left.topics == {"merge"}
    assert await use_case.subscriptions("C1") == [done.left]


async def test_unsubscribing_from_the_last_topic_ends_it() -> None:
    use_case = make_use_case()
    await use_case.subscribe("C1", SITE, topics("enter"), "U0ALICE")

    done = await use_case.unsubscribe("C1", SITE, topics("enter"))

    assert (done.changed, done.left) == (True, None)
    assert await use_case.subscriptions("C1") == []


async def test_unsubscribing_from_what_was_not_heard_changes_nothing() -> None:
    use_case = make_use_case()
    assert not (await use_case.unsubscribe("C1", SITE, None)).changed
    await use_case.subscribe("C1", SITE, topics("enter"), "U0ALICE")

    done = await use_case.unsubscribe("C1", SITE, topics("merge"))

    assert not done.changed
    assert done.left is not None


async def test_what_is_configured_stays_and_is_named() -> None:
    use_case = make_use_case()
    await configure(use_case)

    done = await use_case.unsubscribe("C1", SITE, None)

    assert not done.changed
    assert done.configured is not None
    assert [one.source for one in await use_case.subscriptions("C1")] == [
        SubscriptionSource.CONFIGURATION
    ]


async def test_a_command_does_not_touch_what_is_configured() -> None:
    use_case = make_use_case()
    await configure(use_case)

    done = await use_case.subscribe("C1", SITE, topics("enter"), "U0ALICE")

    assert done.subscription.topics == {"enter"}
    assert len(await use_case.subscriptions("C1")) == 2
