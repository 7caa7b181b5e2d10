"""Slack changes a channel's id: its stored data moves."""

from dataclasses import replace

import pytest

from bot.boards.board import Board
from bot.boards.keeping import add_board
from bot.boards.rows import Boards
from bot.channels.rows import ChannelDefaults, Subscriptions
from bot.kernel.metrics import SuspendedChannel
from bot.posts.delivery import DeliveryState, delivered, postponed
from bot.posts.live_message import LiveKind, LiveSubject
from bot.posts.live_messages import LiveMessages
from bot.posts.outbox import Outbox
from bot.runtime.upkeep.pruning import Upkeep
from bot.store.transaction import Transaction
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

OLD = "G0OLD"
NEW = "C0NEW"


def rename(transaction: Transaction) -> bool:
    return Upkeep(transaction).rename_channel(OLD, NEW)


def test_waiting_deliveries_are_posted_to_the_new_id_in_order(transaction: Transaction) -> None:
    add(transaction, *(make_new(number, channel_id=OLD) for number in (1, 2, 3)))
    (first,) = claim(transaction, NOW, per_channel=1)
    record(transaction, delivered(first, "1.1", NOW))

    assert rename(transaction)

    claimed = claim(transaction, after(1))
    assert ids(claimed) == [f"{OLD}-2", f"{OLD}-3"]
    assert {subscription.channel_id for subscription in claimed} == {NEW}
    record(transaction, *(delivered(delivery, "1.2", after(1)) for delivery in claimed))
    add(transaction, make_new(4, channel_id=NEW))
    assert ids(claim(transaction, after(2))) == [f"{NEW}-4"]


def test_posts_that_the_new_channel_id_got_already_are_not_repeated(
    transaction: Transaction,
) -> None:
    add(transaction, make_new(1, channel_id=OLD), make_new(2, channel_id=OLD))
    add(transaction, make_new(1, channel_id=NEW), make_new(3, channel_id=NEW))

    assert rename(transaction)

    assert ids(claim(transaction, NOW)) == [f"{NEW}-1", f"{NEW}-3", f"{OLD}-2"]
    assert Outbox(transaction).get(OLD, event_subject(1)) is None


def test_nothing_moves_while_a_post_is_being_sent(transaction: Transaction) -> None:
    add(transaction, make_new(1, channel_id=OLD))
    (sending,) = claim(transaction, NOW)

    assert not rename(transaction)

    code = "channel_not_found"
    record(transaction, postponed(sending, code, now=NOW, retry_after=1, jitter=0))
    Outbox(transaction).suspend(SuspendedChannel(OLD, code, NOW, retry_at=after(3600)))
    assert rename(transaction)
    # It is open under its new id.
    assert Outbox(transaction).summary().suspended == []
    (again,) = claim(transaction, after(60))
    assert (again.delivery_id, again.channel_id) == (f"{OLD}-1", NEW)
    assert again.progress.state is DeliveryState.SENDING


def test_preferences_and_live_messages_move(transaction: Transaction) -> None:
    name = LiveSubject(LiveKind.PAUSE, SITE, "1")
    for repository in (SITE, SHOP):
        Subscriptions(transaction).save(
            make_subscription("merge", channel_id=OLD, repository=repository)
        )
    Subscriptions(transaction).save(make_subscription("pause", channel_id=NEW, repository=SHOP))
    ChannelDefaults(transaction).set(OLD, SITE)
    assert add_board(transaction, Board(OLD, SITE, "alice", NOW))
    made = Boards(transaction).open_in(OLD, SITE)
    assert made is not None
    card_id = LiveMessages(transaction).add(name, OLD, now=NOW)
    assert card_id is not None

    assert rename(transaction)

    heard = {
        repository: [
            (subscription.channel_id, *subscription.topics)
            for subscription in Subscriptions(transaction).of_repository(repository)
        ]
        for repository in (SITE, SHOP)
    }
    assert heard == {SITE: [(NEW, "merge")], SHOP: [(NEW, "pause")]}
    assert ChannelDefaults(transaction).of(NEW) == SITE
    assert ChannelDefaults(transaction).of(OLD) is None
    board = Boards(transaction).open_in(NEW, SITE)
    assert board is not None
    assert board == replace(made, channel_id=NEW)
    assert LiveMessages(transaction).mark(board.subject, due_at=NOW) == 1
    assert LiveMessages(transaction).get([card_id])[card_id].channel_id == NEW


@pytest.mark.parametrize("times", [1, 2])
def test_an_unknown_channel_id_changes_nothing(transaction: Transaction, times: int) -> None:
    for _ in range(times):
        assert rename(transaction)
    assert claim(transaction, NOW) == []


def test_a_board_that_both_ids_have_stays_where_it_is(transaction: Transaction) -> None:
    for channel_id in (OLD, NEW):
        assert add_board(transaction, Board(channel_id, SITE, "alice", NOW))
    kept = Boards(transaction).open_in(NEW, SITE)
    assert kept is not None
    assert rename(transaction)
    assert Boards(transaction).open_of([SITE]) == [kept]
    assert len(LiveMessages(transaction).of(kept.subject)) == 1
    assert LiveMessages(transaction).mark_channel(OLD, due_at=NOW) == 0
