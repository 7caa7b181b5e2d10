"""Pauses from start to end, and their watchers."""

from dataclasses import replace
from datetime import datetime

import pytest
from sqlalchemy.exc import IntegrityError

from bot.acts.group_act import GroupAct
from bot.acts.group_acts import GroupActs
from bot.acts.record import Action, ActResult
from bot.acts.rows import Audit
from bot.kernel.actor import Actor, Origin
from bot.kernel.repository import RepositoryName
from bot.pauses.known import ToldEnd
from bot.pauses.pause import (
    PausedQueue,
    PauseEnd,
    PauseEnding,
    PauseLine,
    PauseRecord,
    ReminderPlan,
    Takeover,
    Timer,
    line_of,
)
from bot.pauses.rows import Pauses, ResumeWatchers
from bot.pauses.stored import ACTS_READ, load_stored
from bot.posts.live_message import LiveKind, LiveSubject
from bot.posts.live_messages import LiveMessages
from bot.runtime.upkeep.pruning import Upkeep
from bot.store.transaction import Transaction
from tests.support.make import saying
from tests.support.stored import NOW, SHOP, SITE, after, make_record


def make_pause(
    paused_at: datetime = NOW,
    *,
    repository: RepositoryName = SITE,
    ended_at: datetime | None = None,
    end_notified: bool = False,
) -> PauseRecord:
    end: PauseEnd | None = None
    if ended_at is not None:
        end = PauseEnd(ended_at, is_notified=end_notified)
    return PauseRecord(
        repository=repository,
        line=PauseLine(
            paused_at=paused_at,
            stored_reason="deploying 4.2 (by Ada via Slack)",
            reason="deploying 4.2",
            by=Actor("U1", "Ada"),
        ),
        end=end,
    )


def save(transaction: Transaction, *records: PauseRecord) -> list[int]:
    return [Pauses(transaction).save(record) for record in records]


def test_characters_that_no_database_can_store_are_replaced_in_json_too(
    transaction: Transaction,
) -> None:
    timer = Timer(after(9), after(10), Actor("", "a\0b"), "deploying \udc00", "C1")
    save(
        transaction,
        replace(saying(make_pause(), by=Actor("", "\ud83d \N{PILE OF POO}")), timer=timer),
    )
    (found,) = Pauses(transaction).open([SITE])
    assert found.line.by == Actor("", "\ufffd \N{PILE OF POO}")
    assert found.timer == replace(
        timer, set_by=Actor("", "a\ufffdb"), stored_reason="deploying \ufffd"
    )


def test_a_pause_comes_back_as_it_was_saved(transaction: Transaction) -> None:
    full = replace(
        saying(make_pause(), event_id=77),
        previous_reason="before \N{SNOWMAN}",
        queue=PausedQueue(3, 5, frozenset({44, 45}), frozenset({"44 45"})),
        end=PauseEnd(
            after(60),
            Actor("", "dave"),
            PauseEnding.TIMER,
            after(61),
            after(59),
            is_notified=True,
            end_id=7,
        ),
        taken_over=Takeover(Actor("U2", "Bob"), after(8)),
        timer=Timer(after(9), after(10), Actor("", "eve"), "deploying", "C1", failures=3),
        reminders=ReminderPlan(after(11), sent=2),
    )
    told = replace(make_pause(repository=SHOP), told_end=ToldEnd(after(5), Actor("", "dave")))
    first, second = save(transaction, full, told)
    found = Pauses(transaction).get([first, second, 999])

    assert found == {
        first: replace(full, pause_id=first),
        second: replace(told, pause_id=second),
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
        Pauses(transaction).of(SITE, after(-30)),
        Pauses(transaction).recent(SITE, after(-30)),
    ):
        assert [pause.pause_id for pause in found] == [ids[2], ids[1]]
    in_force = Pauses(transaction).open([SITE, SHOP])
    assert [pause.pause_id for pause in in_force] == [ids[3], ids[2]]
    assert Pauses(transaction).open([]) == []


def test_unreported_ends_are_found(transaction: Transaction) -> None:
    ids = save(
        transaction,
        make_pause(after(0)),
        make_pause(after(1), ended_at=after(10)),
        make_pause(after(2), ended_at=after(5)),
        make_pause(after(3), ended_at=after(6), end_notified=True),
        make_pause(after(4), ended_at=after(20)),
    )
    unnotified = Pauses(transaction).unnotified_ends(after(20))

    assert [pause.pause_id for pause in unnotified] == [ids[2], ids[1]]


def timed(pause: PauseRecord, seconds: float) -> PauseRecord:
    return replace(
        pause,
        timer=Timer(after(seconds), after(seconds), Actor("U1", "Ada"), pause.line.stored_reason),
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
    LiveMessages(transaction).add(name, "C1", now=NOW)
    ResumeWatchers(transaction).add(gone, "U1")
    assert Upkeep(transaction).prune(after(5))["pauses"] == 0
    assert Upkeep(transaction).prune(after(6))["pauses"] == 1
    assert Upkeep(transaction).prune(after(9999))["pauses"] == 0
    left = Pauses(transaction).get([shown, gone, unnotified, in_force, was_timed])

    assert sorted(left) == [shown, unnotified, in_force, was_timed]


def test_the_pause_that_has_been_due_longest_comes_first(transaction: Transaction) -> None:
    later = timed(make_pause(), 3600)
    sooner = timed(make_pause(repository=SHOP), 60)
    fired = timed(make_pause(after(5), ended_at=after(60), end_notified=True), 60)
    assert fired.timer is not None
    fired = replace(fired, timer=replace(fired.timer, due_at=None))
    first, second, _ = save(transaction, later, sooner, fired)

    assert Pauses(transaction).due(after(59), 10) == []
    due = [pause.pause_id for pause in Pauses(transaction).due(after(3600), 10)]
    assert due == [second, first]
    assert len(Pauses(transaction).due(after(3600), 1)) == 1


def test_pauses_of_a_group_are_found_while_in_force(transaction: Transaction) -> None:
    act = GroupAct("release", Action.PAUSE, NOW, Actor("U1", "Ada"), Origin.COMMAND, (SITE, SHOP))
    act_id = GroupActs(transaction).save(act)
    other_id = GroupActs(transaction).save(replace(act, group="docs"))
    pauses = [
        make_pause(ended_at=after(1)),
        saying(make_pause(after(2)), group_act_id=act_id),
        saying(make_pause(repository=SHOP, ended_at=after(2)), group_act_id=other_id),
        saying(make_pause(after(2), repository=SHOP), group_act_id=act_id),
    ]
    for pause in pauses:
        Pauses(transaction).save(pause)
    found = [one.repository for one in Pauses(transaction).of_group("release")]
    assert found == sorted([SITE, SHOP])
    assert Pauses(transaction).of_group("all") == []


def test_a_queue_is_paused_once_at_a_time(transaction: Transaction) -> None:
    save(transaction, make_pause(ended_at=after(1)), make_pause(after(2)))
    with pytest.raises(IntegrityError):
        save(transaction, make_pause(after(3)))


def test_what_a_pause_said_before_is_kept_in_order(transaction: Transaction) -> None:
    pause_id, other_id = save(transaction, make_pause(ended_at=after(9)), make_pause(after(10)))
    now = line_of(replace(saying(make_pause(after(5)), event_id=7), pause_id=pause_id))
    before = line_of(replace(saying(make_pause(after(2)), by=None), pause_id=pause_id))
    now, before = (
        replace(line, line_id=Pauses(transaction).save_line(line)) for line in (now, before)
    )
    assert Pauses(transaction).earlier_lines([pause_id]) == [before, now]
    assert Pauses(transaction).line(now.line_id) == now
    named = replace(before, line=replace(before.line, by=Actor("", "dave")))
    assert Pauses(transaction).save_line(named) == before.line_id
    assert [
        earlier.line.by for earlier in Pauses(transaction).earlier_lines([pause_id, other_id])
    ] == [
        Actor("", "dave"),
        Actor("U1", "Ada"),
    ]


def test_each_end_of_a_pause_is_kept_also_a_false_one(transaction: Transaction) -> None:
    (pause_id,) = save(transaction, make_pause())
    pauses = Pauses(transaction)
    false = pauses.save_ended(replace(make_pause(ended_at=after(5)), pause_id=pause_id))
    pauses.save(replace(make_pause(), pause_id=pause_id))
    true = pauses.save_ended(replace(make_pause(ended_at=after(9)), pause_id=pause_id))
    assert true.end is not None
    named = pauses.save_ended(replace(true, end=replace(true.end, by=Actor("", "dave"))))

    assert pauses.with_end(false.end_number) == replace(named, end=false.end)
    assert pauses.with_end(true.end_number) == named
    assert pauses.end_numbers([pause_id]) == [false.end_number, true.end_number]


def test_what_a_pause_said_goes_before_it(transaction: Transaction) -> None:
    (pause_id,) = save(transaction, make_pause(ended_at=after(5), end_notified=True))
    Pauses(transaction).save_line(line_of(replace(make_pause(), pause_id=pause_id)))
    assert Upkeep(transaction).prune(after(5))["pause_lines"] == 0
    pruned = Upkeep(transaction).prune(after(6))
    assert (pruned["pause_lines"], pruned["pauses"]) == (1, 1)


def test_a_watcher_asks_once_and_is_notified_once(transaction: Transaction) -> None:
    first, second = save(transaction, make_pause(), make_pause(after(1), repository=SHOP))
    watchers = ResumeWatchers(transaction)
    assert watchers.add(first, "U2")
    assert watchers.add(first, "U1")
    assert not watchers.add(first, "U2")
    assert watchers.add(second, "U1")
    assert watchers.waiting([first, second]) == {"U1", "U2"}
    assert watchers.waiting([]) == set()
    assert watchers.take(second) == ["U1"]
    assert watchers.waiting([first, second]) == {"U1", "U2"}
    assert watchers.add(second, "U1")
    assert watchers.take(first) == ["U1", "U2"]
    assert watchers.waiting([first, second]) == {"U1"}
    assert watchers.take(first) == []


def test_people_can_list_and_stop_the_queues_they_wait_for(transaction: Transaction) -> None:
    site, shop = save(transaction, make_pause(), make_pause(after(1), repository=SHOP))
    for pause_id in (shop, site):
        ResumeWatchers(transaction).add(pause_id, "U1")
    ResumeWatchers(transaction).add(site, "U2")

    watchers = ResumeWatchers(transaction)
    awaited = watchers.awaited(["U1", "U2", "U3"])
    assert {one: list(names) for one, names in awaited.items()} == {
        "U1": sorted([SHOP, SITE]),
        "U2": [SITE],
    }
    assert watchers.awaited([]) == {}
    assert watchers.forget("U1")
    assert not watchers.forget("U1")
    assert watchers.waiting([site, shop]) == {"U2"}


def test_of_many_acts_on_pauses_the_newest_are_known(transaction: Transaction) -> None:
    record_ids: dict[Action, list[int]] = {Action.PAUSE: [], Action.RESUME: []}
    for second in range(2 * (ACTS_READ + 5)):
        action = Action.PAUSE if second % 2 else Action.RESUME
        act = make_record(at=after(second), action=action, result=ActResult.STARTED)
        record_ids[action].append(Audit(transaction).add(act))

    known = load_stored(transaction, SITE, after(100)).known

    newest = [record_id for ids in record_ids.values() for record_id in ids[-ACTS_READ:]]
    assert [act.act_id for act in known.acts] == sorted(newest)
