"""What is read of a log to say why nothing merges: as much of a long history as of a short one."""

from dataclasses import replace
from datetime import timedelta

from bot.doctor.reading import READ_OF_EACH, read_log
from bot.log.position import LastPoll, first_position
from bot.log.rows import Events, Positions
from bot.merge_queue.event_types import LEAVE, MERGED
from bot.store.transaction import Transaction
from tests.support.stored import NOW, SHOP, SITE, after, make_event


def test_the_newest_events_of_the_last_day_are_read_oldest_first(transaction: Transaction) -> None:
    count = READ_OF_EACH[MERGED] + 20
    merges = [
        replace(make_event(n), type=MERGED, received_at=after(n - count))
        for n in range(1, count + 1)
    ]
    too_old = replace(make_event(5_000), type=LEAVE, received_at=NOW - timedelta(days=2))
    elsewhere = replace(make_event(5_001), type=LEAVE, repository=SHOP)
    Events(transaction).add_new([*merges, too_old, elsewhere])

    log = read_log(transaction, SITE, NOW)

    assert [event.event_id for event in log.events[MERGED]] == list(range(21, count + 1))
    assert not log.of(LEAVE)
    assert log.read_at is None
    assert log.since is None


def test_it_is_known_how_far_the_log_was_read(transaction: Transaction) -> None:
    Positions(transaction).save(first_position(SITE, after(-60)))
    Positions(transaction).save_polls({SITE: LastPoll(after(-1), [LEAVE])})

    log = read_log(transaction, SITE, NOW)

    assert log.read_at == after(-1)
    assert log.since == after(-60)
    assert log.reads(LEAVE)
    assert not log.reads(LEAVE, MERGED)


def test_a_poll_of_all_types_reads_each_of_them(transaction: Transaction) -> None:
    Positions(transaction).save(first_position(SITE, after(-60)))
    Positions(transaction).save_polls({SITE: LastPoll(after(-1))})
    assert read_log(transaction, SITE, NOW).reads(LEAVE, MERGED)
