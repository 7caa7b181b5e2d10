"""The audit: who did what, and the state before."""

from dataclasses import replace

import pytest

from bot.domain.audit import Action, ActResult, AuditRecord, AuditSelection
from bot.domain.repository import RepositoryName
from bot.store.transactions import Store
from tests.support.stored import SHOP, SITE, after, make_record
from tests.support.transactions import begin


async def test_a_record_comes_back_with_its_id(store: Store) -> None:
    record = replace(
        make_record(),
        previous_reason="before \N{SNOWMAN}",
        previous_paused_at=after(-90),
        detail="503",
        answer="409 conflict: \N{SNOWMAN}",
        setting_before="",
        setting_after="enter merge",
    )
    with begin(store) as transaction:
        first = transaction.audit.add(record)
        second = transaction.audit.add(make_record(act_id=first))
    with begin(store) as transaction:
        found = transaction.audit.get([first, second, 999])
        assert transaction.audit.get([]) == {}

    assert first < second
    assert found == {
        first: replace(record, record_id=first),
        second: replace(make_record(act_id=first), record_id=second),
    }


async def test_all_records_since_a_time_come_oldest_first(store: Store) -> None:
    with begin(store) as transaction:
        late = transaction.audit.add(make_record(at=after(2), result=ActResult.FAILED))
        early = transaction.audit.add(make_record(at=after(1), action=Action.RESUME))
        transaction.audit.add(make_record(at=after(0.999999)))
        transaction.audit.add(make_record(at=after(3), repository=SHOP))
    with begin(store) as transaction:
        since = transaction.audit.since(SITE, after(1))

    assert [record.record_id for record in since] == [early, late]


async def fill(store: Store, *records: AuditRecord) -> list[int]:
    return await store.run(
        lambda transaction: [transaction.audit.add(record) for record in records]
    )


async def newest(store: Store, selection: AuditSelection, limit: int = 10) -> list[int]:
    """The ids, read page after page of `limit`."""
    found: list[AuditRecord] = []
    with begin(store) as transaction:
        page = list(transaction.audit.newest(selection, limit))
        while page:
            assert len(page) <= limit
            found += page
            page = list(transaction.audit.newest(selection, limit, before=found[-1].place))
    return [record.record_id for record in found]


async def oldest(store: Store, selection: AuditSelection, limit: int = 10) -> list[int]:
    found: list[AuditRecord] = []
    with begin(store) as transaction:
        page = list(transaction.audit.oldest(selection, limit))
        while page:
            assert len(page) <= limit
            found += page
            page = list(transaction.audit.oldest(selection, limit, after=found[-1].place))
    return [record.record_id for record in found]


@pytest.mark.parametrize("limit", [1, 2, 10])
async def test_pages_follow_time_and_leave_nothing_out(store: Store, limit: int) -> None:
    late, first, second, shop = await fill(
        store,
        make_record(at=after(5)),
        make_record(at=after(1)),
        make_record(at=after(1)),
        make_record(at=after(3), repository=SHOP),
    )

    everything = AuditSelection()
    assert await oldest(store, everything, limit) == [first, second, shop, late]
    assert await newest(store, everything, limit) == [late, shop, second, first]
    of_site = AuditSelection(repository=SITE)
    assert await oldest(store, of_site, limit) == [first, second, late]
    since = AuditSelection(repository=SITE, since=after(1.5))
    assert await newest(store, since, limit) == [late]
    assert await newest(store, AuditSelection(since=after(3)), limit) == [late, shop]


async def test_starts_are_left_out_once_their_outcome_is_known(store: Store) -> None:
    ended, cut_short = await fill(
        store,
        make_record(at=after(1), result=ActResult.STARTED),
        make_record(at=after(2), result=ActResult.STARTED),
    )
    [end] = await fill(store, make_record(at=after(3), act_id=ended))

    assert await newest(store, AuditSelection(ends_only=True)) == [end, cut_short]
    assert await newest(store, AuditSelection()) == [end, cut_short, ended]


async def test_only_old_refusals_are_deleted(store: Store) -> None:
    with begin(store) as transaction:
        refused = transaction.audit.add(make_record(at=after(1), result=ActResult.REFUSED))
        done = transaction.audit.add(make_record(at=after(1)))
        asked = transaction.audit.add(
            make_record(at=after(1), result=ActResult.REFUSED, act_id=done)
        )
        late = transaction.audit.add(make_record(at=after(3), result=ActResult.REFUSED))
    with begin(store) as transaction:
        assert (transaction.upkeep.prune(after(3)))["audit"] == 1
        assert (transaction.upkeep.prune(after(3)))["audit"] == 0
        found = transaction.audit.get([refused, done, asked, late])
    assert sorted(found) == [done, asked, late]


async def test_the_records_of_an_act_on_a_group_come_together(store: Store) -> None:
    def part(seconds: float, group_act_id: int, repository: RepositoryName = SITE) -> AuditRecord:
        record = make_record(at=after(seconds), repository=repository)
        return replace(record, group="release", group_act_id=group_act_id)

    parts = [part(2, 7, SHOP), part(1, 7), part(1, 8), make_record(at=after(1)), part(0.5, 7)]
    with begin(store) as transaction:
        added = [transaction.audit.add(record) for record in parts]
        found = transaction.audit.of_group_act(7, after(1))
    assert [one.record_id for one in found] == [added[1], added[0]]
