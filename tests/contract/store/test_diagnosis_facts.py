"""What is read of a log to say why nothing merges: as much of a long history as of a short one."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.doctor.reading import READ_FIRST, READ_OF_EACH, read_recent_log, read_releases
from bot.log.position import LastPoll, first_position
from bot.log.rows import Events, Positions
from bot.merge_queue.event_records import EventDetails
from bot.merge_queue.event_types import CHECKS_END, ENTER, LEAVE, MERGED
from bot.pauses.pause import PauseEnd, PauseLine, PauseRecord
from bot.pauses.rows import Pauses
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

    log = read_recent_log(transaction, SITE, NOW)

    assert [event.event_id for event in log.events[MERGED]] == list(range(21, count + 1))
    assert not log.of(LEAVE)
    assert log.read_at is None
    assert log.since is None


def test_merges_are_not_read_where_each_leave_says_whether_it_merged(
    transaction: Transaction,
) -> None:
    details = EventDetails(queued_at=after(-9), merged=True)
    leave = replace(make_event(1, type_=LEAVE), details=details)
    merge = make_event(2, type_=MERGED)
    Events(transaction).add_new([leave, merge])
    assert not read_recent_log(transaction, SITE, NOW).of(MERGED)

    failed = replace(make_event(3, type_=LEAVE), details=EventDetails(code="CHECKS_FAILED"))
    Events(transaction).add_new([failed])
    assert read_recent_log(transaction, SITE, NOW).of(MERGED) == [merge]


def test_of_all_that_entered_only_the_head_is_read(transaction: Transaction) -> None:
    head = make_event(1)
    other = make_event(2)
    Events(transaction).add_new([head, other])
    assert read_recent_log(transaction, SITE, NOW, head.pull_request).of(ENTER) == [head]
    assert not read_recent_log(transaction, SITE, NOW).of(ENTER)


def test_where_checks_start_over_all_that_entered_lately_is_read(transaction: Transaction) -> None:
    head = make_event(1)
    other = make_event(2)
    put_back = EventDetails(aborted=True, code="PR_AHEAD_DEQUEUED", abort_status="REEMBARKED")
    ends = [replace(make_event(n, type_=CHECKS_END), details=put_back) for n in (3, 4, 5)]
    Events(transaction).add_new([head, other, *ends])
    assert read_recent_log(transaction, SITE, NOW, head.pull_request).of(ENTER) == [head, other]

    merge = make_event(6, type_=MERGED)
    Events(transaction).add_new([merge])
    assert read_recent_log(transaction, SITE, NOW, head.pull_request).of(ENTER) == [head]


@pytest.mark.parametrize(
    ("in_a_batch", "read"), [(1, READ_FIRST), (2, READ_OF_EACH[CHECKS_END])], ids=["one", "two"]
)
def test_more_ends_of_checks_are_read_of_a_queue_with_batches(
    in_a_batch: int, read: int, transaction: Transaction
) -> None:
    ends = [
        replace(
            make_event(n, type_=CHECKS_END), details=EventDetails(batch=f"batch {n // in_a_batch}")
        )
        for n in range(1, 201)
    ]
    Events(transaction).add_new(ends)
    assert len(read_recent_log(transaction, SITE, NOW).of(CHECKS_END)) == read


def test_it_is_known_how_far_the_log_was_read(transaction: Transaction) -> None:
    Positions(transaction).save(first_position(SITE, after(-60)))
    Positions(transaction).save_polls({SITE: LastPoll(after(-1), [LEAVE])})

    log = read_recent_log(transaction, SITE, NOW)

    assert log.read_at == after(-1)
    assert log.since == after(-60)
    assert log.reads(LEAVE)
    assert not log.reads(LEAVE, MERGED)


def test_a_poll_of_all_types_reads_each_of_them(transaction: Transaction) -> None:
    Positions(transaction).save(first_position(SITE, after(-60)))
    Positions(transaction).save_polls({SITE: LastPoll(after(-1))})
    assert read_recent_log(transaction, SITE, NOW).reads(LEAVE, MERGED)


def test_the_ends_of_all_pauses_of_the_day_are_read_oldest_first(transaction: Transaction) -> None:
    ends = [NOW - timedelta(hours=hours) for hours in (30, 20, 4)]
    for end in reversed(ends):
        line = PauseLine(end - timedelta(hours=1), "deploying", "deploying")
        Pauses(transaction).save(PauseRecord(SITE, line, end=PauseEnd(end)))
    assert read_releases(transaction, SITE, NOW, "main") == ends[1:]
