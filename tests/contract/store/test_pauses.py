"""Pauses from beginning to end, and those who wait for the end."""

import asyncio
from dataclasses import replace
from datetime import datetime

from bot.domain.audit import Action, Actor, Origin
from bot.domain.group_acts import GroupAct
from bot.domain.live_messages import LiveKind, LiveSubject
from bot.domain.pause_records import PauseEnding, PauseRecord, ReminderPlan, Timer, Who
from bot.domain.repository import RepositoryName
from bot.store.transactions import Store, Transaction
from tests.support.stored import NOW, SHOP, SITE, after
from tests.support.transactions import begin


def make_pause(
    paused_at: datetime = NOW,
    *,
    repository: RepositoryName = SITE,
    ended_at: datetime | None = None,
    end_told: bool = False,
) -> PauseRecord:
    return PauseRecord(
        repository=repository,
        paused_at=paused_at,
        stored_reason="deploying 4.2 (by Ada via Slack)",
        reason="deploying 4.2",
        by=Who("Ada", "U1"),
        ended_at=ended_at,
        ending=PauseEnding.LIFTED if ended_at is not None else None,
        end_told=end_told,
    )


async def save(store: Store, *records: PauseRecord) -> list[int]:
    return await store.run(
        lambda transaction: [transaction.pauses.save(record) for record in records]
    )


async def test_recent_pauses_are_those_in_force_and_those_that_ended_lately(store: Store) -> None:
    old, ended = make_pause(ended_at=after(5)), make_pause(after(10), ended_at=after(20))
    await save(store, old, ended, make_pause(after(30)), make_pause(repository=SHOP))
    with begin(store) as transaction:
        found = transaction.pauses.recent(SITE, after(6))
    assert [one.paused_at for one in found] == [after(30), after(10)]


async def test_a_pause_comes_back_as_it_was_kept(store: Store) -> None:
    full = replace(
        make_pause(ended_at=after(60), end_told=True),
        is_exact=False,
        event_id=77,
        previous_reason="before \N{SNOWMAN}",
        queued_at_start=3,
        queued_now=5,
        joined=frozenset({44, 45}),
        ended_by=Who("dave"),
        timer=Timer(after(9), after(10), Who("eve"), "deploying", "C1", failures=3),
        reminders=ReminderPlan(after(11), sent=2),
    )
    first, second = await save(store, full, make_pause(repository=SHOP))
    with begin(store) as transaction:
        found = transaction.pauses.get([first, second, 999])

    assert found == {
        first: replace(full, pause_id=first),
        second: replace(make_pause(repository=SHOP), pause_id=second),
    }


async def test_a_pause_is_changed_in_place(store: Store) -> None:
    (pause_id,) = await save(store, make_pause())
    changed = replace(
        make_pause(), pause_id=pause_id, paused_at=after(1), by=None, queued_now=9, is_exact=False
    )
    assert await save(store, changed) == [pause_id]
    with begin(store) as transaction:
        assert transaction.pauses.get([pause_id]) == {pause_id: changed}


async def test_the_pauses_of_a_repository_are_those_in_force_and_of_late(store: Store) -> None:
    ids = await save(
        store,
        make_pause(after(-90), ended_at=after(-60)),
        make_pause(after(-60), ended_at=after(-30)),
        make_pause(after(-30)),
        make_pause(after(-20), repository=SHOP),
    )
    with begin(store) as transaction:
        of = transaction.pauses.of(SITE, after(-30))
        in_force = transaction.pauses.open([SITE, SHOP])
        assert transaction.pauses.open([]) == []

    assert [one.pause_id for one in of] == [ids[2], ids[1]]
    assert [one.pause_id for one in in_force] == [ids[3], ids[2]]


async def test_nobody_begins_a_pause_while_another_looks_whether_there_is_one(
    store: Store,
) -> None:
    def add_first(transaction: Transaction) -> None:
        if not transaction.pauses.of(SITE, NOW):
            transaction.pauses.save(make_pause())

    await asyncio.gather(*(store.run(add_first) for _ in range(4)))
    with begin(store) as transaction:
        assert len(transaction.pauses.of(SITE, NOW)) == 1


async def test_ends_that_were_not_told_are_found(store: Store) -> None:
    ids = await save(
        store,
        make_pause(after(0)),
        make_pause(after(1), ended_at=after(10)),
        make_pause(after(2), ended_at=after(5)),
        make_pause(after(3), ended_at=after(6), end_told=True),
        make_pause(after(4), ended_at=after(20)),
    )
    with begin(store) as transaction:
        untold = transaction.pauses.untold_ends(after(20))

    assert [one.pause_id for one in untold] == [ids[2], ids[1]]


async def test_a_pause_is_kept_as_long_as_a_card_shows_it(store: Store) -> None:
    shown, gone, untold, in_force = await save(
        store,
        make_pause(after(0), ended_at=after(5), end_told=True),
        make_pause(after(1), ended_at=after(5), end_told=True),
        make_pause(after(2), ended_at=after(5)),
        make_pause(after(3)),
    )
    name = LiveSubject(LiveKind.PAUSE, SITE, str(shown))
    with begin(store) as transaction:
        transaction.live_messages.add(name, "C1", now=NOW)
        transaction.resume_watchers.add(gone, "U1")
        assert (transaction.prune(after(5)))["pauses"] == 0
        assert (transaction.prune(after(6)))["pauses"] == 1
        left = transaction.pauses.get([shown, gone, untold, in_force])

    assert sorted(left) == [shown, untold, in_force]


def timed(pause: PauseRecord, seconds: float) -> PauseRecord:
    return replace(
        pause, timer=Timer(after(seconds), after(seconds), Who("Ada", "U1"), pause.stored_reason)
    )


async def test_pauses_come_due_the_longest_due_first(store: Store) -> None:
    later, sooner = timed(make_pause(), 3600), timed(make_pause(repository=SHOP), 60)
    fired = timed(make_pause(after(5), ended_at=after(60), end_told=True), 60)
    assert fired.timer is not None
    fired = replace(fired, timer=replace(fired.timer, due_at=None))
    first, second, _ = await save(store, later, sooner, fired)

    with begin(store) as transaction:
        assert transaction.pauses.due(after(59), 10) == []
        due = [one.pause_id for one in transaction.pauses.due(after(3600), 10)]
        assert due == [second, first]
        assert len(transaction.pauses.due(after(3600), 1)) == 1


async def test_a_pause_that_is_to_end_by_itself_is_never_deleted(store: Store) -> None:
    """Only a look has found it over, and may have been wrong."""
    over = timed(make_pause(ended_at=after(60), end_told=True), 9000)
    await save(store, over)
    with begin(store) as transaction:
        assert transaction.prune(after(9999))["pauses"] == 0


async def test_what_acts_on_a_group_have_paused_is_found_while_it_is_in_force(
    store: Store,
) -> None:
    act = GroupAct("release", Action.PAUSE, NOW, Actor("U1", "Ada"), Origin.COMMAND, (SITE, SHOP))
    with begin(store) as transaction:
        act_id = transaction.group_acts.add(act)
        other_id = transaction.group_acts.add(replace(act, group="docs"))
        pauses = [
            make_pause(ended_at=after(1)),
            replace(make_pause(after(2)), group_act_id=act_id),
            replace(make_pause(repository=SHOP), group_act_id=other_id),
            replace(make_pause(after(2), repository=SHOP), group_act_id=act_id),
        ]
        for one in pauses:
            transaction.pauses.save(one)
        found = [one.repository for one in transaction.pauses.of_group("release")]
        assert found == sorted([SITE, SHOP])
        assert transaction.pauses.of_group("all") == []


async def test_a_watcher_asks_once_and_is_told_once(store: Store) -> None:
    first, second = await save(store, make_pause(), make_pause(after(1)))
    with begin(store) as transaction:
        watchers = transaction.resume_watchers
        assert watchers.add(first, "U2")
        assert watchers.add(first, "U1")
        assert not watchers.add(first, "U2")
        assert watchers.add(second, "U1")
    with begin(store) as transaction:
        watchers = transaction.resume_watchers
        assert watchers.waiting([first, second]) == {"U1", "U2"}
        assert watchers.waiting([]) == set()
        assert watchers.take(first) == ["U1", "U2"]
        assert watchers.waiting([first, second]) == {"U1"}
        assert watchers.take(first) == []
        assert transaction.resume_watchers.take(second) == ["U1"]


async def test_watchers_go_over_to_the_pause_that_replaced_theirs(store: Store) -> None:
    first, second = await save(store, make_pause(), make_pause(after(1)))
    with begin(store) as transaction:
        for user_id in ("U1", "U2"):
            transaction.resume_watchers.add(first, user_id)
        transaction.resume_watchers.add(second, "U1")
        transaction.resume_watchers.move(first, second)
        assert transaction.resume_watchers.take(first) == []
        assert transaction.resume_watchers.take(second) == ["U1", "U2"]


async def test_a_person_can_see_what_they_wait_for_and_wait_no_longer(store: Store) -> None:
    site, shop = await save(store, make_pause(), make_pause(after(1), repository=SHOP))
    with begin(store) as transaction:
        for pause_id in (shop, site):
            transaction.resume_watchers.add(pause_id, "U1")
        transaction.resume_watchers.add(site, "U2")

    with begin(store) as transaction:
        watchers = transaction.resume_watchers
        awaited = watchers.awaited(["U1", "U2", "U3"])
        assert {one: list(names) for one, names in awaited.items()} == {
            "U1": sorted([SHOP, SITE]),
            "U2": [SITE],
        }
        assert watchers.awaited([]) == {}
        assert watchers.forget("U1")
        assert not watchers.forget("U1")
        assert watchers.waiting([site, shop]) == {"U2"}
