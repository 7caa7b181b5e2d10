"""Subscriptions by command and by configuration."""

from dataclasses import replace
from datetime import time

import pytest

from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import DigestTime, Style, Subscription, SubscriptionSource
from bot.store.transactions import Store
from tests.support.stored import NOW, SHOP, SITE
from tests.support.transactions import begin

BY_COMMAND = Subscription(
    channel_id="C1",
    repository=SITE,
    topics=frozenset({"merge", "action.queue.leave"}),
    branches=frozenset({"main", "release/*", "[x]"}),
    except_logins=frozenset({"renovate[bot]"}),
    created_by="U1",
    created_at=NOW,
)
CONFIGURED = Subscription("C1", SITE, source=SubscriptionSource.CONFIGURATION)


async def save(store: Store, *subscriptions: Subscription) -> None:
    with begin(store) as transaction:
        for subscription in subscriptions:
            transaction.subscriptions.save(subscription)


async def configure(store: Store, *subscriptions: Subscription) -> list[Subscription]:
    return await store.run(
        lambda transaction: list(transaction.subscriptions.replace_configured(subscriptions))
    )


async def of_channel(store: Store, channel_id: str = "C1") -> list[Subscription]:
    return await store.run(
        lambda transaction: list(transaction.subscriptions.of_channel(channel_id))
    )


async def test_subscribing_again_replaces_the_first(store: Store) -> None:
    digest = DigestTime(time(7, 5), "America/New_York")
    again = replace(
        BY_COMMAND, topics=frozenset(), created_by="U2", style=Style.DIGEST, digest=digest
    )
    there = replace(BY_COMMAND, repository=SHOP, topics=frozenset(), branches=frozenset())
    await save(store, BY_COMMAND, again, there)

    assert await of_channel(store) == [there, again]
    assert await of_channel(store, "C2") == []


async def test_a_channels_default_is_set_changed_and_removed(store: Store) -> None:
    with begin(store) as transaction:
        defaults = transaction.channel_defaults
        assert defaults.of("C1") is None
        defaults.set("C1", SITE)
        defaults.set("C2", SITE)
        defaults.set("C1", SHOP)
    with begin(store) as transaction:
        defaults = transaction.channel_defaults
        assert (defaults.of("C1"), defaults.of("C2")) == (SHOP, SITE)
        defaults.set("C1", None)
        defaults.set("C3", None)
        assert defaults.of("C1") is None


async def test_subscriptions_from_commands_and_configuration_coexist(store: Store) -> None:
    await save(store, CONFIGURED, BY_COMMAND)

    assert await of_channel(store) == [BY_COMMAND, CONFIGURED]
    with begin(store) as transaction:
        assert transaction.subscriptions.delete("C1", SITE)
        assert not transaction.subscriptions.delete("C1", SITE)
    assert await of_channel(store) == [CONFIGURED]


async def test_configuration_replaces_only_configured_subscriptions(store: Store) -> None:
    gone = replace(CONFIGURED, repository=SHOP)
    await save(store, BY_COMMAND)
    assert await configure(store, CONFIGURED, gone) == []
    narrowed = replace(CONFIGURED, topics=frozenset({"pause"}))
    added = replace(CONFIGURED, channel_id="C2")
    assert await configure(store, narrowed, added) == [gone]

    assert await of_channel(store) == [BY_COMMAND, narrowed]
    assert await of_channel(store, "C2") == [added]
    assert await configure(store) == [narrowed, added]
    assert await of_channel(store) == [BY_COMMAND]
    assert await of_channel(store, "C2") == []


async def test_a_subscription_by_command_does_not_count_as_configured(store: Store) -> None:
    with pytest.raises(ValueError, match="configured"):
        await configure(store, BY_COMMAND)


async def test_all_subscriptions_come_by_repository_up_to_a_limit(store: Store) -> None:
    ones = [("C2", "acme/site"), ("C1", "acme/site"), ("C9", "acme/api")]
    with begin(store) as transaction:
        for channel_id, name in ones:
            transaction.subscriptions.save(Subscription(channel_id, RepositoryName(name)))
        found = transaction.subscriptions.all(10)
        first = transaction.subscriptions.all(2)

    assert [(one.channel_id, one.repository) for one in found] == [
        ("C9", "acme/api"),
        ("C1", "acme/site"),
        ("C2", "acme/site"),
    ]
    assert list(first) == list(found[:2])


async def test_the_subscriptions_of_many_repositories_are_read_at_once(store: Store) -> None:
    many = [RepositoryName(f"acme/r{number}") for number in range(600)]
    others = [Subscription("C2", SITE), Subscription("C1", SHOP), Subscription("C9", many[-1])]
    await save(store, BY_COMMAND, *others)
    await configure(store, CONFIGURED)

    with begin(store) as transaction:
        found = transaction.subscriptions.of_repositories([SITE, *many])
        of_site = transaction.subscriptions.of_repository(SITE)

    assert {name: list(some) for name, some in found.items()} == {
        SITE: list(of_site),
        many[-1]: [Subscription("C9", many[-1])],
    }
    assert [one.channel_id for one in of_site] == ["C1", "C1", "C2"]
