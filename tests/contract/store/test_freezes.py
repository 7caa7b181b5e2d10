"""A stored freeze has one row, whatever the log and the service's list tell of it, in any order."""

from dataclasses import replace

import pytest
from sqlalchemy.exc import IntegrityError

from bot.freezes.freeze import Freeze, Stage, Told
from bot.freezes.rows import Freezes
from bot.kernel.repository import RepositoryName
from bot.merge_queue.event_records import FreezeAttributes
from bot.posts.live_message import LiveKind, LiveSubject
from bot.posts.live_messages import LiveMessages
from bot.runtime.upkeep.renaming_rows import Renaming
from bot.store.transaction import Transaction
from tests.support.stored import NOW, SITE, after

WEEK = FreezeAttributes(reason="release week", start=NOW.isoformat())
RENAMED = RepositoryName("acme/renamed")


def told_by(event_id: int, freeze_id: str | None = None) -> Freeze:
    return Freeze(SITE, freeze_id, WEEK, "alice", Told(event_id, event_id, after(event_id)))


def test_equal_freezes_are_two_rows_and_each_keeps_its_own(transaction: Transaction) -> None:
    freezes = Freezes(transaction)
    first = freezes.save(told_by(1))
    second = freezes.save(told_by(2))
    assert first.row_id != second.row_id
    assert freezes.locked(SITE) == [first, second]

    named = freezes.save(replace(second, freeze_id="f2", stage=Stage.IN_FORCE))
    assert named.row_id == second.row_id
    assert freezes.locked(SITE) == [first, named]
    assert freezes.with_ids(SITE, ["f2"]) == [named]
    assert freezes.one(first.row_id) == first


def test_an_id_of_the_service_is_that_of_one_row(transaction: Transaction) -> None:
    Freezes(transaction).save(told_by(1, "f1"))
    with pytest.raises(IntegrityError):
        Freezes(transaction).save(told_by(2, "f1"))


def test_a_freeze_is_found_by_its_first_event_and_by_the_one_that_set_it(
    transaction: Transaction,
) -> None:
    created = Freezes(transaction).save(told_by(1))
    changed = replace(created, told=replace(created.told, set_id=5, set_at=after(5)))
    Freezes(transaction).save(changed)
    for event_id in (1, 5):
        assert Freezes(transaction).told_by(SITE, [event_id]) == [changed]
    assert Freezes(transaction).told_by(SITE, [2]) == []
    assert Freezes(transaction).set_by(SITE, 5) == changed
    assert Freezes(transaction).set_by(SITE, 1) is None


def test_a_freeze_known_under_both_names_of_a_repository_stays_as_the_new_one_has_it(
    transaction: Transaction,
) -> None:
    freezes = Freezes(transaction)
    old = [freezes.save(told_by(1, "f1")), freezes.save(told_by(2)), freezes.save(told_by(3))]
    for freeze in old:
        card = LiveSubject(LiveKind.FREEZE, SITE, str(freeze.row_id))
        LiveMessages(transaction).add(card, "C1", now=NOW)
    by_id = freezes.save(replace(told_by(9, "f1"), repository=RENAMED))
    by_event = freezes.save(replace(told_by(2, "f2"), repository=RENAMED))

    Renaming(transaction).rename(SITE, RENAMED, NOW)

    left = replace(old[2], repository=RENAMED)
    assert freezes.locked(RENAMED) == [left, by_id, by_event]
    keys = [str(freeze.row_id) for freeze in old]
    shown = LiveMessages(transaction).of_all(LiveKind.FREEZE, RENAMED, keys)
    assert [card.subject.key for card in shown] == [str(left.row_id)]
