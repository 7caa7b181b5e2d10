"""Pauses from start to end, and their watchers."""

from dataclasses import replace
from datetime import datetime

from bot.domain.audit import Action, Actor, Origin
from bot.domain.group_acts import GroupAct
from bot.domain.live_messages import LiveKind, LiveSubject
from bot.domain.pause_records import PauseEnding, PauseRecord, ReminderPlan, Timer
from bot.domain.repository import RepositoryName
from bot.store.transactions import Transaction
from tests.support.stored import NOW, SHOP, SITE, after


def make_pause(
    paused_at: datetime = NOW,
    *,
    repository: RepositoryName = SITE,
    ended_at: datetime | None = None,
    end_notified: bool = False,
) -> PauseRecord:
    return PauseRecord(
        repository=repository,
        paused_at=paused_at,
        stored_reason="deploying 4.2 (by Ada via Slack)",
        reason="deploying 4.2",
        by=Actor("U1", "Ada"),
        ended_at=ended_at,
        ending=PauseEnding.RESUMED if ended_at is not None else None,
        end_notified=end_notified,
    )


def save(transaction: Transaction, *records: PauseRecord) -> list[int]:
    return [transaction.pauses.save(record) for record in records]


def test_characters_that_no_database_can_store_are_replaced_in_json_too(
    transaction: Transaction,
) -> None:
    timer = Timer(after(9), after(10), Actor("", "a\0b"), "deploying \udc00", "C1")
    save(transaction, replace(make_pause(), by=Actor("", "\ud83d \N{PILE OF POO}"), timer=timer))
    (found,) = transaction.pauses.open([SITE])
    assert found.by == Actor("", "\ufffd \N{PILE OF POO}")
    assert found.timer == replace(
        timer, set_by=Actor("", "a\ufffdb"), stored_reason="deploying \ufffd"
    )


def test_a_pause_comes_back_as_it_was_saved(transaction: Transaction) -> None:
    full = replace(
        make_pause(ended_at=after(60), end_notified=True),
        is_exact=False,
        event_id=77,
        previous_reason="before \N{SNOWMAN}",
        queued_at_start=3,
        queued_now=5,
        joined=frozenset({44, 45}),
        ended_by=Actor("", "dave"),
        timer=Timer(after(9), after(10), Actor("", "eve"), "deploying", "C1", failures=3),
        reminders=ReminderPlan(after(11), sent=2),
    )
    first, second = save(transaction, full, make_pause(repository=SHOP))
    found = transaction.pauses.get([first, second, 999])

    assert found == {
        first: replace(full, pause_id=first),
        second: replace(make_pause(repository=SHOP), pause_id=second),
    }


def test_a_repository_lists_current_and_recent_pauses(transaction: Transaction) -> None:
    ids = save(
        transaction,
        make_pause(after(-90), ended_at=after(-60)),
        make_pause(after(-60), ended_at=after(-30)),
        make_pause(after(-30)),
        make_pause(after(-20), repository=SHOP),
    )
    for found in (
        transaction.pauses.of(SITE, after(-30)),
        transaction.pauses.recent(SITE, after(-30)),
    ):
        assert [one.pause_id for one in found] == [ids[2], ids[1]]
    in_force = transaction.pauses.open([SITE, SHOP])
    assert [one.pause_id for one in in_force] == [ids[3], ids[2]]
    assert transaction.pauses.open([]) == []


def test_unreported_ends_are_found(transaction: Transaction) -> None:
    ids = save(
        transaction,
        make_pause(after(0)),
        make_pause(after(1), ended_at=after(10)),
        make_pause(after(2), ended_at=after(5)),
        make_pause(after(3), ended_at=after(6), end_notified=True),
        make_pause(after(4), ended_at=after(20)),
    )
    unnotified = transaction.pauses.untold_ends(after(20))

    assert [one.pause_id for one in unnotified] == [ids[2], ids[1]]


def timed(pause: PauseRecord, seconds: float) -> PauseRecord:
    return replace(
        pause, timer=Timer(after(seconds), after(seconds), Actor("U1", "Ada"), pause.stored_reason)
    )


def test_a_pause_is_kept_while_a_card_shows_it_or_if_it_was_timed(transaction: Transaction) -> None:
    shown, gone, unnotified, in_force, was_timed = save(
        transaction,
        make_pause(after(0), ended_at=after(5), end_notified=True),
        make_pause(after(1), ended_at=after(5), end_notified=True),
        make_pause(after(2), ended_at=after(5)),
        make_pause(after(3)),
        # Only a poll found it over, which may have been wrong.
        timed(make_pause(after(4), ended_at=after(5), end_notified=True), 9000),
    )
    name = LiveSubject(LiveKind.PAUSE, SITE, str(shown))
    transaction.live_messages.add(name, "C1", now=NOW)
    transaction.resume_watchers.add(gone, "U1")
    assert transaction.upkeep.prune(after(5))["pauses"] == 0
    assert transaction.upkeep.prune(after(6))["pauses"] == 1
    assert transaction.upkeep.prune(after(9999))["pauses"] == 0
    left = transaction.pauses.get([shown, gone, unnotified, in_force, was_timed])

    assert sorted(left) == [shown, unnotified, in_force, was_timed]


def test_the_pause_that_has_been_due_longest_comes_first(transaction: Transaction) -> None:
    later, sooner = timed(make_pause(), 3600), timed(make_pause(repository=SHOP), 60)
    fired = timed(make_pause(after(5), ended_at=after(60), end_notified=True), 60)
    assert fired.timer is not None
    fired = replace(fired, timer=replace(fired.timer, due_at=None))
    first, second, _ = save(transaction, later, sooner, fired)

    assert transaction.pauses.due(after(59), 10) == []
    due = [one.pause_id for one in transaction.pauses.due(after(3600), 10)]
    assert due == [second, first]
    assert len(transaction.pauses.due(after(3600), 1)) == 1


def test_pauses_of_a_group_are_found_while_in_force(transaction: Transaction) -> None:
    act = GroupAct("release", Action.PAUSE, NOW, Actor("U1", "Ada"), Origin.COMMAND, (SITE, SHOP))
    act_id = transaction.group_acts.save(act)
    other_id = transaction.group_acts.save(replace(act, group="docs"))
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


def test_a_watcher_asks_once_and_is_notified_once_also_of_a_replacement(
    transaction: Transaction,
) -> None:
    first, second = save(transaction, make_pause(), make_pause(after(1)))
    watchers = transaction.resume_watchers
    assert watchers.add(first, "U2")
    assert watchers.add(first, "U1")
    assert not watchers.add(first, "U2")
    assert watchers.add(second, "U1")
    assert watchers.waiting([first, second]) == {"U1", "U2"}
    assert watchers.waiting([]) == set()
    assert watchers.take(second) == ["U1"]
    assert watchers.waiting([first, second]) == {"U1", "U2"}
    assert watchers.add(second, "U1")
    watchers.move(first, second)
    assert watchers.take(first) == []
    assert watchers.waiting([first, second]) == {"U1", "U2"}
    assert watchers.take(second) == ["U1", "U2"]
    assert watchers.take(second) == []


def test_people_can_list_and_stop_the_queues_they_wait_for(transaction: Transaction) -> None:
    site, shop = save(transaction, make_pause(), make_pause(after(1), repository=SHOP))
    for pause_id in (shop, site):
        transaction.resume_watchers.add(pause_id, "U1")
    transaction.resume_watchers.add(site, "U2")

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
