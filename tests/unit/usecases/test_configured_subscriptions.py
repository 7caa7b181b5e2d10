"""Removed configured subscriptions get no later posts."""

from dataclasses import replace
from datetime import timedelta

from bot.domain.deliveries import DeliveryState
from bot.domain.subscriptions import Style, Subscription, SubscriptionSource
from bot.usecases.channel_settings import take_configuration
from tests.support.store import InMemoryDatabase, InMemoryStore
from tests.support.stored import NOW, SHOP, SITE, event_subject, make_new
from tests.support.transactions import begin

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
            transaction.subscriptions.save(by_command)
        transaction.outbox.add(
            [
                replace(make_new(number), subject=event_subject(number, name), digest_at=at)
                for number, name in enumerate((SITE, SHOP))
            ]
        )
    await store.run(take_configuration, NOW, [*configured, before[1]])
    return [one.state for one in database.contents.deliveries.values()]


async def test_a_digest_of_a_removed_subscription_is_dropped() -> None:
    assert await states_after() == [DeliveryState.FAILED, DeliveryState.PENDING]


async def test_deliveries_of_remaining_subscriptions_keep_waiting() -> None:
    waiting = [DeliveryState.PENDING] * 2
    assert await states_after(CONFIGURED) == waiting
    assert await states_after(by_command=Subscription("C1", SITE)) == waiting
