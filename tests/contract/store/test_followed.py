"""What channels get and lose by the selections that they follow, as the settings change."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from bot.acts.record import Action, AuditSelection
from bot.acts.rows import Audit
from bot.channels.following import FollowSelections, take_configuration
from bot.channels.rows import Followed, Subscriptions
from bot.channels.subscription import Following, Style, Subscription, SubscriptionSource
from bot.kernel.actor import Actor
from bot.kernel.configured import Configured, Policies, Policy
from bot.kernel.groups import Group, Groups, Repositories
from bot.kernel.repository import RepositoryName
from bot.posts.outbox import Outbox
from bot.runtime.upkeep.pruning import Upkeep
from bot.store.transaction import Transaction
from bot.store.transactions import Store
from tests.support.clock import FakeClock
from tests.support.databases import TestDatabase
from tests.support.stored import NOW, SHOP, SITE
from tests.support.transactions import begin

DOCS = RepositoryName("acme/docs")
OTHER = RepositoryName("other/one")
ALICE = Actor("U0ALICE", "alice")


def following(selection: str, *topics: str, minutes: int = 0) -> Following:
    return Following(
        "C1",
        selection,
        ALICE,
        NOW.replace(minute=minutes),
        topics=frozenset(topics or {"merge"}),
        branches=frozenset({"main"}),
        except_logins=frozenset(),
        style=Style.FEED,
    )


def groups(*names: RepositoryName, release: Sequence[RepositoryName] | None = None) -> Groups:
    known = () if release is None else (Group("release", tuple(release)),)
    return Groups(known, Repositories(names))


async def follow(store: Store, found: Groups) -> None:
    configured = Configured(found, frozenset(), Policies(Policy()))
    await FollowSelections(store, FakeClock(NOW), configured).take_over()


def saved(store: Store, *some: Following | Subscription) -> None:
    with begin(store) as transaction:
        for one in some:
            if isinstance(one, Following):
                Followed(transaction).save(one)
            else:
                Subscriptions(transaction).save(one)


def topics(store: Store) -> dict[str, set[str]]:
    with begin(store) as transaction:
        found = Subscriptions(transaction).of_channel("C1")
        return {subscription.repository: set(subscription.topics) for subscription in found}


def acts(store: Store) -> list[tuple[Action, str, str | None]]:
    with begin(store) as transaction:
        found = Audit(transaction).oldest(AuditSelection(), 100)
    assert {act.actor for act in found} <= {ALICE}
    return [(act.action, act.repository, act.group.name) for act in found]


def posts(store: Store) -> int:
    with begin(store) as transaction:
        return Outbox(transaction).summary().pending


def test_what_a_channel_follows_is_kept_as_it_was_asked_for(transaction: Transaction) -> None:
    first = following("@release", minutes=1)
    later = following("all", minutes=2)
    left_out = replace(first, left_out=frozenset({SITE}))
    Followed(transaction).save(later, first)
    Followed(transaction).save(left_out)
    assert Followed(transaction).of_channel("C1") == [left_out, later]
    assert Followed(transaction).by_channel() == {"C1": [left_out, later]}
    Followed(transaction).delete(first)
    assert Followed(transaction).of_channel("C1") == [later]
    assert Upkeep(transaction).rename_channel("C1", "C2")
    assert list(Followed(transaction).by_channel()) == ["C2"]


async def test_a_new_member_gets_what_was_asked_for_and_is_posted_once(store: Store) -> None:
    saved(store, following("acme/*", "enter", "merge"))
    for _ in range(2):
        await follow(store, groups(SITE, DOCS, OTHER))
    assert topics(store) == {SITE: {"enter", "merge"}, DOCS: {"enter", "merge"}}
    assert acts(store) == [
        (Action.SUBSCRIBE, SITE, "acme/*"),
        (Action.SUBSCRIBE, DOCS, "acme/*"),
    ]
    assert posts(store) == 1


async def test_what_somebody_decided_about_one_repository_stays(store: Store) -> None:
    own = Subscription("C1", SHOP, frozenset({"failure"}))
    saved(store, own, replace(following("all"), left_out=frozenset({SITE})))
    await follow(store, groups(SITE, SHOP))
    assert topics(store) == {SHOP: {"failure"}}
    assert (acts(store), posts(store)) == ([], 0)


async def test_a_member_that_left_is_unsubscribed_unless_it_is_followed_otherwise(
    store: Store,
) -> None:
    saved(store, following("acme/*", "failure"), following("@release", "enter", minutes=1))
    await follow(store, groups(SITE, OTHER, release=(SITE, OTHER)))
    assert topics(store) == {SITE: {"enter"}, OTHER: {"enter"}}
    await follow(store, groups(SITE, DOCS, OTHER, release=(DOCS,)))
    assert topics(store) == {SITE: {"failure"}, DOCS: {"enter"}}
    assert acts(store)[-2:] == [
        (Action.UNSUBSCRIBE, SITE, "release"),
        (Action.UNSUBSCRIBE, OTHER, "release"),
    ]


async def test_nothing_ends_with_a_group_or_a_repository_that_the_settings_do_not_name(
    store: Store,
) -> None:
    saved(store, following("@release"))
    await follow(store, groups(SITE, SHOP, release=(SITE, SHOP)))
    await follow(store, groups(SITE, release=(SITE,)))
    await follow(store, groups(SITE, SHOP))
    assert set(topics(store)) == {SITE, SHOP}


async def test_more_than_fit_in_one_transaction_all_come(store: Store) -> None:
    saved(store, following("all"))
    names = [RepositoryName(f"acme/r{number}") for number in range(1001)]
    await follow(store, groups(*names))
    assert set(topics(store)) == set(names)


def configured(*names: RepositoryName, through: str | None = "all") -> list[Subscription]:
    source = SubscriptionSource.CONFIGURATION
    return [Subscription("C1", name, source=source, through=through) for name in names]


async def test_a_selection_in_the_settings_announces_what_joins_and_leaves_it(
    store: Store,
) -> None:
    async def take(wanted: Sequence[Subscription]) -> int:
        await store.run(take_configuration, NOW, wanted, [SITE, SHOP, DOCS])
        return posts(store)

    assert await take(configured(SITE)) == 0
    assert await take(configured(SITE, SHOP)) == 1
    assert await take(configured(SITE, SHOP)) == 1
    assert await take([*configured(SITE, SHOP), *configured(DOCS, through=None)]) == 1
    assert await take(configured(SITE)) == 2
    assert await take([]) == 2


@pytest.mark.parametrize("times", [2, 5])
async def test_processes_that_take_the_settings_over_together_announce_it_once(
    database: TestDatabase, times: int
) -> None:
    store = database.open_store()
    saved(store, following("all"))
    await store.run(take_configuration, NOW, configured(SITE))
    others = [database.open_store() for _ in range(times)]

    async def start(other: Store) -> None:
        await other.run(take_configuration, NOW, configured(SITE, SHOP), [SITE, SHOP])
        await follow(other, groups(SITE, SHOP))

    await asyncio.gather(*map(start, others))
    # The configured one of SHOP, and the typed one of SITE, which the settings had already.
    assert posts(store) == 1
    with begin(store) as transaction:
        assert len(Audit(transaction).oldest(AuditSelection(), 100)) == 3


async def test_who_subscribed_while_a_process_had_older_settings_gets_the_rest_too(
    store: Store,
) -> None:
    known = Configured(groups(SITE, DOCS), frozenset(), Policies(Policy()))
    following_now = FollowSelections(store, FakeClock(NOW), known)
    await following_now.take_over()
    other = Subscription("C1", OTHER, through="acme/*")
    saved(store, following("acme/*"), following("acme/*").subscription(SITE), other)
    for _ in range(2):
        await following_now.catch_up()
    # What left ends when settings are taken over, not meanwhile.
    assert set(topics(store)) == {SITE, DOCS, OTHER}
    assert posts(store) == 1
