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

from bot.acts.check_permission import CheckPermission
from bot.acts.group_act import GroupAct
from bot.acts.group_acts import GroupActs
from bot.acts.record import Action, ActResult, PartOfGroup, Previous
from bot.acts.recording import RecordActs
from bot.acts.rows import Audit, Revisions
from bot.channels.rows import Subscriptions
from bot.channels.settings import ChannelSettings
from bot.channels.subscription import Style, SubscriptionOptions
from bot.feed.counting_repeats import MessageForm, repeated
from bot.feed.route_events import RoutingContext, route_events
from bot.feed.route_pauses import ReadAfter, route_pause_event
from bot.home.about import switch
from bot.kernel.actor import Actor, Caller, Origin
from bot.kernel.configured import Policy
from bot.kernel.cron import next_digest
from bot.kernel.durations import For
from bot.kernel.groups import Group
from bot.kernel.repository import RepositoryName
from bot.log.rows import Events
from bot.merge_queue.errors import MergeQueueUnavailable
from bot.merge_queue.event_records import EventDetails, EventRecord
from bot.merge_queue.queue import Pause
from bot.pauses.by_rule import PauseRules
from bot.pauses.ending import ExpirePauses, due_lease
from bot.pauses.group_pauses import shown_group, shown_reminder
from bot.pauses.group_work import GroupWork
from bot.pauses.history import end_pause
from bot.pauses.known import StatusSays
from bot.pauses.outcomes import NotYetResumed, PauseChange, WatchOutcome
from bot.pauses.pause import PauseEnd, PauseLine, PauseRecord, ReminderPlan, Timer
from bot.pauses.pausing import PauseQueue
from bot.pauses.readings import EventContext, PauseReading
from bot.pauses.reminding import RemindOfPauses
from bot.pauses.resuming import ResumeQueue
from bot.pauses.rows import Pauses, is_paused
from bot.people.notices import Notice
from bot.people.rows import People
from bot.posts.delivery import Delivery, NewDelivery, Subject, SubjectKind, delivered
from bot.posts.enqueueing import enqueue_urgent
from bot.posts.live_message import LiveKind, LiveSubject
from bot.posts.live_messages import LiveMessages
from bot.posts.outbox import Outbox
from bot.posts.posting import SUMMARIZE_OVER, PostDeliveries, record_outcome
from bot.posts.send import SendResult
from bot.runtime.renderers import RENDERERS
from bot.runtime.upkeep.pruning import rename_channel
from bot.store.engines import create_engine
from bot.store.transaction import Transaction
from bot.store.transactions import Store
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
        self._server = server
        self._database = database
        self.clock = FakeClock(NOW)
        self.service = FakeMergeQueue((SITE, SHOP), clock=self.clock)
        check = CheckPermission(FakePeople(), make_configured())
        self.acts = RecordActs(self.two, self.clock, FakeChannels(), check, _no_wake, is_paused)
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
                Pauses(transaction).of(name, NOW)
                Pauses(transaction).save(
                    PauseRecord(name, PauseLine(NOW, "freeze", "freeze", group_act_id=group_act_id))
                )

    async def reported(self, kind: SubjectKind, subject_id: int, address: str) -> bool:
        with begin(self.one) as transaction:
            subject = Subject(kind, SITE, subject_id)
            return Outbox(transaction).get(address, subject) is not None


@pytest.fixture
async def processes(
    postgres_url: str, postgres_server: PostgresServer, postgres_database: str
) -> AsyncIterator[TwoProcesses]:
    both = TwoProcesses(postgres_url, postgres_server, postgres_database)
    yield both
    await both.one.close()
    await both.two.close()


def _end(transaction: Transaction, name: RepositoryName) -> PauseRecord:
    known = Pauses(transaction).of(name, NOW)
    return end_pause(transaction, known[0], PauseEnd(after(5)), after(5))


async def test_a_person_who_starts_watching_as_the_last_pause_ends_is_notified(
    processes: TwoProcesses,
) -> None:
    with begin(processes.one) as transaction:
        act = GroupAct("release", Action.PAUSE, NOW, ALICE, Origin.COMMAND, (SITE,))
        act_id = GroupActs(transaction).save(act)
    await processes.pause(SITE, group_act_id=act_id)

    with begin(processes.one) as transaction:
        ended = _end(transaction, SITE)
        click = asyncio.create_task(processes.resuming.watch(Group("release", ()), ALICE))
        await processes.until_it_waits(click)
    answer = await click

    is_reported = await processes.reported(SubjectKind.RESUMED, ended.end_number, ALICE.user_id)
    assert answer is WatchOutcome.NOT_PAUSED or is_reported


async def test_subscriptions_of_two_people_at_once_both_count(processes: TwoProcesses) -> None:
    before = make_subscription("merge", channel_id=CHANNEL)
    managing = ChannelSettings(processes.acts, next_digest, rename_channel)
    options = SubscriptionOptions(topics=frozenset({"failure"}))
    caller = Caller(ALICE, Origin.COMMAND, CHANNEL)

    with begin(processes.one) as transaction:
        Subscriptions(transaction).lock(CHANNEL)
        Subscriptions(transaction).of_channel(CHANNEL)
        second = asyncio.create_task(managing.subscribe(caller, [SITE], options))
        await processes.until_it_waits(second)
        Subscriptions(transaction).save(before)
    await second

    with begin(processes.one) as transaction:
        (heard,) = Subscriptions(transaction).of_channel(CHANNEL)
    assert {"merge", "failure"} <= set(heard.topics)


async def test_an_extension_and_a_notification_of_the_same_pause_do_not_deadlock(
    processes: TwoProcesses,
) -> None:
    await processes.pause(SITE)
    with begin(processes.one) as transaction:
        Subscriptions(transaction).save(make_subscription("pause", channel_id=CHANNEL))
    pausing = PauseQueue(processes.service, processes.acts)
    caller = Caller(ALICE, Origin.BUTTON)

    with begin(processes.one) as transaction:
        Pauses(transaction).of(SITE, NOW)
        extension = asyncio.create_task(pausing.extend(caller, SITE, HOUR))
        await processes.until_it_waits(extension)
        enqueue_urgent(
            transaction, Subject(SubjectKind.EVENT, SITE, 1), [CHANNEL], NOW, identity="1"
        )

    assert isinstance(await extension, PauseChange)


async def test_choices_made_in_two_places_together_are_both_kept(processes: TwoProcesses) -> None:
    with begin(processes.one) as transaction:
        People(transaction).choose(ALICE.user_id, {Notice.MERGE: True})
        second = asyncio.create_task(
            processes.two.run(switch, ALICE.user_id, {Notice.MENTION: False})
        )
        await processes.until_it_waits(second)
    await second

    with begin(processes.one) as transaction:
        chosen = People(transaction).chosen([ALICE.user_id])
    assert chosen == {ALICE.user_id: {Notice.MERGE: True, Notice.MENTION: False}}


class _Awaited(Store):
    """Transactions that wait until released, and report that they wait."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.is_reached = asyncio.Event()
        self.is_let_go = asyncio.Event()

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
        (pause,) = Pauses(transaction).open([SITE])
        timed = replace(pause, timer=timer)
        Pauses(transaction).save(timed)
    processes.service.fail_next(MergeQueueUnavailable("down"))
    store = _Awaited(processes.two)
    by_timer = ExpirePauses(
        processes.resuming,
        GroupWork(replace(processes.acts, store=store)),
        due_lease("two"),
        lambda: 0.5,
    )

    resume_task = asyncio.create_task(by_timer.resume(timed))
    await store.is_reached.wait()
    with begin(processes.one) as transaction:
        before = Pauses(transaction).locked(timed)
        store.is_let_go.set()
        await processes.until_it_waits(resume_task)
        extended = replace(timed, timer=replace(timer, resumes_at=after(3600), due_at=after(3600)))
        Pauses(transaction).save(extended)
    outcome = await resume_task

    assert before == timed
    assert isinstance(outcome, NotYetResumed)
    assert isinstance(outcome.error, MergeQueueUnavailable)
    with begin(processes.one) as transaction:
        assert Pauses(transaction).open([SITE]) == [extended]


async def test_a_first_post_can_finish_while_a_change_to_it_is_routed(
    processes: TwoProcesses,
) -> None:
    with begin(processes.one) as transaction:
        Subscriptions(transaction).save(
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
        LiveMessages(transaction).posted(first.subject.subject_id, "1.1", 1)
        routing = asyncio.create_task(processes.two.run(_route, checks, paused))
        await processes.until_it_waits(routing)
        Outbox(transaction).record([delivered(first, "1.1", after(3))])
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
        act = replace(act, group_act_id=GroupActs(transaction).save(act))
        enqueue_urgent(transaction, event_subject(99), [CHANNEL], NOW, identity="1")
    part = replace(
        make_record(result=ActResult.STARTED),
        action=Action.RESUME,
        group=PartOfGroup(act.group, act.group_act_id),
        previous=Previous(paused_at=NOW),
    )
    with begin(processes.one) as transaction:
        Audit(transaction).add(part)

    def log_shows(transaction: Transaction) -> None:
        event = make_event(received_at=after(1), type_="queue.pause.delete")
        ours = replace(event, details=EventDetails(is_ours=True))
        running = PauseReading(None, after(3), StatusSays.RUNNING)
        route_pause_event(transaction, ours, EventContext(after(3), running), ())

    with begin(processes.one) as transaction:
        Pauses(transaction).of(SITE, NOW)
        routing = asyncio.create_task(processes.two.run(log_shows))
        await processes.until_it_waits(routing)
        enqueue_urgent(transaction, event_subject(1), [CHANNEL], NOW, identity="1")
    await routing

    with begin(processes.one) as transaction:
        (card,) = LiveMessages(transaction).of(shown_group(act))
    assert await processes.reported(SubjectKind.LIVE_MESSAGE, card.message_id, CHANNEL)


async def test_first_posts_are_summarized_while_a_change_to_one_is_routed(
    processes: TwoProcesses,
) -> None:
    names = [
        LiveSubject(LiveKind.ENTRY, SITE, f"{number}-1") for number in range(SUMMARIZE_OVER + 1)
    ]
    with begin(processes.one) as transaction:
        cards = [LiveMessages(transaction).add(name, "C1", now=NOW) for name in names]
        Outbox(transaction).add(
            [
                NewDelivery(f"d{card}", "C1", Subject(SubjectKind.LIVE_MESSAGE, SITE, card), NOW)
                for card in cards
                if card is not None
            ]
        )
    posts = PostDeliveries(
        processes.two, RecordingPoster(), processes.clock, _no_wake, "two", lambda: 0.5, RENDERERS
    )

    with begin(processes.one) as transaction:
        LiveMessages(transaction).mark(names[-1], due_at=NOW)
        posting = asyncio.create_task(posts.run())
        await processes.until_it_waits(posting)
        Outbox(transaction).add([make_new(1)])
    await posting

    with begin(processes.one) as transaction:
        found = LiveMessages(transaction).get([card for card in cards if card is not None])
    assert [message.is_lost for message in found.values()] == [True] * len(names)


async def test_a_reminder_snoozed_as_it_comes_due_stays_snoozed(processes: TwoProcesses) -> None:
    await processes.pause(SITE)
    with begin(processes.one) as transaction:
        (pause,) = Pauses(transaction).open([SITE])
        due = ReminderPlan(NOW, sent=1)
        Pauses(transaction).save(replace(pause, reminders=due))
        Subscriptions(transaction).save(make_subscription("pause", channel_id=CHANNEL))
    configured = make_configured(policy=Policy([PauseRules(first_reminder=timedelta(minutes=30))]))
    check = CheckPermission(FakePeople(), configured)
    reminding = RemindOfPauses(processes.service, replace(processes.acts, check=check))
    put_off = replace(pause, reminders=replace(due, next_at=after(3600)))

    with begin(processes.one) as transaction:
        Pauses(transaction).locked(pause)
        reminder = asyncio.create_task(reminding.run(due_lease("two")))
        await processes.until_it_waits(reminder)
        Pauses(transaction).save(put_off)
    await reminder

    with begin(processes.one) as transaction:
        assert not LiveMessages(transaction).of(shown_reminder(pause))
        assert Pauses(transaction).open([SITE]) == [put_off]


async def test_a_reminder_is_posted_while_somebody_changes_the_end_of_its_pause(
    processes: TwoProcesses,
) -> None:
    await processes.pause(SITE)
    timer = Timer(after(60), after(60), Actor("U1", "bob"), "freeze")
    with begin(processes.one) as transaction:
        (pause,) = Pauses(transaction).open([SITE])
        sent = ReminderPlan(NOW, sent=1)
        pause = replace(pause, timer=timer, reminders=replace(sent, sent=2))
        Pauses(transaction).save(pause)
        enqueue_urgent(
            transaction,
            Subject(SubjectKind.REMINDER, SITE, pause.pause_id),
            [CHANNEL],
            NOW,
            identity="1",
        )
    poster = RecordingPoster()
    posts = PostDeliveries(
        processes.two, poster, processes.clock, _no_wake, "two", lambda: 0.5, RENDERERS
    )

    with begin(processes.one) as transaction:
        Pauses(transaction).locked(pause)
        Pauses(transaction).save(pause)
        posting = asyncio.create_task(posts.run())
        await processes.until_it_waits(posting)
        enqueue_urgent(transaction, event_subject(1), [CHANNEL], NOW, identity="1")
    await posting

    assert await processes.reported(SubjectKind.EVENT, 1, CHANNEL)
    (posted,) = poster.history
    assert "still paused" in posted.message.text


@pytest.mark.parametrize("is_posted_first", [True, False])
async def test_a_verdict_that_comes_while_an_equal_one_is_posted_is_counted(
    processes: TwoProcesses, *, is_posted_first: bool
) -> None:
    """Whichever transaction has the channel's queue first, the message will be edited."""
    with begin(processes.one) as transaction:
        feed = make_subscription("failure", channel_id="C1")
        Subscriptions(transaction).save(replace(feed, style=Style.FEED))
    await processes.one.run(_route, _conflict(1))
    (first,) = await processes.one.run(claim, after(3))
    outcome = SendResult(delivered(first, "1.1", after(3)))

    with begin(processes.one) as transaction:
        if is_posted_first:
            record_outcome(transaction, outcome, after(3), RENDERERS.when_posted)
            other = asyncio.create_task(processes.two.run(_route, _conflict(2)))
        else:
            _route(transaction, _conflict(2))
            other = asyncio.create_task(
                processes.two.run(record_outcome, outcome, after(3), RENDERERS.when_posted)
            )
        await processes.until_it_waits(other)
        assert not other.done()
    await other

    with begin(processes.one) as transaction:
        (live,) = LiveMessages(transaction).of(repeated(SITE, 1, MessageForm.POST))
    assert live.message_ts == "1.1"
    assert live.wanted > live.shown
    assert await processes.one.run(claim, after(4)) == []


def _conflict(event_id: int) -> EventRecord:
    left = make_event(event_id, received_at=after(event_id), type_="action.queue.leave")
    details = EventDetails(code="CONFLICT_WITH_BASE_BRANCH", merged=False)
    return replace(left, pull_request=7, details=details)


def _first_post(claimed: Sequence[Delivery]) -> Delivery:
    return next(
        delivery for delivery in claimed if delivery.subject.kind is SubjectKind.LIVE_MESSAGE
    )


def _route(transaction: Transaction, *events: EventRecord) -> None:
    Events(transaction).add_new(events)
    pause = Pause(reason="CI is down", paused_at=after(2))
    read = ReadAfter(PauseReading(pause, after(3)), Revisions(transaction).of(SITE))
    route_events(transaction, SITE, RoutingContext(next_digest, after(3), read))
