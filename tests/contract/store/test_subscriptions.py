"""Subscriptions by command and by configuration."""

from dataclasses import replace
from datetime import time

import pytest

from bot.channels.rows import ChannelDefaults, Subscriptions
from bot.channels.subscription import Style, Subscription, SubscriptionSource
from bot.kernel.cron import DigestTime
from bot.kernel.repository import RepositoryName
from bot.store.transaction import Transaction
from tests.support.stored import NOW, SHOP, SITE

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


def save(transaction: Transaction, *subscriptions: Subscription) -> None:
    for subscription in subscriptions:
        Subscriptions(transaction).save(subscription)


def configure(transaction: Transaction, *subscriptions: Subscription) -> list[Subscription]:
    return list(Subscriptions(transaction).replace_configured(subscriptions))


def of_channel(transaction: Transaction, channel_id: str = "C1") -> list[Subscription]:
    return list(Subscriptions(transaction).of_channel(channel_id))


def test_subscribing_again_replaces_the_first(transaction: Transaction) -> None:
    digest = DigestTime(time(7, 5), "America/New_York")
    again = replace(
        BY_COMMAND, topics=frozenset(), created_by="U2", style=Style.DIGEST, digest=digest
    )
    there = replace(BY_COMMAND, repository=SHOP, topics=frozenset(), branches=frozenset())
    save(transaction, BY_COMMAND, again, there)

    assert of_channel(transaction) == [there, again]
    assert of_channel(transaction, "C2") == []


def test_a_channels_default_is_set_changed_and_removed(transaction: Transaction) -> None:
    defaults = ChannelDefaults(transaction)
    assert defaults.of("C1") is None
    defaults.set("C1", SITE)
    defaults.set("C2", SITE)
    defaults.set("C1", SHOP)
    defaults = ChannelDefaults(transaction)
    assert (defaults.of("C1"), defaults.of("C2")) == (SHOP, SITE)
    defaults.set("C1", None)
    defaults.set("C3", None)
    assert defaults.of("C1") is None


def test_configuration_replaces_only_configured_subscriptions(transaction: Transaction) -> None:
    gone = replace(CONFIGURED, repository=SHOP)
    save(transaction, BY_COMMAND)
    assert configure(transaction, CONFIGURED, gone) == []
    assert of_channel(transaction) == [gone, BY_COMMAND, CONFIGURED]
    narrowed = replace(CONFIGURED, topics=frozenset({"pause"}))
    added = replace(CONFIGURED, channel_id="C2")
    assert configure(transaction, narrowed, added) == [gone]

    assert of_channel(transaction) == [BY_COMMAND, narrowed]
    assert of_channel(transaction, "C2") == [added]
    assert configure(transaction) == [narrowed, added]
    assert of_channel(transaction) == [BY_COMMAND]
    assert of_channel(transaction, "C2") == []
    with pytest.raises(ValueError, match="configured"):
        configure(transaction, BY_COMMAND)

    save(transaction, CONFIGURED)
    assert Subscriptions(transaction).delete("C1", SITE)
    assert not Subscriptions(transaction).delete("C1", SITE)
    assert of_channel(transaction) == [CONFIGURED]


def test_the_list_of_all_has_a_line_for_each_repository_and_each_selection(
    transaction: Transaction,
) -> None:
    names = [RepositoryName(f"acme/r{number}") for number in range(3)]
    through_all = [Subscription("C1", name, through="all") for name in names]
    own = [Subscription("C1", SITE), Subscription("C0", SITE)]
    configured = replace(own[0], source=SubscriptionSource.CONFIGURATION)
    Subscriptions(transaction).save(*through_all, *own, configured)

    listed = Subscriptions(transaction).listed(0, 10)

    assert [(line.options, line.repositories) for line in listed] == [
        (own[1], 1),
        (through_all[0], 3),
        (own[0], 1),
        (configured, 1),
    ]
    assert Subscriptions(transaction).count_listed() == 4
    assert Subscriptions(transaction).listed(1, 2) == listed[1:3]
    assert Subscriptions(transaction).listed(4, 2) == []


def test_all_subscriptions_come_by_repository(transaction: Transaction) -> None:
    ones = [("C2", "acme/site"), ("C1", "acme/site"), ("C9", "acme/api")]
    for channel_id, name in ones:
        Subscriptions(transaction).save(Subscription(channel_id, RepositoryName(name)))
    found = Subscriptions(transaction).all()

    assert [(subscription.channel_id, subscription.repository) for subscription in found] == [
        ("C9", "acme/api"),
        ("C1", "acme/site"),
        ("C2", "acme/site"),
    ]


def test_the_subscriptions_of_many_repositories_are_read_at_once(transaction: Transaction) -> None:
    many = [RepositoryName(f"acme/r{number}") for number in range(600)]
    others = [Subscription("C2", SITE), Subscription("C1", SHOP), Subscription("C9", many[-1])]
    save(transaction, BY_COMMAND, *others)
    configure(transaction, CONFIGURED)

    found = Subscriptions(transaction).of_repositories([SITE, *many])
    of_site = Subscriptions(transaction).of_repository(SITE)

    assert {name: list(some) for name, some in found.items()} == {
        SITE: list(of_site),
        many[-1]: [Subscription("C9", many[-1])],
    }
    assert [subscription.channel_id for subscription in of_site] == ["C1", "C1", "C2"]
