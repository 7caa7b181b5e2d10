"""Lists of any length go into prepared statements whole, each value once."""

import re
from dataclasses import replace

import pytest

from bot.domain.deliveries import DeliveryState
from bot.ports import Store
from bot.storage.execution.bulk_inserts import TOGETHER, runs_of
from bot.storage.execution.prepared import LARGEST_LIST, ForSqlite
from tests.support.stored import SITE, event_subject, make_event, make_new


@pytest.mark.parametrize(
    "count", [0, 1, 2, 3, 5, TOGETHER - 1, TOGETHER, LARGEST_LIST, LARGEST_LIST + 1]
)
async def test_a_list_of_any_length_is_taken_whole(store: Store, count: int) -> None:
    records = [make_event(number) for number in range(count + 1)]
    wanted = [event_subject(number) for number in range(count)]
    async with store.begin() as transaction:
        assert await transaction.events.add_new(records) == count + 1
        assert await transaction.events.add_new(records) == 0
        assert set(await transaction.events.get(wanted)) == set(wanted)
        await transaction.events.mark_routed(SITE, [one.subject_id for one in wanted])
    async with store.begin() as transaction:
        left = await transaction.events.unrouted(SITE)
    assert [one.event_id for one in left] == [count]


async def test_what_is_told_by_another_is_settled_from_the_beginning(store: Store) -> None:
    first = make_new(1)
    second = replace(make_new(2), told_by=first.delivery_id)
    async with store.begin() as transaction:
        assert await transaction.outbox.add([first, second]) == 2
        found = await transaction.outbox.get(second.channel_id, second.subject)
    assert found is not None
    assert (found.state, found.settled_at) == (DeliveryState.FOLDED, second.due_at)


@pytest.mark.parametrize("sessions", [(None, None), (None, "s-2"), ("s-1", None), ("s-1", "s-2")])
async def test_what_all_rows_lack_is_stored_as_what_one_of_them_lacks(
    store: Store, sessions: tuple[str | None, ...]
) -> None:
    told = sessions * TOGETHER
    records = [replace(make_event(n), session_id=one) for n, one in enumerate(told, 1)]
    async with store.begin() as transaction:
        assert await transaction.events.add_new(records) == len(records)
        stored = await transaction.events.get([event_subject(one.event_id) for one in records])
    assert [stored[event_subject(one.event_id)] for one in records] == records


def test_values_of_many_rows_are_given_by_their_order_alone() -> None:
    """Numbered ones have to be given by name from Python 3.14 on, and warn from 3.12 on."""
    slots = [("all", None, None), ("each", None, None), ("none", None, None)]
    insert = ForSqlite(
        "INSERT INTO t (a, b, c) VALUES (?, ?, ?)",
        frozenset(one[0] for one in slots),
        slots,
        None,
        (),
    )
    runs = runs_of(insert, {"each": [str(n) for n in range(TOGETHER + 2)]}, {"all": 1})
    assert [run.rows for run in runs] == [TOGETHER, 2]
    for run in runs:
        places = re.findall(r"[?:@$]\w*", run.sql)
        assert [places] * len(run.sets) == [["?"] * len(one) for one in run.sets]
