"""Slack changes a channel's id: its stored data moves."""

import pytest

from bot.domain.boards import Board
from bot.domain.deliveries import DeliveryState, SuspendedChannel, delivered, postponed
from bot.domain.live_messages import LiveKind, LiveSubject
from bot.store.transactions import Store
from tests.support.make import make_subscription
from tests.support.stored import (
    NOW,
    SHOP,
    SITE,
    add,
    after,
    claim,
    event_subject,
    ids,
    make_new,
    record,
)
from tests.support.transactions import begin

OLD, NEW = "G0OLD", "C0NEW"


async def rename(store: Store) -> bool:
    return await store.run(lambda transaction: transaction.upkeep.rename_channel(OLD, NEW))


async def test_waiting_deliveries_are_posted_to_the_new_id_in_order(store: Store) -> None:
    await add(store, *(make_new(number, channel_id=OLD) for number in (1, 2, 3)))
    (first,) = await claim(store, NOW, per_channel=1)
    await record(store, delivered(first, "1.1", NOW))

    assert await rename(store)

    claimed = await claim(store, after(1))
    assert ids(claimed) == [f"{OLD}-2", f"{OLD}-3"]
    assert {one.channel_id for one in claimed} == {NEW}
    await record(store, *(delivered(one, "1.2", after(1)) for one in claimed))
    await add(store, make_new(4, channel_id=NEW))
    assert ids(await claim(store, after(2))) == [f"{NEW}-4"]


async def test_posts_that_the_new_channel_id_got_already_are_not_repeated(store: Store) -> None:
    await add(store, make_new(1, channel_id=OLD), make_new(2, channel_id=OLD))
    await add(store, make_new(1, channel_id=NEW), make_new(3, channel_id=NEW))

    assert await rename(store)

    assert ids(await claim(store, NOW)) == [f"{NEW}-1", f"{NEW}-3", f"{OLD}-2"]
    with begin(store) as transaction:
        assert transaction.outbox.get(OLD, event_subject(1)) is None


async def test_nothing_moves_while_a_post_is_being_sent(store: Store) -> None:
    await add(store, make_new(1, channel_id=OLD))
    (sending,) = await claim(store, NOW)

    assert not await rename(store)

    await record(store, postponed(sending, "x", now=NOW, retry_after=1, jitter=0))
    assert await rename(store)
    (again,) = await claim(store, after(60))
    assert (again.channel_id, again.state) == (NEW, DeliveryState.SENDING)


async def test_a_suspended_channel_is_open_under_its_new_id(store: Store) -> None:
    await add(store, make_new(1, channel_id=OLD))
    (first,) = await claim(store, NOW)
    await record(store, postponed(first, "channel_not_found", now=NOW, retry_after=9, jitter=0))
    with begin(store) as transaction:
        transaction.outbox.suspend(
            SuspendedChannel(OLD, "channel_not_found", NOW, retry_at=after(3600))
        )

    assert await rename(store)

    assert ids(await claim(store, after(60))) == [f"{OLD}-1"]
    with begin(store) as transaction:
        assert (transaction.outbox.summary()).suspended == []


async def test_preferences_and_live_messages_move(store: Store) -> None:
    name = LiveSubject(LiveKind.PAUSE, SITE, "1")
    with begin(store) as transaction:
        for repository in (SITE, SHOP):
            transaction.subscriptions.save(
                make_subscription("merge", channel_id=OLD, repository=repository)
            )
        transaction.subscriptions.save(make_subscription("pause", channel_id=NEW, repository=SHOP))
        transaction.channel_defaults.set(OLD, SITE)
        board_id = transaction.boards.put_up(Board(OLD, SITE, "alice", NOW))
        card_id = transaction.live_messages.add(name, OLD, now=NOW)
    assert board_id is not None
    assert card_id is not None

    assert await rename(store)

    with begin(store) as transaction:
        heard = {
            repository: [
                (one.channel_id, *one.topics)
                for one in transaction.subscriptions.of_repository(repository)
            ]
            for repository in (SITE, SHOP)
        }
        assert heard == {SITE: [(NEW, "merge")], SHOP: [(NEW, "pause")]}
        assert transaction.channel_defaults.of(NEW) == SITE
        assert transaction.channel_defaults.of(OLD) is None
        board = transaction.boards.kept_in(NEW, SITE)
        assert board is not None
        assert board.board_id == board_id
        assert (transaction.live_messages.get([card_id]))[card_id].channel_id == NEW


@pytest.mark.parametrize("times", [1, 2])
async def test_an_unknown_channel_id_changes_nothing(store: Store, times: int) -> None:
    for _ in range(times):
        assert await rename(store)
    assert await claim(store, NOW) == []
