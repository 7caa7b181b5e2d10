"""The outbox: the urgent queue of a channel, and summaries of backlogs."""

from dataclasses import replace

from bot.domain.classification import EventKind
from bot.domain.deliveries import (
    UNSUBSCRIBED,
    DeliveryState,
    Subject,
    SubjectKind,
    SuspendedChannel,
    delivered,
    failed,
    in_doubt,
    summary_id,
)
from bot.domain.repository import RepositoryName
from bot.store.transactions import Store
from tests.support.stored import (
    NOW,
    SITE,
    add,
    after,
    claim,
    event_subject,
    ids,
    make_new,
    record,
    stored as stored_delivery,
)
from tests.support.transactions import begin


async def summarize(store: Store, *, longer_than: int = 3, at_most: int = 100) -> int:
    return await store.run(
        lambda transaction: transaction.outbox.summarize(
            now=after(10), longer_than=longer_than, at_most=at_most
        )
    )


async def test_an_urgent_delivery_does_not_wait_behind_the_ordinary_ones(store: Store) -> None:
    await add(store, *(make_new(number) for number in range(1, 6)))
    await claim(store, per_channel=2)
    await add(store, replace(make_new(9), urgent=True))

    (urgent,) = await claim(store, after(1))
    assert (urgent.urgent, urgent.subject.subject_id) == (True, 9)


async def test_each_queue_of_a_channel_keeps_its_own_order(store: Store) -> None:
    await add(store, make_new(1), replace(make_new(8), urgent=True), make_new(2))
    await add(store, replace(make_new(9), urgent=True))
    claimed = await claim(store, per_channel=5)

    assert [one.subject.subject_id for one in claimed if one.urgent] == [8, 9]
    assert [one.subject.subject_id for one in claimed if not one.urgent] == [1, 2]


async def test_a_parked_channel_without_deliveries_is_not_reported(store: Store) -> None:
    await add(store, replace(make_new(8), urgent=True))
    with begin(store) as transaction:
        transaction.outbox.suspend(SuspendedChannel("C1", "is_archived", NOW, after(100)))
        transaction.outbox.suspend(SuspendedChannel("C2", "is_archived", NOW, after(100)))
        assert [one.channel_id for one in (transaction.outbox.summary()).suspended] == ["C1"]
    (last,) = await claim(store, after(100))
    await record(store, failed(last, "is_archived", after(101)))
    with begin(store) as transaction:
        assert (transaction.outbox.summary()).suspended == []


async def test_deliveries_to_a_suspended_channel_end_when_it_unsubscribes(store: Store) -> None:
    other = replace(make_new(3), subject=Subject(SubjectKind.EVENT, RepositoryName("acme/api"), 3))
    elsewhere = replace(make_new(4), channel_id="C2")
    await add(store, make_new(1), replace(make_new(2), urgent=True), other, elsewhere)
    with begin(store) as transaction:
        transaction.outbox.suspend(SuspendedChannel("C1", "is_archived", NOW, after(100)))
        transaction.outbox.drop_unsubscribed("C1", SITE, NOW)
        transaction.outbox.drop_unsubscribed("C2", SITE, NOW)
    assert ids(await claim(store, after(100), per_channel=5)) == ["C1-3", "C1-4"]
    dropped = await stored_delivery(store, 1)
    assert (dropped.state, dropped.error) == (DeliveryState.FAILED, UNSUBSCRIBED)


async def test_parking_applies_to_both_queues_of_a_channel(store: Store) -> None:
    await add(store, make_new(1), replace(make_new(8), urgent=True))
    with begin(store) as transaction:
        suspended = SuspendedChannel("C1", "is_archived", NOW, after(100))
        transaction.outbox.suspend(suspended)

    assert await claim(store, after(99)) == []
    assert len(await claim(store, after(100), seconds=200)) == 2
    with begin(store) as transaction:
        assert (transaction.outbox.summary()).suspended == [suspended]
        transaction.outbox.resume("C1")
        assert (transaction.outbox.summary()).suspended == []


async def test_a_backlog_is_summarized_in_its_first_delivery(store: Store) -> None:
    kinds = [EventKind.MERGE, EventKind.FAILURE, EventKind.MERGE, EventKind.ENTER]
    await add(store, *(replace(make_new(n), kind=kind) for n, kind in enumerate(kinds, 1)))

    assert await summarize(store) == 3
    (summary,) = await claim(store, after(10), per_channel=10)
    assert (summary.delivery_id, summary.summarizes) == (summary_id("C1-1", "C1-4"), 3)
    with begin(store) as transaction:
        summarized = transaction.outbox.summary_content(summary.delivery_id)
    assert summarized.counts == {
        (SITE, EventKind.MERGE): 2,
        (SITE, EventKind.FAILURE): 1,
        (SITE, EventKind.ENTER): 1,
    }
    assert list(summarized.subjects) == [event_subject(2)]
    assert (await stored_delivery(store, 3)).state is DeliveryState.SUMMARIZED


async def test_later_deliveries_follow_a_summary(store: Store) -> None:
    await add(store, *(make_new(number) for number in range(1, 6)))
    await summarize(store)
    await add(store, make_new(6))
    run = await claim(store, after(10), per_channel=10)
    assert [(one.subject.subject_id, one.summarizes) for one in run] == [(1, 4), (6, 0)]
    await record(store, delivered(run[0], "1.1", after(11)), delivered(run[1], "1.2", after(11)))

    assert await claim(store, after(100)) == []


async def test_a_short_queue_is_not_summarized(store: Store) -> None:
    await add(store, make_new(1), make_new(2), make_new(3))
    assert await summarize(store, longer_than=3) == 0


async def test_the_urgent_queue_is_never_summarized(store: Store) -> None:
    await add(store, *(replace(make_new(number), urgent=True) for number in range(1, 9)))
    assert await summarize(store) == 0


async def test_deliveries_behind_one_in_doubt_are_summarized_after_it(store: Store) -> None:
    await add(store, *(make_new(number) for number in range(1, 6)))
    (head,) = await claim(store, per_channel=1)
    assert await summarize(store) == 0
    await record(store, in_doubt(head, "timeout", after(1)))

    assert await summarize(store) == 3
    run = await claim(store, after(10), per_channel=10)
    assert [(one.subject.subject_id, one.summarizes) for one in run] == [(1, 0), (2, 3)]


async def test_unsent_claims_of_a_dead_process_are_summarized(store: Store) -> None:
    await add(store, *(make_new(number) for number in range(1, 9)))
    await claim(store, per_channel=6, seconds=9)

    assert await summarize(store) == 6
    run = await claim(store, after(10), per_channel=10)
    assert [(one.subject.subject_id, one.summarizes) for one in run] == [(1, 0), (2, 6)]
    assert [one.attempted_at for one in run] == [NOW, None]


async def test_claims_of_a_living_process_are_not_summarized(store: Store) -> None:
    await add(store, *(make_new(number) for number in range(1, 9)))
    await claim(store, per_channel=6, seconds=60)

    assert await summarize(store) == 0


async def _with_a_summary(store: Store, many: int) -> None:
    """The first waits again after a doubtful attempt; the second summarizes those behind it."""
    await add(store, *(make_new(number) for number in range(1, many + 3)))
    (head,) = await claim(store, per_channel=1)
    await record(store, in_doubt(head, "timeout", after(1)))
    await summarize(store)
    run = await claim(store, after(10), per_channel=2)
    assert [one.summarizes for one in run] == [0, many]
    pending = [replace(one, state=DeliveryState.PENDING, attempted_at=None) for one in run]
    await record(store, *(replace(one, due_at=after(10)) for one in pending))


async def test_a_summary_is_not_included_in_another_summary(store: Store) -> None:
    await _with_a_summary(store, 51)
    await add(store, *(make_new(number) for number in range(100, 106)))

    assert await summarize(store) == 0
    with begin(store) as transaction:
        reported = transaction.outbox.summary_content(summary_id("C1-2", "C1-53"))
    assert sum(reported.counts.values()) == 52


async def test_a_small_summary_is_included_in_a_larger_one(store: Store) -> None:
    await _with_a_summary(store, 3)
    await add(store, *(make_new(number) for number in range(100, 103)))

    assert await summarize(store) == 4
    with begin(store) as transaction:
        reported = transaction.outbox.summary_content(summary_id("C1-1", "C1-102"))
        subjects = transaction.outbox.subjects_of(summary_id("C1-1", "C1-102"), 50)
        few = summary_id("C1-2", "C1-5")
        assert transaction.outbox.subjects_of(few, 50) == [event_subject(2)]
    assert sum(reported.counts.values()) == 8
    assert subjects == [event_subject(one) for one in (1, 2, 3, 4, 5, 100, 101, 102)]
    (head,) = await claim(store, after(10))
    assert head.summarizes == 7


async def test_a_summary_can_cover_others_and_itself(store: Store) -> None:
    others = [replace(make_new(number), summarized_by="C1-2") for number in (3, 4)]
    await add(store, make_new(1), replace(make_new(2), summarizes=2), *others, make_new(5))

    run = await claim(store)

    assert [(one.subject.subject_id, one.summarizes) for one in run] == [(1, 0), (2, 2), (5, 0)]
    assert (await stored_delivery(store, 3)).state is DeliveryState.SUMMARIZED
    await record(store, *(delivered(one, "1.1", NOW) for one in run))
    assert await claim(store, after(100)) == []
    with begin(store) as transaction:
        reported = transaction.outbox.subjects_of("C1-2", 50)
        assert transaction.outbox.subjects_of("C1-2", 2) == reported[:2]
        assert (transaction.outbox.summary()).pending == 0
    assert reported == [event_subject(one) for one in (2, 3, 4)]


async def test_nothing_is_summarized_behind_two_that_may_have_been_posted(store: Store) -> None:
    await add(store, *(make_new(number) for number in range(1, 9)))
    run = await claim(store, per_channel=2)
    await record(store, *(in_doubt(one, "timeout", after(1)) for one in run))

    assert await summarize(store) == 0


async def test_summarizing_stops_at_its_limit(store: Store) -> None:
    await add(store, *(make_new(number) for number in range(1, 9)))
    assert await summarize(store, at_most=4) == 4

    run = await claim(store, after(10), per_channel=10)
    assert [one.subject.subject_id for one in run] == [1, 6, 7, 8]


async def test_a_summary_does_not_overtake_deliveries_that_may_have_been_posted(
    store: Store,
) -> None:
    await add(store, *(make_new(number) for number in range(1, 9)))
    head, second, third = await claim(store, per_channel=3)
    await record(
        store,
        replace(head, state=DeliveryState.PENDING, due_at=after(1)),
        replace(second, state=DeliveryState.PENDING, due_at=after(1)),
        in_doubt(third, "timeout", after(1)),
    )

    assert await summarize(store) == 1
    assert (await stored_delivery(store, 2)).state is DeliveryState.SUMMARIZED
    assert (await stored_delivery(store, 4)).state is DeliveryState.PENDING
