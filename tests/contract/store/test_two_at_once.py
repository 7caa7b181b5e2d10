"""Simultaneous actions of two people, or a person and the schedule, on PostgreSQL.

Each test interleaves two transactions on purpose; SQLite has one writer at a time.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Concatenate, ParamSpec, TypeVar

import pytest
from typing_extensions import override

from bot.domain.audit import Action, Actor, Caller, Origin
from bot.domain.configured import Policy
from bot.domain.deliveries import Delivery, NewDelivery, Subject, SubjectKind, delivered
from bot.domain.durations import For
from bot.domain.errors import MergeQueueUnavailable
from bot.domain.event_records import EventDetails, EventRecord
from bot.domain.group_acts import GroupAct
from bot.domain.groups import Group
from bot.domain.live_messages import LiveKind, LiveSubject
from bot.domain.notices import Notice
from bot.domain.pause_records import PauseRecord, ReminderPlan, Timer
from bot.domain.pauses import PauseChange
from bot.domain.queue import Pause
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import Style, SubscriptionOptions
from bot.scheduler import next_digest
from bot.store.engines import create_engine
from bot.store.transactions import Store, Transaction
from bot.usecases.channel_settings import ChannelSettings
from bot.usecases.check_permission import CheckPermission
from bot.usecases.live_messages import enqueue_urgent
from bot.usecases.pausing.acts import ActLog
from bot.usecases.pausing.group_pauses import shown_group, shown_reminder
from bot.usecases.pausing.group_work import GroupWork
from bot.usecases.pausing.pause_history import end_pause
from bot.usecases.pausing.pause_queue import PauseQueue
from bot.usecases.pausing.reminders import RemindOfPauses
from bot.usecases.pausing.resume_queue import ResumeQueue
from bot.usecases.pausing.timers import ExpirePauses, timers_lease
from bot.usecases.people import switch
from bot.usecases.posting.post_deliveries import SUMMARIZE_OVER, PostDeliveries
from bot.usecases.routing.route_events import RoutingContext, route_events
from bot.usecases.routing.route_pauses import route_pause_event
from tests.support.clock import FakeClock
from tests.support.databases import PATIENT
from tests.support.directories import HOME, FakeChannels, FakePeople
from tests.support.make import make_configured, make_subscription
from tests.support.merge_queue import FakeMergeQueue
from tests.support.poster import RecordingPoster
from tests.support.postgres import PostgresServer
from tests.support.stored import (
    NOW,
    SHOP,
    SITE,
    after,
    claim,
    event_subject,
    make_event,
    make_new,
    make_record,
)
from tests.support.transactions import begin
from tests.support.waiting import until

P = ParamSpec("P")
T = TypeVar("T")

pytestmark = pytest.mark.postgres

ALICE = Actor("U0ALICE", "alice", HOME)
CHANNEL = "C0RELEASE"
HOUR = For(timedelta(hours=1))

WAITING = (
    "SELECT count(*) FROM pg_stat_activity"
    " WHERE datname = current_database() AND wait_event_type = 'Lock'"
)


def _no_wake(after: float = 0) -> None:
    del after


class TwoProcesses:
    """Two stores on one server, and a person's actions through the second."""

    def __init__(self, url: str, server: PostgresServer, database: str) -> None:
        self.one = Store(create_engine(url, **PATIENT))
        self.two = Store(create_engine(url, **PATIENT))
        self._server, self._database = server, database
        self.clock = FakeClock(NOW)
        self.service = FakeMergeQueue((SITE, SHOP), clock=self.clock)
        check = CheckPermission(FakePeople(), make_configured())
        self.acts = ActLog(self.two, self.clock, FakeChannels(), check, _no_wake)
        self.resuming = ResumeQueue(self.service, self.acts)

    async def until_it_waits(self, task: asyncio.Task[object]) -> None:
        """Wait until it waits for a lock, or has ended."""

        def waits() -> bool:
            return task.done() or self._server.execute(WAITING, self._database) != [(0,)]

        await until(waits, "it waits for the other")

    async def pause(self, *repositories: RepositoryName, group_act_id: int = 0) -> None:
        with begin(self.one) as transaction:
            for name in repositories:
                self.service.pauses[name] = Pause(reason="freeze", paused_at=NOW)
                transaction.pauses.of(name, NOW)
                transaction.pauses.save(
                    PauseRecord(name, NOW, "freeze", "freeze", group_act_id=group_act_id)
                )

    async def reported(self, kind: SubjectKind, subject_id: int, address: str) -> bool:
        with begin(self.one) as transaction:
            subject = Subject(kind, SITE, subject_id)
            return transaction.outbox.get(address, subject) is not None


@pytest.fixture
async def processes(
    postgres_url: str, postgres_server: PostgresServer, postgres_database: str
) -> AsyncIterator[TwoProcesses]:
    both = TwoProcesses(postgres_url, postgres_server, postgres_database)
    yield both
    await both.one.close()
    await both.two.close()


def _end(transaction: Transaction, name: RepositoryName) -> PauseRecord:
    known = transaction.pauses.of(name, NOW)
    return end_pause(transaction, known[0], after(5), None, after(5))


async def test_a_person_who_starts_watching_as_the_last_pause_ends_is_notified(
    processes: TwoProcesses,
) -> None:
    with begin(processes.one) as transaction:
        act = GroupAct("release", Action.PAUSE, NOW, ALICE, Origin.COMMAND, (SITE,))
        act_id = transaction.group_acts.save(act)
    await processes.pause(SITE, group_act_id=act_id)

    with begin(processes.one) as transaction:
        ended = _end(transaction, SITE)
        click = asyncio.create_task(processes.resuming.watch(Group("release", ()), ALICE))
        await processes.until_it_waits(click)
    answer = await click

    is_reported = await processes.reported(SubjectKind.RESUMED, ended.pause_id, ALICE.user_id)
    assert answer is None or is_reported


async def test_subscriptions_of_two_people_at_once_both_count(processes: TwoProcesses) -> None:
    before = make_subscription("merge", channel_id=CHANNEL)
    managing = ChannelSettings(processes.acts, next_digest)
    options = SubscriptionOptions(topics=frozenset({"failure"}))
    caller = Caller(ALICE, Origin.COMMAND, CHANNEL)

    with begin(processes.one) as transaction:
        transaction.subscriptions.hold(CHANNEL)
        transaction.subscriptions.of_channel(CHANNEL)
        second = asyncio.create_task(managing.subscribe(caller, [SITE], options))
        await processes.until_it_waits(second)
        transaction.subscriptions.save(before)
    await second

    with begin(processes.one) as transaction:
        (heard,) = transaction.subscriptions.of_channel(CHANNEL)
    assert {"merge", "failure"} <= set(heard.topics)


async def test_an_extension_and_a_notification_of_the_same_pause_do_not_deadlock(
    processes: TwoProcesses,
) -> None:
    await processes.pause(SITE)
    with begin(processes.one) as transaction:
        transaction.subscriptions.save(make_subscription("pause", channel_id=CHANNEL))
    pausing = PauseQueue(processes.service, processes.acts)
    caller = Caller(ALICE, Origin.BUTTON)

    with begin(processes.one) as transaction:
        transaction.pauses.of(SITE, NOW)
        extension = asyncio.create_task(pausing.extend(caller, SITE, HOUR))
        await processes.until_it_waits(extension)
        enqueue_urgent(
            transaction, Subject(SubjectKind.EVENT, SITE, 1), [CHANNEL], NOW, identity="1"
        )

    assert isinstance(await extension, PauseChange)


async def test_choices_made_in_two_places_together_are_both_kept(processes: TwoProcesses) -> None:
    with begin(processes.one) as transaction:
        transaction.people.choose(ALICE.user_id, {Notice.MERGE: True})
        second = asyncio.create_task(
            processes.two.run(switch, ALICE.user_id, {Notice.MENTION: False})
        )
        await processes.until_it_waits(second)
    await second

    with begin(processes.one) as transaction:
        chosen = transaction.people.chosen([ALICE.user_id])
    assert chosen == {ALICE.user_id: {Notice.MERGE: True, Notice.MENTION: False}}


class _Awaited(Store):
    """Transactions that wait until released, and report that they wait."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.is_reached, self.is_let_go = asyncio.Event(), asyncio.Event()

    @override
    async def run(
        self, body: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        self.is_reached.set()
        await self.is_let_go.wait()
        return await self._store.run(body, *args, **kwargs)


async def test_an_extension_is_not_undone_by_a_timer_that_could_not_end_its_pause(
    processes: TwoProcesses,
) -> None:
    await processes.pause(SITE)
    timer = Timer(NOW, NOW, Actor("U0ALICE", "alice"), "freeze")
    with begin(processes.two) as transaction:
        (pause,) = transaction.pauses.open([SITE])
        timed = replace(pause, timer=timer)
        transaction.pauses.save(timed)
    processes.service.fail_next(MergeQueueUnavailable("down"))
    store = _Awaited(processes.two)
    by_timer = ExpirePauses(
        processes.resuming,
        GroupWork(replace(processes.acts, store=store)),
        timers_lease("two"),
        lambda: 0.5,
    )

    resume_task = asyncio.create_task(by_timer.resume(timed))
    await store.is_reached.wait()
    with begin(processes.one) as transaction:
        before = transaction.pauses.locked(timed)
        store.is_let_go.set()
        await processes.until_it_waits(resume_task)
        extended = replace(timed, timer=replace(timer, resumes_at=after(3600), due_at=after(3600)))
        transaction.pauses.save(extended)
    outcome = await resume_task

    assert before == timed
    assert isinstance(outcome, MergeQueueUnavailable)
    with begin(processes.one) as transaction:
        assert transaction.pauses.open([SITE]) == [extended]


async def test_a_first_post_can_finish_while_a_change_to_it_is_routed(
    processes: TwoProcesses,
) -> None:
    with begin(processes.one) as transaction:
        transaction.subscriptions.save(
            replace(
                make_subscription("enter", "checks", "pause", channel_id="C1"), style=Style.THREAD
            )
        )
        enqueue_urgent(transaction, event_subject(99), ["C1"], NOW, identity="1")
    enter, checks = (
        replace(make_event(number, received_at=after(number), type_=one), pull_request=7)
        for number, one in enumerate(("action.queue.enter", "action.queue.checks_start"))
    )
    paused = replace(
        make_event(2, received_at=after(2), type_="queue.pause.create"),
        pull_request=None,
        details=EventDetails(reason="CI is down"),
    )
    await processes.one.run(_route, enter)
    first = _first_post(await processes.one.run(claim, after(3)))

    with begin(processes.one) as transaction:
        transaction.live_messages.posted(first.subject.subject_id, "1.1", 1)
        routing = asyncio.create_task(processes.two.run(_route, checks, paused))
        await processes.until_it_waits(routing)
        transaction.outbox.record([delivered(first, "1.1", after(3))])
    await routing

    assert len(await processes.one.run(claim, after(4))) == 1


async def test_the_log_shows_a_group_while_somebody_acts_on_one_of_it(
    processes: TwoProcesses,
) -> None:
    await processes.pause(SITE)
    act = GroupAct(
        "release",
        Action.RESUME,
        NOW,
        ALICE,
        Origin.COMMAND,
        (SITE, SHOP),
        notified_together=frozenset({CHANNEL}),
    )
    with begin(processes.one) as transaction:
        act = replace(act, ended_at=NOW)
        act = replace(act, group_act_id=transaction.group_acts.save(act))
        enqueue_urgent(transaction, event_subject(99), [CHANNEL], NOW, identity="1")
    part = replace(
        make_record(), action=Action.RESUME, group=act.group, group_act_id=act.group_act_id
    )

    def log_shows(transaction: Transaction) -> None:
        event = make_event(received_at=after(1), type_="queue.pause.delete")
        route_pause_event(transaction, event, part, (), after(3), None)

    with begin(processes.one) as transaction:
        transaction.pauses.of(SITE, NOW)
        routing = asyncio.create_task(processes.two.run(log_shows))
        await processes.until_it_waits(routing)
        enqueue_urgent(transaction, event_subject(1), [CHANNEL], NOW, identity="1")
    await routing

    with begin(processes.one) as transaction:
        (card,) = transaction.live_messages.of(shown_group(act))
    assert await processes.reported(SubjectKind.LIVE_MESSAGE, card.message_id, CHANNEL)


async def test_first_posts_are_summarized_while_a_change_to_one_is_routed(
    processes: TwoProcesses,
) -> None:
    names = [
        LiveSubject(LiveKind.ENTRY, SITE, f"{number}-1") for number in range(SUMMARIZE_OVER + 1)
    ]
    with begin(processes.one) as transaction:
        cards = [transaction.live_messages.add(name, "C1", now=NOW) for name in names]
        transaction.outbox.add(
            [
                NewDelivery(f"d{one}", "C1", Subject(SubjectKind.LIVE_MESSAGE, SITE, one), NOW)
                for one in cards
                if one is not None
            ]
        )
    posts = PostDeliveries(
        processes.two, RecordingPoster(), processes.clock, _no_wake, "two", lambda: 0.5
    )

    with begin(processes.one) as transaction:
        transaction.live_messages.mark(names[-1], due_at=NOW)
        posting = asyncio.create_task(posts.run())
        await processes.until_it_waits(posting)
        transaction.outbox.add([make_new(1)])
    await posting

    with begin(processes.one) as transaction:
        found = transaction.live_messages.get([one for one in cards if one is not None])
    assert [one.is_lost for one in found.values()] == [True] * len(names)


async def test_a_reminder_snoozed_as_it_comes_due_stays_snoozed(processes: TwoProcesses) -> None:
    await processes.pause(SITE)
    with begin(processes.one) as transaction:
        (pause,) = transaction.pauses.open([SITE])
        due = ReminderPlan(NOW, sent=1)
        transaction.pauses.save(replace(pause, reminders=due))
        transaction.subscriptions.save(make_subscription("pause", channel_id=CHANNEL))
    configured = make_configured(policy=Policy(first_reminder=timedelta(minutes=30)))
    check = CheckPermission(FakePeople(), configured)
    reminding = RemindOfPauses(processes.service, replace(processes.acts, check=check))
    put_off = replace(pause, reminders=replace(due, next_at=after(3600)))

    with begin(processes.one) as transaction:
        transaction.pauses.locked(pause)
        reminder = asyncio.create_task(reminding.run(timers_lease("two")))
        await processes.until_it_waits(reminder)
        transaction.pauses.save(put_off)
    await reminder

    with begin(processes.one) as transaction:
        assert not transaction.live_messages.of(shown_reminder(pause))
        assert transaction.pauses.open([SITE]) == [put_off]


async def test_a_reminder_is_posted_while_somebody_changes_the_end_of_its_pause(
    processes: TwoProcesses,
) -> None:
    await processes.pause(SITE)
    timer = Timer(after(60), after(60), Actor("U1", "bob"), "freeze")
    with begin(processes.one) as transaction:
        (pause,) = transaction.pauses.open([SITE])
        sent = ReminderPlan(NOW, sent=1)
        pause = replace(pause, timer=timer, reminders=replace(sent, sent=2))
        transaction.pauses.save(pause)
        enqueue_urgent(
            transaction,
            Subject(SubjectKind.REMINDER, SITE, pause.pause_id),
            [CHANNEL],
            NOW,
            identity="1",
        )
    poster = RecordingPoster()
    posts = PostDeliveries(processes.two, poster, processes.clock, _no_wake, "two", lambda: 0.5)

    with begin(processes.one) as transaction:
        transaction.pauses.locked(pause)
        transaction.pauses.save(pause)
        posting = asyncio.create_task(posts.run())
        await processes.until_it_waits(posting)
        enqueue_urgent(transaction, event_subject(1), [CHANNEL], NOW, identity="1")
    await posting

    assert await processes.reported(SubjectKind.EVENT, 1, CHANNEL)
    (posted,) = poster.history
    assert "still paused" in posted.message.text


def _first_post(claimed: Sequence[Delivery]) -> Delivery:
    return next(one for one in claimed if one.subject.kind is SubjectKind.LIVE_MESSAGE)


def _route(transaction: Transaction, *events: EventRecord) -> None:
    transaction.events.add_new(events)
    route_events(transaction, SITE, RoutingContext(next_digest, after(3)))
