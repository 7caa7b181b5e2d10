"""Subscribing, unsubscribing and listing; what ends with a configured subscription."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.acts.record import Action, ActResult, AuditRecord, AuditSelection
from bot.acts.rows import Audit
from bot.channels.following import take_configuration
from bot.channels.rows import Followed, Subscriptions
from bot.channels.settings import PART_SIZE, ChannelSettings, SubscriptionChange, end_subscriptions
from bot.channels.subscription import Style, Subscription, SubscriptionOptions, SubscriptionSource
from bot.kernel.actor import Actor, Caller, Origin
from bot.kernel.cron import next_digest
from bot.kernel.errors import CommandSyntaxError
from bot.kernel.groups import ALL
from bot.kernel.repository import RepositoryName
from bot.posts.delivery import DeliveryState
from bot.posts.outbox import Outbox
from bot.runtime.upkeep.pruning import rename_channel
from tests.support.acting import Acting
from tests.support.clock import NOON
from tests.support.directories import FakeChannels
from tests.support.make import ALICE, API, BOB, SITE, make_subscription
from tests.support.store import InMemoryDatabase, InMemoryStore
from tests.support.stored import NOW, SHOP, event_subject, make_new
from tests.support.transactions import begin


def make_use_case() -> ChannelSettings:
    return ChannelSettings(Acting(channels=FakeChannels({})).acts, next_digest, rename_channel)


def asked(
    wanted: frozenset[str] | None, *repositories: RepositoryName, actor: Actor = ALICE
) -> tuple[Caller, Sequence[RepositoryName], SubscriptionOptions]:
    options = SubscriptionOptions(wanted or frozenset())
    return Caller(actor, Origin.COMMAND, "C1"), repositories or (SITE,), options


def subscribed(change: SubscriptionChange) -> Subscription:
    assert change.after is not None
    return change.after


async def on_record(use_case: ChannelSettings) -> list[AuditRecord]:
    with begin(use_case.acts.store) as transaction:
        return list(Audit(transaction).oldest(AuditSelection(), 100))


def topics(*words: str) -> frozenset[str]:
    return frozenset(words)


async def test_each_decision_is_stored_beside_the_configuration_and_audited() -> None:
    use_case = make_use_case()
    configured = make_subscription("ci", channel_id="C1", source=SubscriptionSource.CONFIGURATION)
    with begin(use_case.acts.store) as transaction:
        Subscriptions(transaction).replace_configured([configured])

    (first,) = await use_case.subscribe(*asked(topics("merge", "enter")))
    made = subscribed(first)
    assert made.topics == topics("merge", "enter")
    assert (made.created_by, made.created_at) == ("U0ALICE", NOON)
    assert await use_case.subscriptions("C1") == [made, configured]
    assert await use_case.subscriptions("C2") == []

    await use_case.subscribe(*asked(topics("merge"), actor=BOB))
    await use_case.unsubscribe(*asked(topics("enter"), actor=BOB))
    await use_case.unsubscribe(*asked(None))

    records = await on_record(use_case)
    reported = [
        (record.action, record.actor.name, record.setting.before, record.setting.after)
        for record in records
    ]
    assert reported == [
        (Action.SUBSCRIBE, "alice", "", "enter merge"),
        (Action.SUBSCRIBE, "bob", "enter merge", "enter merge"),
        (Action.UNSUBSCRIBE, "bob", "enter merge", "merge"),
        (Action.UNSUBSCRIBE, "alice", "merge", ""),
    ]
    done = ActResult.DONE
    unchanged = ActResult.UNCHANGED
    assert [record.result for record in records] == [done, unchanged, done, done]
    assert {(record.where.channel_id, record.where.origin) for record in records} == {
        ("C1", Origin.COMMAND)
    }


async def test_subscribing_to_many_repositories_adds_to_each_subscription() -> None:
    use_case = make_use_case()
    await use_case.subscribe(*asked(topics("enter")))
    both = asked(topics("merge"), SITE, API)

    done = await use_case.subscribe(*both)
    again = await use_case.subscribe(*both)

    assert [(subscribed(one).repository, subscribed(one).topics) for one in done] == [
        (SITE, topics("enter", "merge")),
        (API, topics("merge")),
    ]
    assert [one.is_new for one in [*done, *again]] == [True, True, False, False]
    heard = {
        subscription.repository: subscription for subscription in await use_case.subscriptions("C1")
    }
    assert heard == {subscribed(one).repository: subscribed(one) for one in done}
    assert len(await on_record(use_case)) == 5


async def test_what_was_left_out_stays_out_when_the_rest_of_a_selection_changes() -> None:
    use_case = make_use_case()
    await use_case.subscribe(*asked(topics("enter"), SITE, API), ALL)
    await use_case.unsubscribe(*asked(None, API))

    await use_case.subscribe(*asked(topics("merge"), SITE), ALL)

    with begin(use_case.acts.store) as transaction:
        (following,) = Followed(transaction).of_channel("C1")
    assert following.topics == topics("enter", "merge")
    assert sorted(following.left_out) == [API]
    await use_case.subscribe(*asked(topics("merge"), SITE, API), ALL)
    with begin(use_case.acts.store) as transaction:
        (following,) = Followed(transaction).of_channel("C1")
    assert following.left_out == frozenset()


async def test_more_repositories_than_fit_in_one_transaction_are_all_handled() -> None:
    use_case = make_use_case()
    names = [RepositoryName(f"acme/r{number}") for number in range(2 * PART_SIZE + 1)]
    all_of_them = asked(topics("merge"), *names)

    done = await use_case.subscribe(*all_of_them)
    assert [one.repository for one in done] == names
    assert len(await use_case.subscriptions("C1")) == len(names)
    assert [change.repository for change in await use_case.unsubscribe(*all_of_them)] == names
    assert await use_case.subscriptions("C1") == []


async def test_a_topic_that_cannot_be_removed_names_the_repository_and_changes_none() -> None:
    use_case = make_use_case()
    on_main = SubscriptionOptions(branches=frozenset({"main"}))
    caller, *_ = asked(None)
    await use_case.subscribe(caller, [SITE], on_main)
    await use_case.subscribe(*asked(None, API))

    with pytest.raises(CommandSyntaxError) as raised:
        await use_case.unsubscribe(caller, [SITE, API], on_main)

    said = "acme/api: This channel is subscribed to all branches, not main by name."
    assert raised.value.problem == said
    assert len(await use_case.subscriptions("C1")) == 2


CONFIGURED = Subscription("C1", SITE, style=Style.DIGEST, source=SubscriptionSource.CONFIGURATION)


async def states_after(
    *configured: Subscription, by_command: Subscription | None = None
) -> list[DeliveryState]:
    """Of what waits for a digest of the channel, about the one and about another repository."""
    database = InMemoryDatabase()
    store = InMemoryStore(database)
    before = [CONFIGURED, Subscription("C1", SHOP, source=SubscriptionSource.CONFIGURATION)]
    await store.run(take_configuration, NOW, before)
    at = NOW + timedelta(hours=1)
    with begin(store) as transaction:
        if by_command is not None:
            Subscriptions(transaction).save(by_command)
        Outbox(transaction).add(
            [
                replace(make_new(number), subject=event_subject(number, name), digest_at=at)
                for number, name in enumerate((SITE, SHOP))
            ]
        )
    await store.run(take_configuration, NOW, [*configured, before[1]])
    return [delivery.progress.state for delivery in database.contents.deliveries.values()]


async def test_a_digest_waits_for_remaining_subscriptions_and_is_dropped_without_any() -> None:
    assert await states_after() == [DeliveryState.FAILED, DeliveryState.PENDING]
    waiting = [DeliveryState.PENDING] * 2
    assert await states_after(CONFIGURED) == waiting
    assert await states_after(by_command=Subscription("C1", SITE)) == waiting


async def followed(use_case: ChannelSettings) -> dict[str, tuple[set[str], set[str]]]:
    """What the channel follows: the topics, and what is left out."""
    with begin(use_case.acts.store) as transaction:
        found = Followed(transaction).of_channel("C1")
        return {
            subscription.selection: (set(subscription.topics), set(subscription.left_out))
            for subscription in found
        }


async def through(use_case: ChannelSettings) -> dict[str, str | None]:
    return {
        subscription.repository: subscription.through
        for subscription in await use_case.subscriptions("C1")
    }


async def test_a_selection_is_followed_with_what_was_asked_for_in_sum() -> None:
    use_case = make_use_case()
    await use_case.subscribe(*asked(topics("merge"), SITE), through="@release")
    await use_case.subscribe(*asked(topics("enter"), SITE), through="@release")
    assert await followed(use_case) == {"@release": ({"merge", "enter"}, set())}
    await use_case.unsubscribe(*asked(topics("enter"), SITE), through="@release")
    assert await followed(use_case) == {"@release": ({"merge"}, set())}
    assert await through(use_case) == {SITE: "@release"}
    await use_case.unsubscribe(*asked(topics("merge"), SITE), through="@release")
    assert (await followed(use_case), await through(use_case)) == ({}, {})


@pytest.mark.parametrize("wanted", [None, topics("merge")])
async def test_what_is_ended_by_name_stays_out_until_it_is_wanted_again(
    wanted: frozenset[str] | None,
) -> None:
    use_case = make_use_case()
    await use_case.subscribe(*asked(topics("merge"), SITE, API), through="all")
    await use_case.unsubscribe(*asked(wanted, SITE))
    assert await followed(use_case) == {"all": ({"merge"}, {SITE})}
    await use_case.subscribe(*asked(topics("merge"), SITE))
    assert await followed(use_case) == {"all": ({"merge"}, set())}
    assert await through(use_case) == {SITE: None, API: "all"}


async def test_a_repository_subscribed_by_name_is_its_own_before_and_after() -> None:
    use_case = make_use_case()
    await use_case.subscribe(*asked(topics("merge"), SITE))
    await use_case.subscribe(*asked(topics("merge"), SITE, API), through="@release")
    assert await through(use_case) == {SITE: None, API: "@release"}
    (same,) = await use_case.subscribe(*asked(topics("merge"), API))
    assert not same.is_new
    assert await through(use_case) == {SITE: None, API: None}


async def test_ending_all_ends_every_selection_and_ending_a_group_leaves_it_out_of_all() -> None:
    use_case = make_use_case()
    await use_case.subscribe(*asked(topics("merge"), SITE, API), through="all")
    await use_case.subscribe(*asked(topics("enter"), SITE), through="@release")
    await use_case.unsubscribe(*asked(None, SITE), through="@release")
    assert await followed(use_case) == {"all": ({"merge"}, {SITE})}
    await use_case.subscribe(*asked(topics("enter"), SITE), through="@release")
    await use_case.unsubscribe(*asked(None, SITE, API), through="all")
    assert await followed(use_case) == {}


async def test_a_channel_that_is_ended_as_a_whole_follows_nothing() -> None:
    use_case = make_use_case()
    caller, *_ = asked(None)
    await use_case.subscribe(*asked(topics("merge"), SITE), through="all")
    await use_case.end_all(caller, "C1")
    assert await followed(use_case) == {}
    await use_case.subscribe(*asked(topics("merge"), SITE), through="all")
    await use_case.unsubscribe(*asked(None, SITE))
    await use_case.end_all(caller, "C1")
    assert await followed(use_case) == {}
    await use_case.subscribe(*asked(topics("merge"), SITE, API), through="all")
    with begin(use_case.acts.store) as transaction:
        end_subscriptions(transaction, "C1", [SITE], ALICE, NOON)
    assert await followed(use_case) == {"all": ({"merge"}, {SITE})}
    with begin(use_case.acts.store) as transaction:
        end_subscriptions(transaction, "C1", [], ALICE, NOON)
    assert (await followed(use_case), await through(use_case)) == ({}, {})
